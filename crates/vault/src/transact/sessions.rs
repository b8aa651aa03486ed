//! Sessions in a transaction: their refs, how they stand, and the calls that are made in them.

use offshoot_store::Id;
use offshoot_vocabulary::CallKind;

use super::Transaction;
use crate::error::Result;
use crate::refs::key;
use crate::session::call::{self, CallKey};
use crate::session::chain::{place, put};
use crate::session::fork::{NewSessionFork, copy};
use crate::session::{SESSION, SessionHead, SessionRecord};

impl Transaction<'_, '_> {
    /// A session by its id, and how it stands.
    pub fn session(&mut self, id: &Id) -> Result<Option<(SessionRecord, SessionHead)>> {
        let key = key(SESSION, id);
        let Some(row) = self.current(key.clone())? else { return Ok(None) };
        let Some(head) = self.writer.session(id)? else { return Ok(None) };
        Ok(Some((SessionRecord::from_row(&key, row)?, SessionHead::from_row(head)?)))
    }

    /// Makes a session that stands so.
    pub(crate) fn add_session(&mut self, record: &SessionRecord, head: &SessionHead) -> Result<()> {
        put(self.writer, self.signing, &mut head.row(record.id))?;
        self.detail("session", record.id.to_string());
        self.cover_session(&record.id, &place(head.events, &head.chain));
        self.set_session(record)
    }

    /// Makes a session whose log starts as that of another.
    pub fn fork_session(
        &mut self,
        new: &NewSessionFork<'_>,
    ) -> Result<(SessionRecord, SessionHead)> {
        let (time_ms, actor) = (self.time_ms, self.actor.clone());
        let (record, head) = copy(self.writer, new, (time_ms, &actor))?;
        self.detail("parent", record.origin.parent);
        self.add_session(&record, &head)?;
        Ok((record, head))
    }

    pub(crate) fn set_session(&mut self, record: &SessionRecord) -> Result<()> {
        self.set(key(SESSION, &record.id), Some(record.row()))
    }

    /// Removes a session. Its rows stay while an operation names it that can be undone.
    pub(crate) fn remove_session(&mut self, id: &Id) -> Result<()> {
        self.set(key(SESSION, id), None)
    }

    /// Has the event say how far the log of a session is.
    pub(crate) fn cover_session(&mut self, id: &Id, place: &str) {
        self.records.session(id, place);
    }

    /// Records that a command starts under a key, or was refused; nothing else is ever done under that key.
    pub fn call_exec(&mut self, call: &CallKey, exec: &Id) -> Result<()> {
        self.record_call(call, CallKind::Exec, exec)
    }

    /// Records that this operation is what was asked for under a key; nothing else is ever done under that key.
    pub fn call_change(&mut self, call: &CallKey) -> Result<()> {
        let operation = self.operation;
        self.record_call(call, CallKind::Change, &operation)
    }

    fn record_call(&mut self, call: &CallKey, kind: CallKind, id: &Id) -> Result<()> {
        call::record(self.writer, call, (kind, id), self.time_ms)?;
        self.detail("call", call);
        Ok(())
    }
}
