//! Why the two differ, where they do.

use crate::git_repo::Verdict;
use crate::merging::{Compared, Difference, Shown};
use crate::scenario::Kind;

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
pub(crate) fn reason(kind: Kind, difference: &Difference) -> Option<&'static str> {
    let is_crossed = matches!(kind, Kind::Crossed | Kind::CrossedDecided);
    let is_absent = |shown: Shown| shown == Shown::Nothing;
    let (ours, git) = (difference.our_file, difference.git_file);
    let names_both = difference.git.iter().any(|told| told.contains("rename/rename"));
    if names_both && is_absent(ours) && is_absent(git) {
        return Some("a file moved to two places: git also names the path that it had before");
    }
    if kind == Kind::MovedDirectory && is_absent(ours) != is_absent(git) {
        return Some(
            "added in a new directory below one that was moved: it follows here, and stays behind for git",
        );
    }
    if is_crossed && difference.ours.is_empty() && ours == Shown::Newest {
        return Some(
            "the bases clash and the sides decided alike; here what they did later fits, and gives the newer version's file",
        );
    }
    None
}
