//! Sessions: conversations of agents, as logs that are only ever appended to. See `docs/design/sessions.md`.
//!
//! A session is a ref, so it goes and comes back with its workspace. Its log and what it keeps are rows, which no undo touches.

pub(crate) mod append;
pub(crate) mod call;
pub(crate) mod chain;
pub(crate) mod content;
pub(crate) mod error;
pub(crate) mod fork;
pub(crate) mod lock;
pub(crate) mod manage;
pub(crate) mod read;
pub(crate) mod verify;

use offshoot_store::{Hash, Id, RefKey, RefRow, SessionRow};
use offshoot_vocabulary::SessionState;
use serde::{Deserialize, Serialize};

use self::error::SessionError;
use crate::actor::Actor;
use crate::error::{Result, VaultError};
use crate::refs::{from_json, to_json};

/// The kind of their refs.
pub(crate) const SESSION: &str = "session";

/// A conversation of an agent in a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// Its id.
    pub id: Id,
    /// The workspace that it belongs to.
    pub workspace: Id,
    /// Its name, unique in the workspace.
    pub name: String,
    /// Where it comes from.
    pub origin: SessionOrigin,
}

/// Where a session comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOrigin {
    /// When it was made.
    pub created_ms: u64,
    /// Who made it: an agent may append to no other's.
    pub created_by: Actor,
    /// What it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionParent>,
}

/// A place in the log of another session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionParent {
    /// The session, which may be gone.
    pub session: Id,
    /// The last event that both have; 0 where they have none.
    pub number: u64,
}

/// How a session stands after its last event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHead {
    /// How many events there are.
    pub events: u64,
    /// The chain after the last.
    pub chain: Hash,
    /// When it last changed.
    pub changed_ms: u64,
    /// Whether somebody works on it.
    pub state: SessionState,
    /// Who gives access to the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// What it used.
    pub totals: SessionTotals,
}

/// What a session used, as its writer says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionTotals {
    /// Tokens that were sent.
    pub tokens_in: Option<u64>,
    /// Tokens that came back.
    pub tokens_out: Option<u64>,
    /// What that cost, as a decimal number.
    pub cost: Option<String>,
}

/// An event about to be appended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSessionEvent {
    /// What it is, in a word: 1 to 64 ASCII letters, digits, `.`, `_` and `-`.
    pub kind: String,
    /// What there is to say, as JSON.
    pub body: String,
    /// The state of the workspace at this point.
    pub snapshot: Option<Id>,
}

/// What an append changes beside the log. What it does not mention stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionUpdate {
    /// How the session stands.
    pub state: Option<SessionState>,
    /// Who gives access to the model.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// What it used until now, as absolute values.
    pub totals: SessionTotals,
}

/// An event of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEvent {
    /// Its number, from 1.
    pub number: u64,
    /// When it was appended.
    pub time_ms: u64,
    /// What it is, in a word.
    pub kind: String,
    /// What it says, as JSON.
    pub body: String,
    /// The state of the workspace at this point, if its writer noted that.
    pub snapshot: Option<Id>,
    /// The hash over everything up to and with it.
    pub chain: Hash,
}

impl SessionRecord {
    /// Fails for an agent that did not make it. A person may change any session.
    pub fn require_own(&self, actor: &Actor, what: &'static str) -> Result<()> {
        let by = &self.origin.created_by;
        let Some(agent) = &actor.agent else { return Ok(()) };
        if by.user == actor.user && by.agent.as_ref() == Some(agent) {
            return Ok(());
        }
        let owner = by.agent.clone().unwrap_or_else(|| by.user.clone());
        let (agent, session) = (agent.clone(), self.id);
        Err(SessionError::NotOwn { agent, what, session, owner }.into())
    }

    pub(crate) fn row(&self) -> RefRow {
        RefRow {
            scope: self.workspace.to_string(),
            name: Some(self.name.clone()),
            value: to_json(&self.origin),
        }
    }

    pub(crate) fn from_row(key: &RefKey, row: RefRow) -> Result<Self> {
        let what = format!("session {}", key.id);
        let origin = from_json(&what, &row.value)?;
        let parse = |text: &str| {
            text.parse().map_err(|error| VaultError::BadRecord {
                what: what.clone(),
                source: serde::de::Error::custom(error),
            })
        };
        let (id, workspace) = (parse(&key.id)?, parse(&row.scope)?);
        Ok(Self { id, workspace, name: row.name.unwrap_or_default(), origin })
    }
}

impl SessionHead {
    /// How a row says that a session stands.
    pub(crate) fn from_row(row: SessionRow) -> Result<Self> {
        let state = row.state.parse().map_err(|error| VaultError::BadRecord {
            what: format!("the state of session {}", row.id),
            source: serde::de::Error::custom(error),
        })?;
        let SessionRow { tokens_in, tokens_out, cost, .. } = row;
        Ok(Self {
            events: row.events,
            chain: row.chain,
            changed_ms: row.changed_ms,
            state,
            provider: row.provider,
            model: row.model,
            totals: SessionTotals { tokens_in, tokens_out, cost },
        })
    }

    /// The same as a row, which nobody has signed yet.
    pub(crate) fn row(&self, id: Id) -> SessionRow {
        let SessionTotals { tokens_in, tokens_out, cost } = self.totals.clone();
        SessionRow {
            id,
            events: self.events,
            chain: self.chain,
            changed_ms: self.changed_ms,
            state: self.state.to_string(),
            provider: self.provider.clone(),
            model: self.model.clone(),
            tokens_in,
            tokens_out,
            cost,
            signature: Vec::new(),
        }
    }
}

/// The longest word for the kind of an event, the key of a note, or a name of a provider.
const LONGEST_WORD: usize = 64;

/// Fails where a text is no word: what an event is, or what a note is called.
pub(crate) fn check_word(what: &'static str, text: &str) -> Result<()> {
    let is_word = (1..=LONGEST_WORD).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    match is_word {
        true => Ok(()),
        false => Err(SessionError::BadWord { what, text: text.to_owned() }.into()),
    }
}
