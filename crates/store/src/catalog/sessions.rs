//! Sessions of agents: their logs, what they keep, and the calls that were made in them.

use rusqlite::{Row, params};

use super::reader::Reader;
use super::rows::{CallRow, SessionContentRow, SessionEventRow, SessionRow};
use super::schema::HAS_SESSIONS;
use super::tables::{CALLS, SESSION_CONTENTS, SESSION_EVENTS, SESSIONS};
use super::writer::Writer;
use crate::error::StoreError;
use crate::id::Id;

impl Reader<'_> {
    /// The row of a session.
    pub fn session(&self, id: &Id) -> Result<Option<SessionRow>, StoreError> {
        self.row(&SESSIONS, "WHERE id = ?1", [id], session_row)
    }

    /// The rows of all sessions, also of those whose refs are gone; by id.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, StoreError> {
        self.rows(&SESSIONS, "ORDER BY id", [], session_row)
    }

    /// Events of a session from a number on, at most `limit`.
    pub fn session_events(
        &self,
        session: &Id,
        from: u64,
        limit: u32,
    ) -> Result<Vec<SessionEventRow>, StoreError> {
        let which = "WHERE session = ?1 AND number >= ?2 ORDER BY number LIMIT ?3";
        self.rows(&SESSION_EVENTS, which, params![session, from, limit], event_row)
    }

    /// The snapshot that the last event up to a number names, if one does.
    pub fn session_snapshot(&self, session: &Id, until: u64) -> Result<Option<Id>, StoreError> {
        let which = "WHERE session = ?1 AND number <= ?2 AND snapshot IS NOT NULL
                     ORDER BY number DESC LIMIT 1";
        let found = self.row(&SESSION_EVENTS, which, params![session, until], event_row)?;
        Ok(found.and_then(|event| event.snapshot))
    }

    /// The ids of all sessions that have events or contents, whether or not they have a row.
    pub fn session_owners(&self) -> Result<Vec<Id>, StoreError> {
        if !self.has_sessions()? {
            return Ok(Vec::new());
        }
        let sql = "SELECT DISTINCT session FROM session_events UNION
                   SELECT DISTINCT session FROM session_contents UNION
                   SELECT DISTINCT session FROM calls";
        self.all(sql, [], |row| row.get(0))
    }

    /// An object that a session keeps, by what it is called there.
    pub fn session_content(
        &self,
        session: &Id,
        name: &str,
    ) -> Result<Option<SessionContentRow>, StoreError> {
        let which = "WHERE session = ?1 AND name = ?2";
        self.row(&SESSION_CONTENTS, which, params![session, name], content_row)
    }

    /// The objects that a session keeps whose names start so, after `after`, by name; at most `limit`.
    pub fn session_contents(
        &self,
        session: &Id,
        (prefix, after): (&str, &str),
        limit: u32,
    ) -> Result<Vec<SessionContentRow>, StoreError> {
        let which = "WHERE session = ?1 AND name > ?2 AND substr(name, 1, length(?3)) = ?3
                     ORDER BY name LIMIT ?4";
        self.rows(&SESSION_CONTENTS, which, params![session, after, prefix, limit], content_row)
    }

    /// The objects that all sessions keep, after a place, at most `limit`, and the place of the last.
    pub fn session_contents_after(
        &self,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, SessionContentRow)>, StoreError> {
        let which = "WHERE seq > ?1 ORDER BY seq LIMIT ?2";
        self.rows(&SESSION_CONTENTS, which, params![after, limit], |row| {
            Ok((row.get(0)?, content_row(row)?))
        })
    }

    /// The place of the newest of these; 0 where there is none.
    pub fn last_session_content(&self) -> Result<i64, StoreError> {
        if !self.has_sessions()? {
            return Ok(0);
        }
        let last = self.one("SELECT max(seq) FROM session_contents", [], |row| row.get(0))?;
        Ok(last.flatten().unwrap_or(0))
    }

    /// What a call became, if it was recorded.
    pub fn call(&self, session: &Id, call: &str) -> Result<Option<CallRow>, StoreError> {
        let which = "WHERE session = ?1 AND call = ?2";
        self.row(&CALLS, which, params![session, call], call_row)
    }

    /// All calls.
    pub fn calls(&self) -> Result<Vec<CallRow>, StoreError> {
        self.rows(&CALLS, "ORDER BY session, call", [], call_row)
    }

    /// The call that a command or an operation was made by, if it was one.
    pub fn call_of(&self, id: &Id) -> Result<Option<CallRow>, StoreError> {
        self.row(&CALLS, "WHERE id = ?1 LIMIT 1", [id], call_row)
    }

    /// Whether the tables are there: a catalog of an older format that cannot be written stays as it is.
    fn has_sessions(&self) -> Result<bool, StoreError> {
        Ok(self.version()? >= HAS_SESSIONS)
    }
}

impl Writer<'_> {
    /// Says how a session stands.
    pub fn set_session(&mut self, row: &SessionRow) -> Result<(), StoreError> {
        self.replace(
            &SESSIONS,
            &[
                &row.id,
                &row.events,
                &row.chain,
                &row.changed_ms,
                &row.state,
                &row.provider,
                &row.model,
                &row.tokens_in,
                &row.tokens_out,
                &row.cost,
                &row.signature,
            ],
        )
    }

    /// Adds an event to a session.
    pub fn add_session_event(&mut self, row: &SessionEventRow) -> Result<(), StoreError> {
        self.insert(
            &SESSION_EVENTS,
            &[
                &row.session,
                &row.number,
                &row.time_ms,
                &row.kind,
                &row.content,
                &row.bytes,
                &row.snapshot,
                &row.chain,
                &row.body,
            ],
        )
    }

    /// Has a session keep an object, in place of what it calls so.
    pub fn set_session_content(&mut self, row: &SessionContentRow) -> Result<(), StoreError> {
        self.remove_session_content(&row.session, &row.name)?;
        // A place is never used again, also after what was last is removed.
        let sql =
            "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'session_contents'";
        let seq: i64 = self.one(sql, [], |row| row.get(0))?.unwrap_or(1);
        self.insert(&SESSION_CONTENTS, &[&seq, &row.session, &row.name, &row.content, &row.bytes])
    }

    /// Has a session keep no object that is called so.
    pub fn remove_session_content(&mut self, session: &Id, name: &str) -> Result<(), StoreError> {
        self.delete(&SESSION_CONTENTS, "session = ?1 AND name = ?2", params![session, name])
    }

    /// Records a call that was not recorded yet.
    pub fn add_call(&mut self, row: &CallRow) -> Result<(), StoreError> {
        self.insert(&CALLS, &[&row.session, &row.call, &row.what, &row.id, &row.time_ms])
    }

    /// Forgets how a session stands: its other rows belong to nothing then.
    pub fn remove_session(&mut self, id: &Id) -> Result<(), StoreError> {
        self.delete(&SESSIONS, "id = ?1", [id])
    }

    /// Removes so many of the other rows of a session at most, of each table. Returns how many there were.
    pub fn remove_session_rows(&mut self, id: &Id, limit: u32) -> Result<u64, StoreError> {
        let mut found = 0;
        for table in [&SESSION_EVENTS, &SESSION_CONTENTS, &CALLS] {
            let name = table.name;
            let some = format!("SELECT rowid FROM {name} WHERE session = ?1 LIMIT ?2");
            let sql = format!("SELECT count(*) FROM ({some})");
            let count: Option<u64> = self.one(&sql, params![id, limit], |row| row.get(0))?;
            found += count.unwrap_or(0);
            self.delete(table, &format!("rowid IN ({some})"), params![id, limit])?;
        }
        Ok(found)
    }
}

fn session_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        id: row.get(0)?,
        events: row.get(1)?,
        chain: row.get(2)?,
        changed_ms: row.get(3)?,
        state: row.get(4)?,
        provider: row.get(5)?,
        model: row.get(6)?,
        tokens_in: row.get(7)?,
        tokens_out: row.get(8)?,
        cost: row.get(9)?,
        signature: row.get(10)?,
    })
}

fn event_row(row: &Row<'_>) -> rusqlite::Result<SessionEventRow> {
    Ok(SessionEventRow {
        session: row.get(0)?,
        number: row.get(1)?,
        time_ms: row.get(2)?,
        kind: row.get(3)?,
        content: row.get(4)?,
        bytes: row.get(5)?,
        snapshot: row.get(6)?,
        chain: row.get(7)?,
        body: row.get(8)?,
    })
}

fn content_row(row: &Row<'_>) -> rusqlite::Result<SessionContentRow> {
    Ok(SessionContentRow {
        session: row.get(1)?,
        name: row.get(2)?,
        content: row.get(3)?,
        bytes: row.get(4)?,
    })
}

fn call_row(row: &Row<'_>) -> rusqlite::Result<CallRow> {
    Ok(CallRow {
        session: row.get(0)?,
        call: row.get(1)?,
        what: row.get(2)?,
        id: row.get(3)?,
        time_ms: row.get(4)?,
    })
}
