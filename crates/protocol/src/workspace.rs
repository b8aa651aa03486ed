//! Documents about workspaces and checkpoints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::ChangeDoc;
use crate::document::Kind;
use crate::history::SnapshotDoc;
use crate::schema::{self, Schema};

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<WorkspaceCreatedDoc>,
    schema::of::<WorkspaceListDoc>,
    schema::of::<WorkspaceShowDoc>,
    schema::of::<WorkspaceTreeDoc>,
    schema::of::<WorkspaceRenamedDoc>,
    schema::of::<WorkspaceDeletedDoc>,
    schema::of::<DiscardDoc>,
    schema::of::<CheckpointDoc>,
    schema::of::<CheckpointListDoc>,
    schema::of::<CheckpointShowDoc>,
    schema::of::<RestoreDoc>,
    schema::of::<CheckpointDeletedDoc>,
];

/// A workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceDoc {
    /// Its id, which stays when it is renamed.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its newest snapshot.
    pub head: String,
    /// The snapshot it was forked from.
    pub base: String,
    /// The workspace it was forked from: its name, or its id if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// When it was made.
    pub created: String,
    /// Whether it is cleaned up by itself.
    pub ephemeral: bool,
    /// When an ephemeral one is cleaned up, unless it is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// A workspace that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceCreatedDoc {
    /// The workspace.
    pub workspace: WorkspaceDoc,
    /// What it was forked from.
    pub from: String,
}

impl Kind for WorkspaceCreatedDoc {
    const KIND: &'static str = "workspace.create";
}

/// The workspaces of a vault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceListDoc {
    /// The vault.
    pub vault: String,
    /// The workspaces, oldest first.
    pub workspaces: Vec<ListedWorkspaceDoc>,
}

/// A workspace of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedWorkspaceDoc {
    /// The workspace.
    #[serde(flatten)]
    pub workspace: WorkspaceDoc,
    /// How many paths differ from its base.
    #[serde(default)]
    pub changed_paths: u64,
    /// How many changes `status` lists: a git directory is one, and so is a folder of build output.
    #[serde(default)]
    pub listed_changes: u64,
    /// How many changes a commit holds back.
    #[serde(default)]
    pub held_changes: u64,
    /// When something was last done with it.
    #[serde(default)]
    pub last_used: String,
    /// The command that ran in it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_command: Option<String>,
    /// Whether a command runs in it now.
    #[serde(default)]
    pub running: bool,
}

impl Kind for WorkspaceListDoc {
    const KIND: &'static str = "workspace.list";
}

/// How much a workspace holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageDoc {
    /// Bytes of all its files.
    pub total_bytes: u64,
    /// Bytes that its base does not have.
    pub own_bytes: u64,
    /// Bytes it shares with its base.
    pub shared_bytes: u64,
    /// How many entries it has.
    pub entries: u64,
}

/// A workspace in detail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceShowDoc {
    /// The workspace.
    pub workspace: WorkspaceDoc,
    /// Its newest snapshot.
    pub head: SnapshotDoc,
    /// How much it holds.
    pub usage: UsageDoc,
    /// How many paths differ from its base.
    pub changed_paths: u64,
    /// How many changes `status` lists: a git directory is one, and so is a folder of build output.
    #[serde(default)]
    pub listed_changes: u64,
    /// How many changes a commit holds back.
    #[serde(default)]
    pub held_changes: u64,
    /// Its checkpoints, oldest first.
    pub checkpoints: Vec<CheckpointDoc>,
}

impl Kind for WorkspaceShowDoc {
    const KIND: &'static str = "workspace.show";
}

/// A workspace with its forks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeNodeDoc {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// The workspaces forked from it.
    pub forks: Vec<TreeNodeDoc>,
}

/// Which workspace was forked from which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceTreeDoc {
    /// The vault.
    pub vault: String,
    /// Workspaces that were forked from the main line, or from one that is gone.
    pub roots: Vec<TreeNodeDoc>,
}

impl Kind for WorkspaceTreeDoc {
    const KIND: &'static str = "workspace.tree";
}

/// A workspace that was renamed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceRenamedDoc {
    /// The name it had.
    pub from: String,
    /// The workspace.
    pub workspace: WorkspaceDoc,
}

impl Kind for WorkspaceRenamedDoc {
    const KIND: &'static str = "workspace.rename";
}

/// A workspace that was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceDeletedDoc {
    /// The name it had.
    pub name: String,
    /// Its id.
    pub id: String,
    /// The operation, to undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

impl Kind for WorkspaceDeletedDoc {
    const KIND: &'static str = "workspace.delete";
}

/// Changes that were thrown away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiscardDoc {
    /// The workspace.
    pub workspace: String,
    /// Whether the workspace is still there.
    pub kept: bool,
    /// What was thrown away.
    pub changes: Vec<ChangeDoc>,
    /// The operation, to undo; none where there was nothing to throw away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

impl Kind for DiscardDoc {
    const KIND: &'static str = "discard";
}

/// A checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointDoc {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The workspace it belongs to.
    pub workspace: String,
    /// What it points at.
    pub snapshot: String,
    /// Made by Offshoot, not asked for.
    pub automatic: bool,
    /// When it was made.
    pub created: String,
    /// Why it was made.
    pub reason: String,
}

impl Kind for CheckpointDoc {
    const KIND: &'static str = "checkpoint";
}

/// The checkpoints of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointListDoc {
    /// The workspace.
    pub workspace: String,
    /// Its checkpoints, oldest first.
    pub checkpoints: Vec<CheckpointDoc>,
}

impl Kind for CheckpointListDoc {
    const KIND: &'static str = "checkpoint.list";
}

/// A checkpoint in detail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointShowDoc {
    /// The checkpoint.
    pub checkpoint: CheckpointDoc,
    /// What it points at.
    pub snapshot: SnapshotDoc,
    /// What changed in the workspace since.
    pub changes_since: Vec<ChangeDoc>,
}

impl Kind for CheckpointShowDoc {
    const KIND: &'static str = "checkpoint.show";
}

/// A workspace that was taken to another point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestoreDoc {
    /// The workspace.
    pub workspace: String,
    /// The point, as it is called.
    pub to: String,
    /// Where the workspace is now.
    pub snapshot: SnapshotDoc,
    /// The operation, to undo; none where it was there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

impl Kind for RestoreDoc {
    const KIND: &'static str = "checkpoint.restore";
}

/// A checkpoint that was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointDeletedDoc {
    /// The name it had.
    pub name: String,
    /// The workspace it belonged to.
    pub workspace: String,
    /// The operation, to undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

impl Kind for CheckpointDeletedDoc {
    const KIND: &'static str = "checkpoint.delete";
}
