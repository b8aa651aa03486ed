//! Changes to the catalog, under its write lock.

use std::ops::Deref;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, Params, params};

use super::reader::{AUDIT_HEAD, Reader, join_ids};
use super::rows::{LayerRow, NewOperation, RefChange, RefRow, SnapshotRow};
use super::sqlite_error;
use crate::{Hash, Id, StoreError, id};

/// Changes the catalog inside one transaction; reads see its own changes.
#[derive(Debug)]
pub struct Writer<'a> {
    reader: Reader<'a>,
    /// The time part of the newest id of the vault.
    last_id_ms: u64,
    gave_ids: bool,
}

impl<'a> Deref for Writer<'a> {
    type Target = Reader<'a>;

    fn deref(&self) -> &Reader<'a> {
        &self.reader
    }
}

impl<'a> Writer<'a> {
    pub(super) fn new(connection: &'a Connection, path: &'a Path) -> Result<Self, StoreError> {
        let reader = Reader::new(connection, path);
        let last = reader.meta("last_id_ms")?.and_then(|bytes| bytes.try_into().ok());
        Ok(Self { reader, last_id_ms: last.map_or(0, u64::from_be_bytes), gave_ids: false })
    }

    pub(super) fn finish(&mut self) -> Result<(), StoreError> {
        if self.gave_ids {
            self.set_meta("last_id_ms", &self.last_id_ms.to_be_bytes())?;
        }
        Ok(())
    }

    /// A new id, later than every id given in this vault before, whatever the clock says.
    pub fn new_id(&mut self) -> Id {
        self.last_id_ms = id::now_ms().max(self.last_id_ms + 1);
        self.gave_ids = true;
        Id::at(self.last_id_ms)
    }

    /// Sets a value of the `meta` table.
    pub fn set_meta(&mut self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO meta (key, value) VALUES (?1, ?2)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            params![key, value],
        )
    }

    /// Records a snapshot.
    pub fn add_snapshot(&mut self, row: &SnapshotRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO snapshots
             (id, root, content, parents, time_ms, actor, reason, message, operation)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                row.id,
                row.root,
                row.content,
                join_ids(&row.parents),
                row.time_ms,
                row.actor,
                row.reason,
                row.message,
                row.operation
            ],
        )
    }

    /// Changes refs, all of them or, on error, none: each must hold its state before.
    ///
    /// First all states before go, then all states after come, so that refs can trade names in one step.
    pub fn change_refs(&mut self, changes: &[RefChange]) -> Result<(), StoreError> {
        for change in changes {
            if self.get_ref(&change.key)? != change.before {
                return Err(StoreError::Stale {
                    kind: change.key.kind.clone(),
                    name: display_name(change),
                });
            }
            self.execute(
                "DELETE FROM refs WHERE kind = ?1 AND id = ?2",
                params![change.key.kind, change.key.id],
            )?;
        }
        for change in changes {
            if let Some(after) = &change.after {
                self.insert_ref(change, after)?;
            }
        }
        Ok(())
    }

    fn insert_ref(&mut self, change: &RefChange, after: &RefRow) -> Result<(), StoreError> {
        let key = &change.key;
        let inserted = self.connection.execute(
            "INSERT INTO refs (kind, id, scope, name, value) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![key.kind, key.id, after.scope, after.name, after.value],
        );
        match inserted {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Err(StoreError::NameTaken { kind: key.kind.clone(), name: display_name(change) })
            }
            other => other.map(drop).map_err(sqlite_error(self.path)),
        }
    }

    /// Appends an operation to the log.
    pub fn add_operation(&mut self, new: &NewOperation) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO operations
             (id, time_ms, actor, kind, scope, summary, reverts, changes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                new.id,
                new.time_ms,
                new.actor,
                new.kind,
                new.scope,
                new.summary,
                new.reverts,
                new.changes
            ],
        )
    }

    /// Appends an audit event; `chain` computes its hash from the one before (zeros for the first).
    pub fn add_audit(
        &mut self,
        time_ms: u64,
        operation: &Id,
        event: &str,
        chain: impl FnOnce(&Hash) -> Hash,
    ) -> Result<(), StoreError> {
        let before = self.audit_head()?.unwrap_or_default();
        let chain = chain(&before);
        self.execute(
            "INSERT INTO audit (time_ms, operation, event, chain) VALUES (?1, ?2, ?3, ?4)",
            params![time_ms, operation, event, chain],
        )?;
        self.set_meta(AUDIT_HEAD, &chain)
    }

    /// Records a sealed layer.
    pub fn add_layer(&mut self, row: &LayerRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO layers (id, kind, root, bytes, created_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![row.id, row.kind, row.root, row.bytes, row.created_ms],
        )
    }

    /// Forgets a layer that nothing names.
    pub fn remove_layer(&mut self, id: &Id) -> Result<(), StoreError> {
        self.execute("DELETE FROM layers WHERE id = ?1", params![id])
    }

    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(sqlite_error(self.path))?;
        statement.execute(params).map(drop).map_err(sqlite_error(self.path))
    }
}

fn display_name(change: &RefChange) -> String {
    let named = change.after.as_ref().or(change.before.as_ref());
    named.and_then(|row| row.name.clone()).unwrap_or_else(|| change.key.id.clone())
}
