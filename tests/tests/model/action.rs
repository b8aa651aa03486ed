//! What can be done to a vault.

/// A point in history, in the model's own numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    Head,
    Workspace(usize),
    Base(usize),
    Checkpoint { workspace: usize, name: String },
    Snapshot(usize),
}

/// Whose operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Vault,
    Workspace(usize),
}

/// A change to the files of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    Write { path: String, bytes: Vec<u8>, parents: bool },
    Mkdir { path: String, parents: bool },
    Move { from: String, to: String },
    Copy { from: String, to: String, recursive: bool },
    Remove { paths: Vec<String>, recursive: bool },
    Revert { paths: Vec<String>, at: Point },
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Fork {
        name: String,
        from: Point,
    },
    Edit {
        workspace: usize,
        edit: Edit,
    },
    Checkpoint {
        workspace: usize,
        name: String,
    },
    Restore {
        workspace: usize,
        to: Point,
    },
    DeleteCheckpoint {
        workspace: usize,
        name: String,
    },
    Rename {
        workspace: usize,
        name: String,
    },
    Delete {
        workspace: usize,
    },
    Discard {
        workspace: usize,
        keep: bool,
    },
    Undo(Scope),
    Redo(Scope),
    RestoreOperation {
        operation: usize,
        scope: Scope,
    },
    /// The bound folder, which has been changed meanwhile.
    Import,
}

impl Action {
    /// As a person reads it in a failure.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Edit { workspace, edit: Edit::Write { path, bytes, parents } } => {
                let length = bytes.len();
                format!("write {length} bytes to {path} in {workspace}, parents: {parents}")
            }
            other => format!("{other:?}"),
        }
    }
}
