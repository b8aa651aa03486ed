//! What the exit codes of `offshoot` mean.

use crate::word::words;

words! {
    /// The exit codes of `offshoot`, by the words that error documents have for them. They never change their meaning.
    pub enum ExitCode {
        /// It worked.
        Success = "success",
        /// Something failed that has no code of its own; also `diff --exit-code` when there are differences.
        Failure = "failure",
        /// The command line or the configuration is wrong.
        Usage = "usage",
        /// Something that was named is not there.
        NotFound = "not_found",
        /// The state does not allow it: a name is taken, a prefix is ambiguous, something changed meanwhile; also `merge` with conflicts.
        Conflict = "conflict",
        /// Stored data is damaged.
        Damaged = "damaged",
        /// The disk is full, read-only, or fails.
        Storage = "storage",
        /// The vault was written by a newer version.
        NewerFormat = "newer_format",
        /// Another process kept the vault busy for too long.
        Busy = "busy",
        /// It was called inside of a workspace, where vaults cannot be seen.
        Inside = "inside",
        /// `exec`: policy denied the command; nothing ran.
        Denied = "denied",
        /// `exec`: the command waits for a person's approval; nothing ran.
        PendingApproval = "pending_approval",
        /// `exec`: the command's time was over before it was.
        Timeout = "timeout",
        /// `exec`: Offshoot itself failed; the envelope says how.
        ExecFailed = "exec_failed",
        /// `exec`: the command was found and could not be executed.
        NotExecutable = "not_executable",
        /// `exec`: the command was not found.
        CommandNotFound = "command_not_found",
        /// SIGINT, as Ctrl-C sends it, ended `offshoot`.
        Interrupted = "interrupted",
        /// SIGTERM ended `offshoot`.
        Terminated = "terminated",
    }
}

impl ExitCode {
    /// The number.
    pub const fn number(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Conflict => 4,
            Self::Damaged => 5,
            Self::Storage => 6,
            Self::NewerFormat => 7,
            Self::Busy => 8,
            Self::Inside => 9,
            Self::Denied => 122,
            Self::PendingApproval => 123,
            Self::Timeout => 124,
            Self::ExecFailed => 125,
            Self::NotExecutable => 126,
            Self::CommandNotFound => 127,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// Whether what was asked for was done.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Success)
    }
}
