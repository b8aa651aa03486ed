//! What differs at one path.

use std::sync::Arc;

use crate::entry::{Entry, EntryKind};
use crate::path::VaultPath;

/// How to look at differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffOptions {
    /// Find files that were moved.
    pub renames: bool,
    /// How alike, in percent, a moved file must have stayed.
    pub rename_similarity: u8,
    /// Lines around each change.
    pub context: u32,
    /// Files longer than this are not compared line by line.
    pub max_text_bytes: u64,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self { renames: true, rename_similarity: 50, context: 3, max_text_bytes: 16 << 20 }
    }
}

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its bytes, its target or its kind changed.
    Modified,
    /// It is gone.
    Deleted,
    /// It was moved here, perhaps with changes.
    Renamed,
    /// Its permission bits changed and its content did not.
    Mode,
    /// Only its times, owners, attributes or links changed.
    Metadata,
}

impl ChangeKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
            Self::Mode => "mode",
            Self::Metadata => "metadata",
        }
    }
}

/// A path that differs. At least one side is there, and they are not equal. Copies share the entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where it is, or was.
    pub path: VaultPath,
    /// What was there; for a moved file what was at its old path.
    pub before: Option<Arc<Entry>>,
    /// What is there.
    pub after: Option<Arc<Entry>>,
    /// Where a moved file was, and how alike it stayed, in percent.
    pub moved: Option<(VaultPath, u8)>,
}

impl Change {
    /// What happened.
    pub fn kind(&self) -> ChangeKind {
        match (&self.before, &self.after) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            _ if self.moved.is_some() => ChangeKind::Renamed,
            (Some(before), Some(after)) => {
                let both_directories = after.kind() == EntryKind::Directory;
                if before.kind() != after.kind()
                    || (!both_directories && before.content_hash() != after.content_hash())
                {
                    ChangeKind::Modified
                } else if before.meta.mode != after.meta.mode {
                    ChangeKind::Mode
                } else {
                    ChangeKind::Metadata
                }
            }
        }
    }

    /// The entry that is there, or else the one that was.
    pub fn entry(&self) -> &Entry {
        let entry = self.after.as_ref().or(self.before.as_ref());
        entry.expect("a change has at least one side")
    }
}
