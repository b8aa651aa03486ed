//! Documents about sessions of agents.

use offshoot_vocabulary::{ExitCode, SessionState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::{Kind, Question};
use crate::history::ActorDoc;
use crate::schema::{self, Schema};
use crate::text::Text;
use crate::workspace::WorkspaceDoc;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<SessionCreatedDoc>,
    schema::of::<SessionListDoc>,
    schema::of::<SessionShowDoc>,
    schema::of::<SessionAppendedDoc>,
    schema::of::<SessionForkedDoc>,
    schema::of::<SessionRenamedDoc>,
    schema::of::<SessionDeletedDoc>,
    schema::of::<SessionExportDoc>,
    schema::of::<SessionReplayDoc>,
];

/// A conversation of an agent in a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionDoc {
    /// Its id.
    pub id: String,
    /// Its name, unique in its workspace.
    pub name: String,
    /// The workspace that it belongs to.
    pub workspace: String,
    /// How it stands.
    pub state: SessionState,
    /// When it was made.
    pub created: String,
    /// Who made it.
    pub created_by: ActorDoc,
    /// When it last changed.
    pub changed: String,
    /// Who gives access to the model; empty where nobody said.
    pub provider: String,
    /// The model; empty where nobody said.
    pub model: String,
    /// What it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionParentDoc>,
    /// How many events it has.
    pub events: u64,
    /// The hash over all its events, in hexadecimal digits.
    pub chain: String,
    /// Tokens that were sent, as its writer says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    /// Tokens that came back, as its writer says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    /// What it cost, as a decimal number, as its writer says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// The process that has taken it up, in its own words; missing where none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
}

/// Where a session was forked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionParentDoc {
    /// The session that it was forked from, which may be gone.
    pub session: String,
    /// The last event that both have.
    pub number: u64,
}

/// One event of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionEventDoc {
    /// Its number, from 1.
    pub number: u64,
    /// When it was appended.
    pub time: String,
    /// What it is, in a word.
    pub kind: String,
    /// What its writer said.
    pub body: Value,
    /// The state of the workspace at this point, if its writer noted that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The hash over everything up to and with it, in hexadecimal digits.
    pub chain: String,
}

/// A session that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCreatedDoc {
    /// The session.
    #[serde(flatten)]
    pub session: SessionDoc,
}

/// Sessions; the one that changed last comes first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionListDoc {
    /// One for each session.
    pub sessions: Vec<SessionDoc>,
}

/// A session and some of its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionShowDoc {
    /// The session.
    pub session: SessionDoc,
    /// Its events from the number that was asked for.
    pub events: Vec<SessionEventDoc>,
    /// The number of the next event, where more follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Events that were appended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionAppendedDoc {
    /// The session as it is now.
    pub session: SessionDoc,
    /// How many events were appended.
    pub appended: u64,
}

/// A session that was forked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionForkedDoc {
    /// The new session.
    pub session: SessionDoc,
    /// Its workspace, which is new too.
    pub workspace: WorkspaceDoc,
}

/// A session that was renamed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRenamedDoc {
    /// Its id.
    pub id: String,
    /// What it was called.
    pub from: String,
    /// What it is called.
    pub to: String,
}

/// A session that was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionDeletedDoc {
    /// Its id.
    pub id: String,
    /// What it was called.
    pub name: String,
    /// The operation, which undo takes back.
    pub operation: Option<String>,
}

/// A session that was written to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionExportDoc {
    /// Its id.
    pub id: String,
    /// The file.
    pub file: Text,
    /// How many events are in it.
    pub events: u64,
}

/// Whether the agent would decide the same again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionReplayDoc {
    /// The id of the session.
    pub id: String,
    /// Its name.
    pub name: String,
    /// How many events it has.
    pub events: u64,
    /// The first event that would be another one now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<SessionReplayDifferenceDoc>,
}

/// An event that would be another one now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionReplayDifferenceDoc {
    /// Its number.
    pub number: u64,
    /// What is different.
    pub message: String,
    /// What the agent would make; nothing if it would make no event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Value>,
}

/// The first line of an exported session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionHeaderDoc {
    /// Always `offshoot-session`.
    pub format: String,
    /// The version of the format: 1.
    pub version: u32,
    /// The session.
    #[serde(flatten)]
    pub session: SessionDoc,
}

impl Kind for SessionCreatedDoc {
    const KIND: &'static str = "sessions.create";
}

impl Kind for SessionListDoc {
    const KIND: &'static str = "sessions.list";
}

impl Kind for SessionShowDoc {
    const KIND: &'static str = "sessions.show";
}

impl Kind for SessionAppendedDoc {
    const KIND: &'static str = "sessions.append";
}

impl Kind for SessionForkedDoc {
    const KIND: &'static str = "sessions.fork";
}

impl Kind for SessionRenamedDoc {
    const KIND: &'static str = "sessions.rename";
}

impl Kind for SessionDeletedDoc {
    const KIND: &'static str = "sessions.delete";
}

impl Kind for SessionExportDoc {
    const KIND: &'static str = "sessions.export";
}

impl Kind for SessionReplayDoc {
    const KIND: &'static str = "sessions.replay";
}

impl Question for SessionReplayDoc {
    fn answer(&self) -> ExitCode {
        match self.difference {
            None => ExitCode::Success,
            Some(_) => ExitCode::Failure,
        }
    }
}
