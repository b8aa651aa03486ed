//! What commands did, and what they said.

use rusqlite::{Row, params};

use super::reader::Reader;
use super::rows::ExecRow;
use super::schema::HAS_EXECS;
use super::sums::sum_apart;
use super::tables::{EXEC_OUTPUTS, EXECS};
use super::writer::Writer;
use crate::error::{StoreError, sqlite_error};
use crate::id::Id;

impl Reader<'_> {
    /// Commands with ids before `before`, newest first, at most `limit`, without their envelopes; of one workspace or of
    /// all.
    pub fn execs(
        &self,
        workspace: Option<&Id>,
        before: Option<&Id>,
        limit: u32,
    ) -> Result<Vec<ExecRow>, StoreError> {
        if !self.has_execs()? {
            return Ok(Vec::new());
        }
        let before = before.copied().unwrap_or(Id::from_bytes([0xff; 16]));
        match workspace {
            Some(workspace) => {
                let which = "WHERE workspace = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3";
                self.rows(&EXECS, which, params![workspace, before, limit], exec_row)
            }
            None => {
                let which = "WHERE id < ?1 ORDER BY id DESC LIMIT ?2";
                self.rows(&EXECS, which, params![before, limit], exec_row)
            }
        }
    }

    /// A command by its id, with its envelope.
    pub fn exec(&self, id: &Id) -> Result<Option<ExecRow>, StoreError> {
        if !self.has_execs()? {
            return Ok(None);
        }
        let mut found = None;
        self.visit(&EXECS, true, "WHERE id = ?1", [id], |row, verified| {
            let whole = || Ok(ExecRow { envelope: Some(row.get(15)?), ..exec_row(row)? });
            found = Some(verified.and_then(|_| whole().map_err(sqlite_error(self.path))));
        })?;
        found.transpose()
    }

    /// What a command wrote to one of its streams, as far as it was kept.
    pub fn exec_output(&self, exec: &Id, stream: u8) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.has_execs()? {
            return Ok(None);
        }
        let which = "WHERE exec = ?1 AND stream = ?2";
        self.row(&EXEC_OUTPUTS, which, params![exec, stream], |row| row.get(2))
    }

    /// The ids of commands between two ids, both included; at most `limit`.
    pub fn execs_between(&self, low: &Id, high: &Id, limit: u32) -> Result<Vec<Id>, StoreError> {
        if !self.has_execs()? {
            return Ok(Vec::new());
        }
        let sql = "SELECT id FROM execs WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
        self.all(sql, params![low, high, limit], |row| row.get(0))
    }

    /// Whether the tables are there: a catalog of an older format that cannot be written stays as it is.
    pub(super) fn has_execs(&self) -> Result<bool, StoreError> {
        Ok(self.version()? >= HAS_EXECS)
    }
}

impl Writer<'_> {
    /// Records a command; its envelope must be there. A command that waited for somebody to decide about it is recorded again when it ran.
    pub fn add_exec(&mut self, row: &ExecRow) -> Result<(), StoreError> {
        self.delete(&EXECS, "id = ?1 AND state = 'pending_approval'", [&row.id])?;
        let envelope_sum = sum_apart(row.envelope.as_deref().unwrap_or_default().as_bytes());
        self.insert(
            &EXECS,
            &[
                &row.id,
                &row.workspace,
                &row.operation,
                &row.started_ms,
                &row.ended_ms,
                &row.state,
                &row.command,
                &row.exit_code,
                &row.signal,
                &row.changed,
                &row.before,
                &row.after,
                &row.actor,
                &envelope_sum,
                &row.envelope,
            ],
        )
    }

    /// Records what a command wrote to one of its streams.
    pub fn add_exec_output(
        &mut self,
        exec: &Id,
        stream: u8,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        self.replace(&EXEC_OUTPUTS, &[exec, &stream, &bytes])
    }
}

pub(super) fn exec_row(row: &Row<'_>) -> rusqlite::Result<ExecRow> {
    Ok(ExecRow {
        id: row.get(0)?,
        workspace: row.get(1)?,
        operation: row.get(2)?,
        started_ms: row.get(3)?,
        ended_ms: row.get(4)?,
        state: row.get(5)?,
        command: row.get(6)?,
        exit_code: row.get(7)?,
        signal: row.get(8)?,
        changed: row.get(9)?,
        before: row.get(10)?,
        after: row.get(11)?,
        actor: row.get(12)?,
        envelope: None,
    })
}
