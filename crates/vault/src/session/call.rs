//! Calls of agents: each has a key, so that an agent that was killed learns what became of it.

use offshoot_store::{CallRow, Id, Writer};
use offshoot_vocabulary::{CallKind, CallState};
use serde::{Deserialize, Serialize};

use super::chain::is_there;
use super::error::SessionError;
use crate::approval::Waiter;
use crate::error::{Result, VaultError};
use crate::exec::ExecRecord;
use crate::refs::{from_json, to_json};
use crate::vault::Vault;

/// The longest text that an agent calls something by, in bytes.
pub const LONGEST_CALL: usize = 200;

/// What an agent calls something that it asks for, in a session: nothing is done twice under one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallKey {
    /// The session.
    pub session: Id,
    /// The call.
    pub call: String,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCall {
    /// Which.
    pub key: CallKey,
    /// What it asked for.
    pub kind: CallKind,
    /// The command, or the operation that changed the files.
    pub id: Id,
    /// When it started, or was done.
    pub time_ms: u64,
    /// How it stands.
    pub state: CallState,
    /// The record of its command, once that is over.
    pub exec: Option<ExecRecord>,
}

impl CallKey {
    /// Fails where the key has a length that none may have.
    pub fn check(&self) -> Result<()> {
        let (found, most) = (self.call.len(), LONGEST_CALL);
        match (1..=most).contains(&found) {
            true => Ok(()),
            false => Err(SessionError::BadCallKey { found, most }.into()),
        }
    }
}

impl Vault {
    /// What became of a call; nothing where it never started.
    pub fn call(&self, key: &CallKey) -> Result<Option<RecordedCall>> {
        let Some(row) = self.read(|reader| Ok(reader.call(&key.session, &key.call)?))? else {
            return Ok(None);
        };
        let (kind, by) = parts(&row)?;
        let exec = match kind {
            CallKind::Exec => self.exec(&row.id)?,
            CallKind::Change => None,
        };
        let state = match (kind, &exec) {
            (CallKind::Change, _) => CallState::Changed,
            (CallKind::Exec, Some(_)) => CallState::Ended,
            (CallKind::Exec, None) if by.is_some_and(|by| by.is_there()) => CallState::Running,
            // The process may have recorded it and ended between the two looks.
            (CallKind::Exec, None) => match self.exec(&row.id)? {
                Some(exec) => {
                    let (id, time_ms, exec) = (row.id, row.time_ms, Some(exec));
                    let (key, state) = (key.clone(), CallState::Ended);
                    return Ok(Some(RecordedCall { key, kind, id, time_ms, state, exec }));
                }
                None => CallState::Interrupted,
            },
        };
        let (id, time_ms) = (row.id, row.time_ms);
        Ok(Some(RecordedCall { key: key.clone(), kind, id, time_ms, state, exec }))
    }

    /// Fails where something was done under a key before.
    pub fn require_new_call(&self, key: &CallKey) -> Result<()> {
        key.check()?;
        self.read(|reader| match reader.call(&key.session, &key.call)? {
            Some(row) => Err(taken(&row)?),
            None => Ok(()),
        })
    }
}

/// Records a call. That the same command is recorded again is nothing new.
pub(crate) fn record(
    writer: &mut Writer<'_>,
    key: &CallKey,
    (kind, id): (CallKind, &Id),
    time_ms: u64,
) -> Result<()> {
    key.check()?;
    match writer.call(&key.session, &key.call)? {
        Some(row) if row.id == *id => return Ok(()),
        Some(row) => return Err(taken(&row)?),
        None => {}
    }
    if !is_there(writer, &key.session)? {
        return Err(SessionError::Unknown(key.session).into());
    }
    let by = (kind == CallKind::Exec).then(Waiter::own);
    Ok(writer.add_call(&CallRow {
        session: key.session,
        call: key.call.clone(),
        what: to_json(&(kind, by)),
        id: *id,
        time_ms,
    })?)
}

fn taken(row: &CallRow) -> Result<VaultError> {
    let (kind, _) = parts(row)?;
    Ok(SessionError::CallTaken { call: row.call.clone(), kind, id: row.id }.into())
}

/// What a row says that it is, and which process does it.
pub(crate) fn parts(row: &CallRow) -> Result<(CallKind, Option<Waiter>)> {
    from_json(&format!("call {}", row.call), &row.what)
}
