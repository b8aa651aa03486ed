//! Words about approvals.

use crate::word::words;

words! {
    /// How far an approval came.
    pub enum ApprovalState {
        /// It waits for a person to decide.
        Pending = "pending",
        /// A person approved of it, and its command has not started yet.
        Granted = "granted",
        /// Its command runs.
        Running = "running",
        /// It was approved, and what it asked for was done.
        Approved = "approved",
        /// A person denied it.
        Denied = "denied",
        /// Nobody decided in time.
        Expired = "expired",
        /// Its workspace was deleted, or its command ended without an answer.
        Gone = "gone",
    }
}

impl ApprovalState {
    /// Whether somebody can still decide about it.
    pub const fn is_pending(self) -> bool {
        matches!(self, Self::Pending)
    }

    /// Whether nothing more comes of it.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Pending | Self::Granted | Self::Running => false,
            Self::Approved | Self::Denied | Self::Expired | Self::Gone => true,
        }
    }
}

words! {
    /// What an approval holds for.
    pub enum ApprovalScope, default Once {
        /// This one command, once.
        Once = "once",
        /// The same command of the same session, until the approval would have expired.
        Session = "session",
        /// The same command from now on, by a rule in the user's policy.
        Always = "always",
    }
}

words! {
    /// What becomes of an approval that nobody decides in time.
    pub enum ApprovalFallback, default Deny {
        /// It is denied.
        Deny = "deny",
        /// What was tried is approved if nothing conflicts with it. What was not tried is denied.
        Approve = "approve",
    }
}
