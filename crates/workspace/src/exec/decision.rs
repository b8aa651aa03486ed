//! What is decided about a request before anything is touched.

use super::request::ExecutionRequest;

/// Whether a command may run, and under which condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionDecision {
    /// It runs.
    Allow,
    /// It runs after a checkpoint.
    AllowWithCheckpoint,
}

impl ExecutionDecision {
    /// Decides: what cannot change anything runs as it is, all else after a checkpoint.
    pub fn of(request: &ExecutionRequest) -> Self {
        if request.read_only { Self::Allow } else { Self::AllowWithCheckpoint }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::AllowWithCheckpoint => "allow_with_checkpoint",
        }
    }

    /// Why it was decided so.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Allow => "the workspace is mounted read-only",
            Self::AllowWithCheckpoint => "the command may change files",
        }
    }
}
