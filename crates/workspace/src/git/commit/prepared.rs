//! A git commit about to be made.

use std::collections::BTreeSet;

use crate::git::error::GitResult;
use crate::git::folder::GitFolder;
use crate::git::identity::Identity;
use crate::git::marks::{Marks, changed};

/// A commit about to be made: what the person had not committed is known from before anything reached the folder.
#[derive(Debug)]
pub struct GitCommit {
    pub(super) folder: GitFolder,
    pub(super) identity: Identity,
    /// Files of the repository with changes that are not committed, staged or not.
    pub(super) dirty: BTreeSet<Vec<u8>>,
    /// Those that git was told to overlook.
    pub(super) overlooked: Marks,
}

impl GitCommit {
    /// Looks at the repository before anything reaches the folder. Fails where no commit could be made.
    pub fn prepare(folder: GitFolder) -> GitResult<Self> {
        folder.check_at_rest()?;
        let identity = Identity::of(&folder.git)?;
        let dirty = changed(&folder.git)?;
        let overlooked = Marks::overlooked(&folder.git)?.changed(&folder)?;
        Ok(Self { folder, identity, dirty, overlooked })
    }

    /// Whether the folder has changes that git has not committed, new files included.
    pub fn is_uncommitted(&self) -> GitResult<bool> {
        // Git looks at no more of submodules than where they are.
        let arguments = ["status", "--porcelain=v1", "-z", "--ignore-submodules=dirty"];
        let listed = self.folder.git.output(&arguments)?;
        Ok(!listed.is_empty())
    }

    /// Whether the person has changes in a file that are not committed.
    pub(super) fn is_changed(&self, path: &[u8]) -> bool {
        self.dirty.contains(path) || self.overlooked.contains(path)
    }
}
