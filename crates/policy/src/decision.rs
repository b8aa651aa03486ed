//! Whether a command may run.

use std::fmt;

/// Whether a command may run, and under which condition; the strictest is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It runs.
    Allow,
    /// It runs, and there is a checkpoint to come back to.
    AllowWithCheckpoint,
    /// It runs when a person says so.
    RequireApproval,
    /// It does not run.
    Deny,
}

impl Decision {
    /// All of them, the strictest last.
    pub const ALL: [Self; 4] =
        [Self::Allow, Self::AllowWithCheckpoint, Self::RequireApproval, Self::Deny];

    /// Its name in documents and rules.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::AllowWithCheckpoint => "allow_with_checkpoint",
            Self::RequireApproval => "require_approval",
            Self::Deny => "deny",
        }
    }

    /// The decision that a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.as_str() == word)
    }

    /// Whether the command runs now.
    pub const fn runs(self) -> bool {
        matches!(self, Self::Allow | Self::AllowWithCheckpoint)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
