//! Documents about the audit log.

use offshoot_vocabulary::ExitCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Kind;
use crate::history::ActorDoc;
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<AuditEventDoc>,
    schema::of::<AuditVerifyDoc>,
    schema::of::<AuditHeadDoc>,
    schema::of::<AuditKeyDoc>,
    schema::of::<AuditExportDoc>,
    schema::of::<AuditRotateDoc>,
    schema::of::<AuditPruneDoc>,
    schema::of::<TimelineDoc>,
];

/// An event of the audit log. `audit log --json` prints a document for each, a line each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEventDoc {
    /// Its number, from 1 without a gap.
    pub seq: u64,
    /// When.
    pub time: String,
    /// Who, as the caller says.
    pub actor: ActorDoc,
    /// The account of the process that recorded it, as the kernel knows it; none in events of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// What happened, such as `exec_started`, `exec` or `commit`.
    pub event: String,
    /// The operation that it belongs to, or an id of its own.
    pub operation: String,
    /// The workspace: its name, or its id if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// What was done, in a line.
    pub summary: String,
    /// Everything else that was recorded, as it is in the log: for a command its id, what was decided and how it ended, and the files
    /// that changed.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub details: serde_json::Value,
    /// The chain up to and with this event, in hexadecimal digits.
    pub chain: String,
}

impl Kind for AuditEventDoc {
    const KIND: &'static str = "audit.event";
}

/// A key that signed for a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditSignerDoc {
    /// The public key, in hexadecimal digits.
    pub key: String,
    /// The event that brought it.
    pub since: u64,
    /// Whether the key before gave its word for it.
    pub handed_over: bool,
}

/// Whether a log is what was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditVerifyDoc {
    /// The id of the vault; none where a file does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vault: Option<String>,
    /// The file that was read; none where it was the vault itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Text>,
    /// How many events are what was recorded.
    pub events: u64,
    /// How far the log goes, as SEQ:CHAIN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The key that was trusted; none where the log could only be compared with itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<String>,
    /// The keys that signed, oldest first.
    pub keys: Vec<AuditSignerDoc>,
    /// The last event that was removed with `audit prune`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<u64>,
    /// Heads that were given and lie before the first event: what was there was removed, and nothing is left to compare them with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncompared: Vec<u64>,
    /// What the vault's main line, workspaces and checkpoints are, and the log does not say that they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// What is wrong; none where the log is what was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Kind for AuditVerifyDoc {
    const KIND: &'static str = "audit.verify";

    fn exit_code(&self) -> ExitCode {
        match self.problem.is_none() && self.differences.is_empty() {
            false => ExitCode::Damaged,
            true if self.uncompared.is_empty() => ExitCode::Success,
            true => ExitCode::NotFound,
        }
    }
}

/// How far a log goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditHeadDoc {
    /// The id of the vault.
    pub vault: String,
    /// The number of the last event.
    pub seq: u64,
    /// The chain up to there, in hexadecimal digits.
    pub chain: String,
    /// Both, as `audit verify --head` takes them.
    pub head: String,
    /// The public key that signed for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Its signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl Kind for AuditHeadDoc {
    const KIND: &'static str = "audit.head";
}

/// The key that signs for a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditKeyDoc {
    /// The id of the vault.
    pub vault: String,
    /// The public key, in hexadecimal digits.
    pub key: String,
}

impl Kind for AuditKeyDoc {
    const KIND: &'static str = "audit.key";
}

/// A log that was written to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditExportDoc {
    /// The file.
    pub file: Text,
    /// How many events are in it.
    pub events: u64,
    /// How far it goes, as SEQ:CHAIN.
    pub head: String,
}

impl Kind for AuditExportDoc {
    const KIND: &'static str = "audit.export";
}

/// A key that signs from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditRotateDoc {
    /// The new public key.
    pub key: String,
    /// The one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former: Option<String>,
}

impl Kind for AuditRotateDoc {
    const KIND: &'static str = "audit.rotate";
}

/// Events that were removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditPruneDoc {
    /// How many.
    pub events: u64,
    /// All are of before this time.
    pub before: String,
    /// How far the log goes, as SEQ:CHAIN.
    pub head: String,
}

impl Kind for AuditPruneDoc {
    const KIND: &'static str = "audit.prune";
}

/// A file that something changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineFileDoc {
    /// Its path.
    pub path: String,
    /// What happened to it: `added`, `modified`, `deleted`, `renamed`, `mode` or `metadata`.
    pub kind: String,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineEntryDoc {
    /// The number of the event that says so.
    pub seq: u64,
    /// When.
    pub time: String,
    /// Who.
    pub actor: ActorDoc,
    /// What happened, such as `exec` or `commit`.
    pub event: String,
    /// In a line.
    pub summary: String,
    /// The command, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The id of the exec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<String>,
    /// What was decided about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// How far a command came, as in its envelope; of a decision about an approval, what became of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// It was a trial: it ran, and the workspace stayed as it was until somebody approves of that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tried: bool,
    /// The approval that it waits for, that let it run, or that was decided about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// Approving merged what was tried, as the workspace had moved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merged: bool,
    /// Nobody decided in time: it is what `approvals.fallback` says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fallback: bool,
    /// The approvals that a person went past, by using what was tried before anybody approved of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unapproved: Vec<String>,
    /// What an approval holds for: `once`, `session` or `always`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Why policy decided so; of a decision about an approval, what was said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How it ended: `exit 0`, `signal 9`, `denied`, `timed out`, `interrupted`, `failed`, or `running` where it has not ended. `interrupted` is
    /// also a command whose `offshoot` was killed, so that no end is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The files that changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<TimelineFileDoc>,
    /// The files that a trial would change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried_files: Vec<TimelineFileDoc>,
}

/// Events that are not there any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditPrunedDoc {
    /// The number of the last one that was removed.
    pub seq: u64,
    /// When they were removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// What happened in a workspace, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineDoc {
    /// The workspace; none where it is about the whole vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// What happened.
    pub entries: Vec<TimelineEntryDoc>,
    /// There is more before.
    pub more: bool,
    /// What was removed from the log with `audit prune`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<AuditPrunedDoc>,
}

impl Kind for TimelineDoc {
    const KIND: &'static str = "timeline";
}
