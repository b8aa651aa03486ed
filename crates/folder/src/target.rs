//! Which folders to change, and how.

use std::path::PathBuf;

use offshoot_tree::VaultPath;

/// A folder to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyTarget {
    /// The host directory.
    pub directory: PathBuf,
    /// Where it is in the tree; the top for the first.
    pub at: VaultPath,
    /// Its device and inode, where they are known: another directory at its path is refused.
    pub identity: Option<(u64, u64)>,
}

/// How to change folders.
#[derive(Clone, Copy, Debug)]
pub struct ApplyOptions {
    /// Give files their recorded owners. Only root can; by default root does.
    pub owners: bool,
    /// What is new at such a path stays there also where everything else is taken back: somebody may have come to need it.
    pub stays: fn(&VaultPath) -> bool,
}

impl Default for ApplyOptions {
    fn default() -> Self {
        Self { owners: rustix::process::geteuid().is_root(), stays: |_| false }
    }
}
