//! What reached the folder, and what a git commit says of it.

use offshoot_store::Id;
use offshoot_tree::diff::Change;
use offshoot_tree::{RootId, VaultPath};

use crate::git::merge::GitReport;

/// What of a vault came into a folder.
#[derive(Clone, Copy, Debug)]
pub struct CommittedChanges<'a> {
    /// The folder's place in the vault's tree.
    pub at: &'a VaultPath,
    /// What changed in the folder.
    pub changes: &'a [Change],
    /// What the folder was.
    pub before: RootId,
    /// What the workspace offered.
    pub offered: RootId,
    /// What the workspace has, whether or not it reaches the folder.
    pub workspace: RootId,
    /// What the folder is now.
    pub after: RootId,
    /// What became of its repository.
    pub git: &'a GitReport,
}

/// What the commit says.
#[derive(Clone, Copy, Debug)]
pub struct GitCommitMessage<'a> {
    /// The message.
    pub message: &'a str,
    /// The workspace that it came from.
    pub workspace: &'a str,
    /// The commands whose work it is.
    pub execs: &'a [Id],
}
