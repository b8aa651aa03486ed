//! What a merge gives.

use crate::hash::RootId;
use crate::merge::conflict::Conflict;
use crate::path::VaultPath;

/// A file that was followed to another path, or something that followed a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rename {
    /// The side that moved it, or that added what followed a directory.
    pub side: usize,
    /// Where it was.
    pub from: VaultPath,
    /// Where it is.
    pub to: VaultPath,
    /// How alike it stayed, in percent; nothing where it followed a directory.
    pub similarity: Option<u8>,
}

/// How much there was to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeStatistics {
    /// How many paths each side changed.
    pub changes: Vec<usize>,
    /// How many files were put together from the lines of several sides.
    pub texts: usize,
}

/// A merged state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The state. Where there are conflicts it is complete all the same, by the rules of `docs/design/merge.md`.
    pub root: RootId,
    /// What somebody has to decide, by path; empty where all fits.
    pub conflicts: Vec<Conflict>,
    /// What was moved and mattered.
    pub renames: Vec<Rename>,
    /// How much there was to do.
    pub statistics: MergeStatistics,
}
