//! Changes to the catalog, under its write lock.

use std::ops::Deref;
use std::path::Path;

use rusqlite::types::ToSql;
use rusqlite::{Connection, ErrorCode, Params};

use super::reader::{AUDIT_HEAD, Reader, join_ids};
use super::rows::{LayerRow, NewOperation, OperationRow, RefChange, RefRow, SnapshotRow};
use super::sums::{Ledger, TALLIES, Tally};
use super::tables::{AUDIT, LAYERS, META, OPERATIONS, REFS, SNAPSHOTS, Table};
use crate::error::{StoreError, sqlite_error};
use crate::id::{self, Id};
use crate::object::Hash;

/// Changes the catalog inside one transaction; reads see its own changes.
#[derive(Debug)]
pub struct Writer<'a> {
    reader: Reader<'a>,
    /// The time part of the newest id of the vault.
    last_id_ms: u64,
    gave_ids: bool,
    /// Puts rows in and takes them out.
    ledger: Ledger,
    /// The newest operation that was added.
    pub(super) newest: Option<Id>,
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
        let ledger = Ledger::open(connection, path)?;
        let last_id_ms = last.map_or(0, u64::from_be_bytes);
        Ok(Self { reader, last_id_ms, gave_ids: false, ledger, newest: None })
    }

    pub(super) fn finish(&mut self) -> Result<(), StoreError> {
        if self.gave_ids {
            self.set_meta("last_id_ms", &self.last_id_ms.to_be_bytes())?;
        }
        self.ledger.save(self.reader.connection).map_err(sqlite_error(self.path))
    }

    /// A new id, later than every id given in this vault before, whatever the clock says.
    pub fn new_id(&mut self) -> Id {
        self.last_id_ms = id::now_ms().max(self.last_id_ms.saturating_add(1));
        self.gave_ids = true;
        Id::at(self.last_id_ms)
    }

    /// Sets a value of the `meta` table.
    pub fn set_meta(&mut self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.replace(&META, &[&key, &value])
    }

    /// Forgets all values of the `meta` table but these.
    pub fn keep_meta(&mut self, keys: &[&str]) -> Result<(), StoreError> {
        let marks = vec!["?"; keys.len()].join(", ");
        // The row with the tallies is written by the ledger itself, and counts for none.
        let condition = format!("key NOT IN ({marks}) AND key != '{TALLIES}'");
        self.delete(&META, &condition, rusqlite::params_from_iter(keys))
    }

    /// Forgets all refs of a kind, without an operation: nothing brings them back.
    pub fn forget_refs(&mut self, kind: &str) -> Result<(), StoreError> {
        self.delete(&REFS, "kind = ?1", [kind])
    }

    /// Records an operation with other changes, in its place.
    pub fn set_changes(&mut self, row: &OperationRow, changes: &str) -> Result<(), StoreError> {
        let OperationRow { seq, operation: old } = row;
        self.replace(
            &OPERATIONS,
            &[
                seq,
                &old.id,
                &old.time_ms,
                &old.actor,
                &old.kind,
                &old.scope,
                &old.summary,
                &old.reverts,
                &changes,
            ],
        )
    }

    /// Records a snapshot.
    pub fn add_snapshot(&mut self, row: &SnapshotRow) -> Result<(), StoreError> {
        self.insert(
            &SNAPSHOTS,
            &[
                &row.id,
                &row.root,
                &row.content,
                &join_ids(&row.parents),
                &row.time_ms,
                &row.actor,
                &row.reason,
                &row.message,
                &row.operation,
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
            self.delete(&REFS, "kind = ?1 AND id = ?2", [&change.key.kind, &change.key.id])?;
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
        let inserted = self.ledger.insert(
            self.reader.connection,
            &REFS,
            &[&key.kind, &key.id, &after.scope, &after.name, &after.value],
        );
        match inserted {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Err(StoreError::NameTaken { kind: key.kind.clone(), name: display_name(change) })
            }
            other => other.map_err(sqlite_error(self.path)),
        }
    }

    /// Appends an operation to the log.
    pub fn add_operation(&mut self, new: &NewOperation) -> Result<(), StoreError> {
        let seq = self.last_operation_seq()? + 1;
        self.newest = Some(new.id);
        self.insert(
            &OPERATIONS,
            &[
                &seq,
                &new.id,
                &new.time_ms,
                &new.actor,
                &new.kind,
                &new.scope,
                &new.summary,
                &new.reverts,
                &new.changes,
            ],
        )
    }

    /// Appends an audit event; `chain` computes its hash from the one before (zeros for the first). Returns its number and that.
    pub fn add_audit(
        &mut self,
        time_ms: u64,
        operation: &Id,
        event: &str,
        chain: impl FnOnce(&Hash) -> Hash,
    ) -> Result<(u64, Hash), StoreError> {
        let before = self.audit_head()?.unwrap_or_default();
        let chain = chain(&before);
        let seq = self.last_audit_seq()? + 1;
        self.insert(&AUDIT, &[&seq, &time_ms, operation, &event, &chain])?;
        self.set_meta(AUDIT_HEAD, &chain)?;
        Ok((seq, chain))
    }

    /// Removes the audit events up to a place.
    pub fn prune_audit(&mut self, until: u64) -> Result<(), StoreError> {
        self.delete(&AUDIT, "seq <= ?1", [until])
    }

    /// Records a sealed layer.
    pub fn add_layer(&mut self, row: &LayerRow) -> Result<(), StoreError> {
        self.insert(&LAYERS, &[&row.id, &row.kind, &row.root, &row.bytes, &row.created_ms])
    }

    /// Forgets a layer that nothing names.
    pub fn remove_layer(&mut self, id: &Id) -> Result<(), StoreError> {
        self.delete(&LAYERS, "id = ?1", [id])
    }

    pub(super) fn set_tally(&mut self, table: &Table, tally: Tally) {
        self.ledger.set(table, tally);
    }

    /// Adds a row with its hash.
    pub(super) fn insert(
        &mut self,
        table: &Table,
        values: &[&dyn ToSql],
    ) -> Result<(), StoreError> {
        let inserted = self.ledger.insert(self.reader.connection, table, values);
        inserted.map_err(sqlite_error(self.path))
    }

    /// Adds a row in place of the one that has its key.
    pub(super) fn replace(
        &mut self,
        table: &Table,
        values: &[&dyn ToSql],
    ) -> Result<(), StoreError> {
        let replaced = self.ledger.replace(self.reader.connection, table, values);
        replaced.map_err(sqlite_error(self.path))
    }

    /// Removes the rows that meet a condition.
    pub(super) fn delete(
        &mut self,
        table: &Table,
        condition: &str,
        params: impl Params,
    ) -> Result<(), StoreError> {
        let deleted = self.ledger.delete(self.reader.connection, table, condition, params);
        deleted.map_err(sqlite_error(self.path))
    }
}

fn display_name(change: &RefChange) -> String {
    let named = change.after.as_ref().or(change.before.as_ref());
    named.and_then(|row| row.name.clone()).unwrap_or_else(|| change.key.id.clone())
}
