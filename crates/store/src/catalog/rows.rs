//! The rows of the catalog as plain data.

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::object::Hash;

/// A node of history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnapshotRow {
    /// Its id.
    pub id: Id,
    /// The root it points at.
    pub root: Hash,
    /// The content hash of that root.
    pub content: Hash,
    /// The snapshots it came from.
    pub parents: Vec<Id>,
    /// When it was made.
    pub time_ms: u64,
    /// Who made it, as JSON.
    pub actor: String,
    /// Why it was made.
    pub reason: String,
    /// What its maker said about it.
    pub message: Option<String>,
    /// The operation that made it.
    pub operation: Id,
}

/// Names one ref.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RefKey {
    /// The kind of ref.
    pub kind: String,
    /// Its id, unique for the kind.
    pub id: String,
}

/// The state of one ref.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefRow {
    /// Inside what its name is unique: empty for the vault, else a workspace's id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// Its name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it holds, as JSON.
    pub value: String,
}

/// What an operation did to one ref. `None` is a ref that is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefChange {
    /// Which ref.
    pub key: RefKey,
    /// Its state before.
    pub before: Option<RefRow>,
    /// Its state after.
    pub after: Option<RefRow>,
}

impl RefChange {
    /// The change that takes this one back.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { key: self.key.clone(), before: self.after.clone(), after: self.before.clone() }
    }
}

/// An operation about to be recorded.
#[derive(Clone, Debug, Serialize)]
pub struct NewOperation {
    /// Its id.
    pub id: Id,
    /// When.
    pub time_ms: u64,
    /// Who, as JSON.
    pub actor: String,
    /// What kind of operation.
    pub kind: String,
    /// The workspace it belongs to; empty for the vault.
    pub scope: String,
    /// One line for people.
    pub summary: String,
    /// The operation that this one takes back or brings back.
    pub reverts: Option<Id>,
    /// The refs it changed, as JSON.
    pub changes: String,
}

/// A recorded operation.
#[derive(Clone, Debug)]
pub struct OperationRow {
    /// Its place in the log.
    pub seq: i64,
    /// What was recorded.
    pub operation: NewOperation,
}

/// A recorded audit event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Its place in the chain.
    pub seq: i64,
    /// When.
    pub time_ms: u64,
    /// The operation it belongs to.
    pub operation: Id,
    /// What happened, as JSON.
    pub event: String,
    /// The hash over everything up to and with this event.
    pub chain: Hash,
}

/// An audit event as it lies in the catalog, whether or not it is what was recorded.
#[derive(Clone, Copy, Debug)]
pub struct AuditSeen<'a> {
    /// Its place in the chain.
    pub seq: u64,
    /// When, says the row.
    pub time_ms: u64,
    /// The operation that the row says it belongs to.
    pub operation: Id,
    /// What happened, as JSON.
    pub event: &'a str,
    /// The hash over everything up to and with this event.
    pub chain: Hash,
    /// Whether the row is what its own hash says.
    pub is_intact: bool,
}

/// The end of a part of the audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditUntil {
    /// The place of its last event.
    pub seq: u64,
    /// The hash over everything up to and with that.
    pub chain: Hash,
    /// How many events there are until it.
    pub count: u64,
}

/// A sealed layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerRow {
    /// Its id, and the name of its directory.
    pub id: Id,
    /// base, delta or content.
    pub kind: String,
    /// The root that a base or delta layer was made for.
    pub root: Option<Hash>,
    /// The bytes of the files in it.
    pub bytes: u64,
    /// When it was sealed.
    pub created_ms: u64,
}

/// A sealed pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackRow {
    /// Its id, and the name of its file.
    pub id: Id,
    /// The length of the file.
    pub bytes: u64,
    /// When it was sealed.
    pub created_ms: u64,
}

/// The snapshots that a command names, and the operation that recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecEnds {
    /// Its id.
    pub id: Id,
    /// The operation that recorded it.
    pub operation: Option<Id>,
    /// The snapshots it started from and made.
    pub snapshots: Vec<Id>,
}

/// The layers that show a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackRow {
    /// The root.
    pub root: Hash,
    /// The layers, topmost first.
    pub layers: Vec<Id>,
    /// Layers that only hold bytes of files which the lowest of `layers` describes, in the order in which they are searched.
    pub data: Vec<Id>,
}

impl StackRow {
    /// Every layer that the stack is of no use without.
    pub fn all_layers(&self) -> impl Iterator<Item = &Id> {
        self.layers.iter().chain(&self.data)
    }
}

/// What a command did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExecRow {
    /// Its id.
    pub id: Id,
    /// The workspace it ran in.
    pub workspace: Option<Id>,
    /// The operation that recorded it.
    pub operation: Option<Id>,
    /// When it started.
    pub started_ms: u64,
    /// When it was over.
    pub ended_ms: u64,
    /// How it ended, in a word.
    pub state: String,
    /// The command line, for people.
    pub command: String,
    /// What it returned, if it ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How many paths it changed.
    pub changed: u64,
    /// The snapshot it started from.
    pub before: Option<Id>,
    /// The snapshot it made.
    pub after: Option<Id>,
    /// Who, as JSON.
    pub actor: String,
    /// Everything else about it, as JSON; not there in listings.
    pub envelope: Option<String>,
}

/// A root, and what is remembered of its hard links where that is short.
pub type LinkRow = (Hash, Option<Vec<u8>>);

/// What changes in a session with every append.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionRow {
    /// The id of its ref.
    pub id: Id,
    /// How many events it has.
    pub events: u64,
    /// The chain after the last.
    pub chain: Hash,
    /// When it last changed.
    pub changed_ms: u64,
    /// How it stands, in a word.
    pub state: String,
    /// Who gives access to the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Tokens that were sent, as its writer says.
    pub tokens_in: Option<u64>,
    /// Tokens that came back.
    pub tokens_out: Option<u64>,
    /// What it cost, as a decimal number.
    pub cost: Option<String>,
    /// A key and its signature over everything else.
    #[serde(skip)]
    pub signature: Vec<u8>,
}

/// One event of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEventRow {
    /// The session.
    pub session: Id,
    /// Its number, from 1.
    pub number: u64,
    /// When it was appended.
    pub time_ms: u64,
    /// What it is, in a word.
    pub kind: String,
    /// The hash of its body.
    pub content: Hash,
    /// The length of its body.
    pub bytes: u64,
    /// The snapshot that it names.
    pub snapshot: Option<Id>,
    /// The hash over everything up to and with it.
    pub chain: Hash,
    /// Its body; empty where that is an object.
    pub body: String,
}

/// An object that a session keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionContentRow {
    /// The session.
    pub session: Id,
    /// What it is called there.
    pub name: String,
    /// Its hash.
    pub content: Hash,
    /// Its length.
    pub bytes: u64,
}

/// What a call of an agent became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// The session that it was made in.
    pub session: Id,
    /// What the agent calls it.
    pub call: String,
    /// What it is, in a word.
    pub what: String,
    /// The command or the operation.
    pub id: Id,
    /// When it was recorded.
    pub time_ms: u64,
}
