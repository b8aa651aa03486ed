//! Documents about commands that run, and about those that were interrupted.

use offshoot_vocabulary::ExecState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::ChangeDoc;
use crate::document::Kind;
use crate::history::{ActorDoc, SnapshotDoc};
use crate::schema::{self, Schema};
use crate::text::Text;
use crate::workspace::CheckpointDoc;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<RecoverListDoc>,
    schema::of::<RecoverShowDoc>,
    schema::of::<RecoverKeptDoc>,
    schema::of::<RecoverDroppedDoc>,
    schema::of::<RunningListDoc>,
    schema::of::<KilledDoc>,
];

/// What an interrupted command left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecoverableDoc {
    /// The command's id.
    pub exec: String,
    /// The workspace that it ran in.
    pub workspace: String,
    /// Whether that workspace is still there.
    pub workspace_exists: bool,
    /// The snapshot that it started from.
    pub snapshot: String,
    /// What was run.
    pub command: String,
    /// When it started.
    pub started: String,
    /// Files, links and deletions that it wrote; missing where it worked on a copy, which tells only when compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// Directories that it made or changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directories: Option<u64>,
    /// Bytes of the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The machine was started anew since: what was not on disk by then is missing, so files may be incomplete.
    pub power_cut: bool,
    /// All of it was durable already, and only the history does not know of it.
    pub sealed: bool,
    /// Who ran it.
    pub actor: ActorDoc,
}

/// What interrupted commands left, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecoverListDoc {
    /// One for each command.
    pub recoverable: Vec<RecoverableDoc>,
}

impl Kind for RecoverListDoc {
    const KIND: &'static str = "recover.list";
}

/// What one interrupted command left, in detail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecoverShowDoc {
    /// What it is.
    #[serde(flatten)]
    pub found: RecoverableDoc,
    /// What differs from the snapshot that the command started from.
    pub changed_files: Vec<ChangeDoc>,
    /// What would not be kept, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<String>,
    /// What the command had printed, as far as it was kept.
    pub stdout: Text,
    /// What it had printed on its standard error.
    pub stderr: Text,
}

impl Kind for RecoverShowDoc {
    const KIND: &'static str = "recover.show";
}

/// What was kept of an interrupted command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecoverKeptDoc {
    /// The command's id.
    pub exec: String,
    /// The workspace that has it.
    pub workspace: String,
    /// The workspace was made for it, because the one that the command ran in is gone.
    pub forked: bool,
    /// The checkpoint to restore; missing where a workspace was made, or nothing differed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointDoc>,
    /// The state that was kept; missing where nothing differed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotDoc>,
    /// What differs from the snapshot that the command started from.
    pub changed_files: Vec<ChangeDoc>,
    /// The machine was started anew before it was kept: files may be incomplete.
    pub power_cut: bool,
    /// The operation that recorded it, for undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

impl Kind for RecoverKeptDoc {
    const KIND: &'static str = "recover.keep";
}

/// What was thrown away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecoverDroppedDoc {
    /// The commands whose work it was.
    pub execs: Vec<String>,
}

impl Kind for RecoverDroppedDoc {
    const KIND: &'static str = "recover.drop";
}

/// A command that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunningDoc {
    /// Its id.
    pub exec: String,
    /// The vault.
    pub vault: String,
    /// The workspace that it runs in.
    pub workspace: String,
    /// The process of `offshoot` that runs it.
    pub pid: u32,
    /// The first process inside, as the host counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init_pid: Option<u32>,
    /// When it started.
    pub started: String,
    /// For how long it has been running.
    pub running_ms: u64,
    /// What is run.
    pub command: String,
    /// The preset that it runs by: it is a coding agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// It may change nothing.
    pub readonly: bool,
    /// The running command that it joined: what it changes is recorded with that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<String>,
    /// Who runs it.
    pub actor: ActorDoc,
}

/// The commands that run, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunningListDoc {
    /// One for each.
    pub running: Vec<RunningDoc>,
}

impl Kind for RunningListDoc {
    const KIND: &'static str = "ps";
}

/// A command that was ended, or sent a signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KilledDoc {
    /// Its id.
    pub exec: String,
    /// The signal that it was sent.
    pub signal: String,
    /// It is over, and what it did is recorded.
    pub ended: bool,
    /// How far it came, once it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ExecState>,
    /// How many paths it had changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
}

impl Kind for KilledDoc {
    const KIND: &'static str = "kill";
}
