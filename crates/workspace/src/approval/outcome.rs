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

/// How the place of something that was not tried has changed since it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedWorkspace {
    /// The state that it would start from now.
    pub head: Id,
    /// How many files are others.
    pub files: usize,
    /// What changed.
    pub place: MovedPlace,
}

/// What a command starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedPlace {
    /// The workspace that it was asked for in.
    Workspace,
    /// A workspace that was not there when it was asked for.
    Made,
    /// What a workspace will be made from for it: the main line, or what was named.
    Origin,
}

impl MovedWorkspace {
    /// What changed, for people.
    pub fn told(&self) -> String {
        let Self { files, place, .. } = *self;
        let what = match place {
            MovedPlace::Workspace => "the workspace has changed",
            MovedPlace::Made => "the workspace was made by somebody",
            MovedPlace::Origin => "what its workspace will be made from has changed",
        };
        let files = match (files, place) {
            (0, MovedPlace::Made) => " (the files are the same)".to_owned(),
            (0, _) => String::new(),
            (1, _) => " (1 file)".to_owned(),
            (files, _) => format!(" ({files} files)"),
        };
        format!("{what} since this was asked for{files}")
    }
}

/// Whether a process waits for the decision.
pub fn is_awaited(approval: &Approval) -> bool {
    approval.waiter.as_ref().is_some_and(offshoot_vault::Waiter::is_there)
}
