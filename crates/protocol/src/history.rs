//! Documents about history.

use offshoot_vocabulary::{ExitCode, RevertVerb};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::ChangeDoc;
use crate::document::Kind;
use crate::git::RepositoryNoteDoc;
use crate::schema::{self, Schema};

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<LogDoc>,
    schema::of::<ShowDoc>,
    schema::of::<OperationDoc>,
    schema::of::<OperationLogDoc>,
    schema::of::<RevertDoc>,
    schema::of::<OperationRestoreDoc>,
];

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActorDoc {
    /// The user.
    pub user: String,
    /// The agent that acted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// A point in history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotDoc {
    /// Its id.
    pub id: String,
    /// The state of files: a hash over everything.
    pub root: String,
    /// A hash over names, kinds, executable bits and bytes alone.
    pub content: String,
    /// What it came from.
    pub parents: Vec<String>,
    /// When it was made.
    pub time: String,
    /// Who made it.
    pub actor: ActorDoc,
    /// Why it was made.
    pub reason: String,
    /// What its maker said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The operation that made it.
    pub operation: String,
}

/// A snapshot of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogEntryDoc {
    /// The snapshot.
    pub snapshot: SnapshotDoc,
    /// What points at it.
    pub names: Vec<String>,
}

/// A history, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogDoc {
    /// Whose history.
    pub of: String,
    /// The snapshots.
    pub snapshots: Vec<LogEntryDoc>,
}

impl Kind for LogDoc {
    const KIND: &'static str = "log";
}

/// A snapshot in detail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShowDoc {
    /// What was asked for.
    pub of: String,
    /// The snapshot.
    pub snapshot: SnapshotDoc,
    /// What it changed against its first parent.
    pub changes: Vec<ChangeDoc>,
    /// Paths left out because only their metadata changed.
    pub metadata_only: u64,
}

impl Kind for ShowDoc {
    const KIND: &'static str = "show";
}

/// An entry of the operation log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationDoc {
    /// Its id.
    pub id: String,
    /// When.
    pub time: String,
    /// Who.
    pub actor: ActorDoc,
    /// What kind of operation.
    pub kind: String,
    /// What it did.
    pub summary: String,
    /// The workspace it belongs to: its name, or its id if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The operation it took back or brought back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverts: Option<String>,
    /// The refs it changed.
    pub refs: Vec<String>,
}

impl Kind for OperationDoc {
    const KIND: &'static str = "operation";
}

/// The operation log, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationLogDoc {
    /// The operations.
    pub operations: Vec<OperationDoc>,
    /// Records that are damaged and left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl Kind for OperationLogDoc {
    const KIND: &'static str = "op.log";

    fn exit_code(&self) -> ExitCode {
        if self.problems.is_empty() { ExitCode::Success } else { ExitCode::Damaged }
    }
}

/// An undo or a redo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevertDoc {
    /// Which way it went.
    pub verb: RevertVerb,
    /// What was taken back or brought back.
    pub target: OperationDoc,
    /// The operation that did it.
    pub operation: String,
    /// What became of repositories in the folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<RepositoryNoteDoc>,
}

impl Kind for RevertDoc {
    const KIND: &'static str = "revert";
}

/// Going back to an earlier operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationRestoreDoc {
    /// The operation.
    pub to: OperationDoc,
    /// The operation that did it; none where nothing had to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

impl Kind for OperationRestoreDoc {
    const KIND: &'static str = "op.restore";
}
