//! Whose rules they are.

use std::fmt;

/// Whose rules they are, from the widest to the narrowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// What is always there.
    BuiltIn,
    /// The user's own: they may widen and narrow.
    User,
    /// Those of the project: they only narrow.
    Project,
    /// Those that came with the request: they only narrow.
    Request,
}

impl Layer {
    /// Its name in documents and rules.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built_in",
            Self::User => "user",
            Self::Project => "project",
            Self::Request => "request",
        }
    }

    /// Whether its rules may allow what would not have run.
    pub const fn widens(self) -> bool {
        matches!(self, Self::User)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
