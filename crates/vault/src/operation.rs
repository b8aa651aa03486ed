//! Entries of the operation log.

use offshoot_store::{Id, OperationRow, RefChange};

use crate::actor::Actor;
use crate::error::Result;
use crate::refs::from_json;

/// The kind of an operation that took a workspace's changes to the main line, and the reason of the snapshot that it made there: its
/// parents are the main line and what the workspace brought.
pub const COMMIT: &str = "commit";
/// The kind of an operation that takes another back. The snapshot of the main line that takes a commit back has it as its reason, and
/// the commit's snapshot as its last parent.
pub const UNDO: &str = "undo";
/// The kind of an operation that brings back one that was undone; its snapshot of the main line is like that of [`UNDO`].
pub const REDO: &str = "redo";
/// The kind of an operation that took what is in the folders to the main line.
pub const CAPTURE: &str = "import";
/// The kind of the operation that made the vault; it cannot be undone.
pub const CREATE: &str = "vault create";
/// The kind of the event that tells of a vault's arrival from another machine. Bindings and approvals did not come along.
pub(crate) const ARRIVE: &str = "vault import";

/// One entry of the operation log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its place in the log.
    pub seq: i64,
    /// Its id.
    pub id: Id,
    /// When.
    pub time_ms: u64,
    /// Who.
    pub actor: Actor,
    /// What kind of operation.
    pub kind: String,
    /// The workspace it belongs to, if it is one's alone.
    pub workspace: Option<Id>,
    /// One line for people.
    pub summary: String,
    /// The operation it took back or brought back.
    pub reverts: Option<Id>,
    /// The refs it changed; none where it is only to be remembered, such as a command that changed nothing.
    pub changes: Vec<RefChange>,
}

impl Operation {
    pub(crate) fn from_row(row: OperationRow) -> Result<Self> {
        let OperationRow { seq, operation } = row;
        let what = format!("operation {}", operation.id);
        Ok(Self {
            seq,
            id: operation.id,
            time_ms: operation.time_ms,
            actor: from_json(&what, &operation.actor)?,
            kind: operation.kind,
            workspace: operation.scope.parse().ok(),
            summary: operation.summary,
            reverts: operation.reverts,
            changes: from_json(&what, &operation.changes)?,
        })
    }
}

/// The operation log as far as it is legible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationLog {
    /// The operations, newest first.
    pub operations: Vec<Operation>,
    /// What is wrong with the records of others.
    pub problems: Vec<String>,
}

/// Whose operations are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of one workspace.
    Workspace(Id),
    /// All of the vault.
    Vault,
}

impl Scope {
    pub(crate) fn key(self) -> Option<String> {
        match self {
            Self::Workspace(id) => Some(id.to_string()),
            Self::Vault => None,
        }
    }
}

/// What an undo or redo did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reverted {
    /// The operation that was taken back or brought back.
    pub target: Operation,
    /// The operation that did it.
    pub operation: Id,
}
