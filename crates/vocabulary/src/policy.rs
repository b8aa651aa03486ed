//! Words about what policy says.

use crate::exec::ExecState;
use crate::exit_code::ExitCode;
use crate::word::words;

words! {
    /// Whether a command may run, and under which condition; the strictest is the last.
    pub enum PolicyDecision {
        /// It runs.
        Allow = "allow",
        /// It runs, and there is a checkpoint to come back to.
        AllowWithCheckpoint = "allow_with_checkpoint",
        /// It runs when a person says so.
        RequireApproval = "require_approval",
        /// It does not run.
        Deny = "deny",
    }
}

impl PolicyDecision {
    /// The state in which a command ends that it keeps from running; none where the command runs.
    pub const fn refusal(self) -> Option<ExecState> {
        match self {
            Self::Allow | Self::AllowWithCheckpoint => None,
            Self::RequireApproval => Some(ExecState::PendingApproval),
            Self::Deny => Some(ExecState::Denied),
        }
    }

    /// Whether the command runs now.
    pub const fn runs(self) -> bool {
        self.refusal().is_none()
    }

    /// Whether there is a checkpoint to come back to.
    pub const fn takes_checkpoint(self) -> bool {
        match self {
            Self::AllowWithCheckpoint => true,
            Self::Allow | Self::RequireApproval | Self::Deny => false,
        }
    }

    /// The exit code that stands for it.
    pub fn exit_code(self) -> ExitCode {
        self.refusal().and_then(ExecState::refusal_code).unwrap_or(ExitCode::Success)
    }
}

words! {
    /// A kind of effect, from the most harmless to the worst.
    pub enum EffectCategory {
        /// It changes nothing and stays inside.
        ReadOnly = "read_only",
        /// It wants a person at a terminal.
        Interactive = "interactive",
        /// It changes files, or nobody can say that it does not.
        Mutating = "mutating",
        /// It reaches for the network.
        Networked = "networked",
        /// It deletes or overwrites what it did not make.
        Destructive = "destructive",
        /// It reaches beyond the workspace: more rights, the host, credentials, or code that nobody can see beforehand.
        HostEscapeRisk = "host_escape_risk",
    }
}

words! {
    /// Whose rules they are, from the widest to the narrowest.
    pub enum PolicyLayer {
        /// What is always there.
        BuiltIn = "built_in",
        /// Your own rules.
        User = "user",
        /// The project's rules.
        Project = "project",
        /// Rules of one request.
        Request = "request",
    }
}

impl PolicyLayer {
    /// Whether its rules may allow what would not have run. All others only narrow.
    pub const fn widens(self) -> bool {
        matches!(self, Self::User)
    }
}

words! {
    /// What part of a command line was judged.
    pub enum CommandPart, default Program {
        /// A program with its arguments.
        Program = "program",
        /// A redirection.
        Redirection = "redirection",
        /// A variable that is set.
        Assignment = "assignment",
        /// Something that could not be understood.
        Unclear = "unclear",
    }
}

words! {
    /// What is done to a path.
    pub enum PathAccess {
        /// It is read.
        Read = "read",
        /// It is made or changed.
        Write = "write",
        /// It goes.
        Delete = "delete",
    }
}

words! {
    /// What a file of rules is written in.
    pub enum PolicyLanguage {
        /// Rules.
        Toml = "toml",
        /// A Rego module.
        Rego = "rego",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_a_success_and_the_rest_is_refused_with_a_code_of_its_own() {
        for decision in PolicyDecision::ALL {
            assert_eq!(decision.runs(), decision.exit_code().is_success(), "{decision}");
            assert!(decision.refusal().is_none_or(ExecState::is_refusal), "{decision}");
            assert!(decision.runs() || !decision.takes_checkpoint(), "{decision}");
        }
        assert_eq!(PolicyDecision::RequireApproval.exit_code(), ExitCode::PendingApproval);
        assert_eq!(PolicyDecision::Deny.exit_code(), ExitCode::Denied);
    }

    /// Rules are laid over each other by this order.
    #[test]
    fn whatever_runs_is_less_strict_than_what_does_not() {
        assert!(PolicyDecision::ALL.is_sorted());
        let runs: Vec<bool> = PolicyDecision::ALL.iter().map(|decision| decision.runs()).collect();
        assert!(runs.is_sorted_by(|stricter, laxer| stricter >= laxer), "{runs:?}");
    }
}
