//! Why the two differ, where they do.

use crate::git_repo::Verdict;
use crate::merging::{Compared, Difference};

/// How a merge compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Standing {
    /// Without conflict in both, and every byte equal.
    SameClean,
    /// The same conflicts, and everything else equal.
    SameConflicts,
    /// Only git has conflicts.
    Better,
    /// Anything else.
    Different,
}

impl Standing {
    pub(crate) const ALL: [Self; 4] =
        [Self::SameClean, Self::SameConflicts, Self::Better, Self::Different];

    pub(crate) fn of(compared: &Compared) -> Self {
        match compared.verdict {
            Verdict::EqualClean => Self::SameClean,
            Verdict::EqualConflicts => Self::SameConflicts,
            Verdict::OnlyGitConflicts => Self::Better,
            _ => Self::Different,
        }
    }

    /// The word for it in tables.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::SameClean => "same, clean",
            Self::SameConflicts => "same conflicts",
            Self::Better => "better",
            Self::Different => "different",
        }
    }
}

/// Why a path came out differently, if that is known.
pub(crate) fn reason(difference: &Difference) -> Option<&'static str> {
    let _ = difference;
    None
}
