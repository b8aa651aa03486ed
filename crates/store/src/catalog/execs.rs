//! What commands did, and what they said.

use rusqlite::{Row, params};

use super::reader::Reader;
use super::rows::ExecRow;
use super::schema::HAS_EXECS;
use super::writer::Writer;
use crate::{Id, StoreError};

/// The columns of a listing.
const COLUMNS: &str = "id, workspace, operation, started_ms, ended_ms, state, command, exit_code,
                       signal, changed, before, after, actor";

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
                let sql = format!(
                    "SELECT {COLUMNS} FROM execs WHERE workspace = ?1 AND id < ?2
                     ORDER BY id DESC LIMIT ?3"
                );
                self.all(&sql, params![workspace, before, limit], exec_row)
            }
            None => {
                let sql =
                    format!("SELECT {COLUMNS} FROM execs WHERE id < ?1 ORDER BY id DESC LIMIT ?2");
                self.all(&sql, params![before, limit], exec_row)
            }
        }
    }

    /// A command by its id, with its envelope.
    pub fn exec(&self, id: &Id) -> Result<Option<ExecRow>, StoreError> {
        if !self.has_execs()? {
            return Ok(None);
        }
        let sql = format!("SELECT {COLUMNS}, envelope FROM execs WHERE id = ?1");
        self.one(&sql, [id], |row| Ok(ExecRow { envelope: Some(row.get(13)?), ..exec_row(row)? }))
    }

    /// What a command wrote to one of its streams, as far as it was kept.
    pub fn exec_output(&self, exec: &Id, stream: u8) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.has_execs()? {
            return Ok(None);
        }
        let sql = "SELECT bytes FROM exec_outputs WHERE exec = ?1 AND stream = ?2";
        self.one(sql, params![exec, stream], |row| row.get(0))
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
    /// Records a command; its envelope must be there.
    pub fn add_exec(&mut self, row: &ExecRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO execs
             (id, workspace, operation, started_ms, ended_ms, state, command, exit_code, signal,
              changed, before, after, actor, envelope)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            params![
                row.id,
                row.workspace,
                row.operation,
                row.started_ms,
                row.ended_ms,
                row.state,
                row.command,
                row.exit_code,
                row.signal,
                row.changed,
                row.before,
                row.after,
                row.actor,
                row.envelope
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
        self.execute(
            "INSERT INTO exec_outputs (exec, stream, bytes) VALUES (?1, ?2, ?3)",
            params![exec, stream, bytes],
        )
    }

    /// Says which operation recorded a command.
    pub fn set_exec_operation(&mut self, exec: &Id, operation: &Id) -> Result<(), StoreError> {
        self.execute("UPDATE execs SET operation = ?2 WHERE id = ?1", params![exec, operation])
    }
}

fn exec_row(row: &Row<'_>) -> rusqlite::Result<ExecRow> {
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
