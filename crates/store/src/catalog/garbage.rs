//! What collecting garbage asks and takes away.

use std::collections::HashMap;

use rusqlite::params;

use super::execs::exec_row;
use super::reader::{Reader, operation_row};
use super::rows::{ExecEnds, ExecRow, LinkRow, OperationRow};
use super::schema::HAS_PACKS;
use super::tables::{COLLECTED, EXEC_OUTPUTS, EXECS, LINKS, OPERATIONS, SNAPSHOTS};
use super::writer::Writer;
use crate::error::StoreError;
use crate::id::Id;
use crate::object::Hash;

impl Reader<'_> {
    /// The root of every snapshot.
    pub fn snapshot_roots(&self) -> Result<HashMap<Id, Hash>, StoreError> {
        let rows = self.rows(&SNAPSHOTS, "", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.into_iter().collect())
    }

    /// The place of the newest operation in the log; 0 where there is none.
    pub fn last_operation_seq(&self) -> Result<i64, StoreError> {
        let found = self.one("SELECT max(seq) FROM operations", [], |row| row.get(0))?;
        Ok(found.flatten().unwrap_or(0))
    }

    /// The newest operation.
    pub fn last_operation_id(&self) -> Result<Option<Id>, StoreError> {
        self.one("SELECT id FROM operations ORDER BY seq DESC LIMIT 1", [], |row| row.get(0))
    }

    /// The ids of all operations, in their order.
    pub fn operation_ids(&self) -> Result<Vec<Id>, StoreError> {
        self.all("SELECT id FROM operations ORDER BY seq", [], |row| row.get(0))
    }

    /// How many layers were made after the one of this id, and their bytes; costs as much as there are.
    pub fn layers_after(&self, id: &Id) -> Result<(u64, u64), StoreError> {
        let sql = "SELECT count(*), coalesce(sum(bytes), 0) FROM layers WHERE id > ?1";
        let found = self.one(sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.unwrap_or_default())
    }

    /// Operations after place `after` in the log, oldest first.
    pub fn operations_after(&self, after: i64) -> Result<Vec<OperationRow>, StoreError> {
        self.rows(&OPERATIONS, "WHERE seq > ?1 ORDER BY seq", [after], operation_row)
    }

    /// The snapshots that commands name.
    pub fn exec_ends(&self) -> Result<Vec<ExecEnds>, StoreError> {
        if !self.has_execs()? {
            return Ok(Vec::new());
        }
        self.rows(&EXECS, "", [], |row| {
            let ExecRow { id, operation, before, after, .. } = exec_row(row)?;
            Ok(ExecEnds { id, operation, snapshots: before.into_iter().chain(after).collect() })
        })
    }

    /// The commands whose output is kept, and how long it is.
    pub fn kept_outputs(&self) -> Result<HashMap<Id, u64>, StoreError> {
        if !self.has_execs()? {
            return Ok(HashMap::new());
        }
        let sql = "SELECT exec, sum(length(bytes)) FROM exec_outputs GROUP BY exec";
        Ok(self.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect())
    }

    /// The commands whose output is kept, and by which of their streams.
    pub fn kept_streams(&self) -> Result<Vec<(Id, u8)>, StoreError> {
        if !self.has_execs()? {
            return Ok(Vec::new());
        }
        let sql = "SELECT exec, stream FROM exec_outputs ORDER BY exec, stream";
        self.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Every root whose hard links are remembered, with what is remembered of it where that is no longer than `short`.
    pub fn link_rows(&self, short: u32) -> Result<Vec<LinkRow>, StoreError> {
        if !self.has_execs()? {
            return Ok(Vec::new());
        }
        let sql = "SELECT root, CASE WHEN length(paths) <= ?1 THEN paths END FROM links";
        self.all(sql, [short], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// When a root, or the output of a command, was collected as garbage.
    pub fn collected(&self, id: &[u8]) -> Result<Option<u64>, StoreError> {
        if self.version()? < HAS_PACKS {
            return Ok(None);
        }
        self.row(&COLLECTED, "WHERE id = ?1", [id], |row| row.get(1))
    }

    /// Whether there is an object.
    pub fn has_object(&self, kind: crate::ObjectKind, id: &Hash) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM objects WHERE kind = ?1 AND id = ?2";
        Ok(self.one(sql, params![kind as u8, id], |_| Ok(()))?.is_some())
    }
}

impl Writer<'_> {
    /// Notes that a root, or the output of a command, is collected as garbage.
    pub fn add_collected(&mut self, id: &[u8], time_ms: u64) -> Result<(), StoreError> {
        self.replace(&COLLECTED, &[&id, &time_ms])
    }

    /// Forgets the hard links of a root.
    pub fn remove_links(&mut self, root: &Hash) -> Result<(), StoreError> {
        self.delete(&LINKS, "root = ?1", [root])
    }

    /// Forgets what a command wrote.
    pub fn remove_outputs(&mut self, exec: &Id) -> Result<(), StoreError> {
        self.delete(&EXEC_OUTPUTS, "exec = ?1", [exec])
    }
}
