//! What an approval came to.

use offshoot_store::Id;
use offshoot_tree::diff::Change;
use offshoot_vault::{Approval, WorkspaceRecord};

use crate::git::GitReport;

/// A trial that became a workspace's state.
#[derive(Clone, Debug)]
pub struct AppliedTrial {
    /// The approval.
    pub approval: Approval,
    /// The workspace.
    pub workspace: WorkspaceRecord,
    /// What changed in it.
    pub changes: Vec<Change>,
    /// The workspace had moved, so that what was tried was merged with it.
    pub merged: bool,
    /// What became of repositories where it was merged: what of them was not taken, and why.
    pub git: GitReport,
    /// The checkpoint to come back to.
    pub checkpoint: Option<String>,
}

/// How a workspace has changed since something that was not tried was asked for in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedWorkspace {
    /// Where it stands now.
    pub head: Id,
    /// How many files are others.
    pub files: usize,
}

/// Whether a process waits for the decision.
pub fn is_awaited(approval: &Approval) -> bool {
    approval.waiter.as_ref().is_some_and(offshoot_vault::Waiter::is_there)
}
