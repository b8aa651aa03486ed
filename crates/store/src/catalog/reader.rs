//! Queries over one consistent state.

use std::cell::Cell;
use std::path::Path;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::rows::{
    AuditRow, AuditSeen, AuditUntil, LayerRow, NewOperation, OperationRow, RefKey, RefRow,
    SnapshotRow,
};
use super::schema::{HAS_DATA_LAYERS, HAS_SUMS};
use super::sums;
use super::tables::{AUDIT, LAYERS, META, OPERATIONS, REFS, SNAPSHOTS, Table};
use crate::error::{StoreError, sqlite_error};
use crate::id::Id;
use crate::object::Hash;

/// Reads one consistent state of the catalog.
#[derive(Debug)]
pub struct Reader<'a> {
    pub(super) connection: &'a Connection,
    pub(super) path: &'a Path,
    /// The format, once it was asked for.
    version: Cell<Option<i64>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(connection: &'a Connection, path: &'a Path) -> Self {
        Self { connection, path, version: Cell::new(None) }
    }

    /// A value of the `meta` table.
    pub fn meta(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.row(&META, "WHERE key = ?1", [key], |row| row.get(1))
    }

    /// A snapshot by its id.
    pub fn snapshot(&self, id: &Id) -> Result<Option<SnapshotRow>, StoreError> {
        self.row(&SNAPSHOTS, "WHERE id = ?1", [id], snapshot_row)
    }

    /// The ids of all snapshots, oldest first.
    pub fn snapshot_ids(&self) -> Result<Vec<Id>, StoreError> {
        self.all("SELECT id FROM snapshots ORDER BY id", [], |row| row.get(0))
    }

    /// Whether any snapshot is of this state.
    pub fn has_snapshot_of(&self, root: &Hash) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM snapshots WHERE root = ?1 LIMIT 1";
        Ok(self.one(sql, [root], |row| row.get::<_, i64>(0))?.is_some())
    }

    /// The ids of snapshots between two ids, both included; at most `limit`.
    pub fn snapshots_between(
        &self,
        low: &Id,
        high: &Id,
        limit: u32,
    ) -> Result<Vec<Id>, StoreError> {
        let sql = "SELECT id FROM snapshots WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
        self.all(sql, params![low, high, limit], |row| row.get(0))
    }

    /// The state of a ref.
    pub fn get_ref(&self, key: &RefKey) -> Result<Option<RefRow>, StoreError> {
        let found = self.row(&REFS, "WHERE kind = ?1 AND id = ?2", [&key.kind, &key.id], keyed_ref);
        Ok(found?.map(|(_, row)| row))
    }

    /// The ref of a kind that has this name in this scope.
    pub fn ref_by_name(
        &self,
        kind: &str,
        scope: &str,
        name: &str,
    ) -> Result<Option<(RefKey, RefRow)>, StoreError> {
        let named = "WHERE kind = ?1 AND scope = ?2 AND name = ?3";
        self.row(&REFS, named, [kind, scope, name], keyed_ref)
    }

    /// All refs of a kind, by id.
    pub fn refs(&self, kind: &str) -> Result<Vec<(RefKey, RefRow)>, StoreError> {
        self.rows(&REFS, "WHERE kind = ?1 ORDER BY id", [kind], keyed_ref)
    }

    /// All refs there are, by kind and id.
    pub fn all_refs(&self) -> Result<Vec<(RefKey, RefRow)>, StoreError> {
        self.rows(&REFS, "ORDER BY kind, id", [], keyed_ref)
    }

    /// An operation by its id.
    pub fn operation(&self, id: &Id) -> Result<Option<OperationRow>, StoreError> {
        self.row(&OPERATIONS, "WHERE id = ?1", [id], operation_row)
    }

    /// The ids of operations between two ids, both included; at most `limit`.
    pub fn operations_between(
        &self,
        low: &Id,
        high: &Id,
        limit: u32,
    ) -> Result<Vec<Id>, StoreError> {
        let sql = "SELECT id FROM operations WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
        self.all(sql, params![low, high, limit], |row| row.get(0))
    }

    /// Operations before place `before` in the log, newest first, at most `limit`; of one scope or of all.
    pub fn operations(
        &self,
        scope: Option<&str>,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<OperationRow>, StoreError> {
        self.operation_records(scope, before, limit)?.into_iter().collect()
    }

    /// The same, with an error in the place of each one that is damaged.
    pub fn operation_records(
        &self,
        scope: Option<&str>,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Result<OperationRow, StoreError>>, StoreError> {
        let before = before.unwrap_or(i64::MAX);
        match scope {
            Some(scope) => {
                let which = "WHERE scope = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3";
                self.records(&OPERATIONS, which, params![scope, before, limit], operation_row)
            }
            None => {
                let which = "WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2";
                self.records(&OPERATIONS, which, params![before, limit], operation_row)
            }
        }
    }

    /// The ids of the refs of a kind by the newest operation of which they are the scope, newest first. Each costs one look
    /// into an index, however long the log is.
    pub fn recently_used(&self, kind: &str) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT id FROM refs WHERE kind = ?1 ORDER BY
                   (SELECT max(seq) FROM operations WHERE scope = refs.id) DESC, id DESC";
        self.all(sql, [kind], |row| row.get(0))
    }

    /// How many operations there are.
    pub fn operation_count(&self) -> Result<u64, StoreError> {
        let count = self.one("SELECT count(*) FROM operations", [], |row| row.get(0))?;
        Ok(count.unwrap_or(0))
    }

    /// Audit events after place `after`, oldest first, at most `limit`.
    pub fn audit(&self, after: i64, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        let which = "WHERE seq > ?1 ORDER BY seq LIMIT ?2";
        self.rows(&AUDIT, which, params![after, limit], audit_row)
    }

    /// Audit events before place `before`, newest first, at most `limit`.
    pub fn audit_before(&self, before: i64, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        let which = "WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2";
        self.rows(&AUDIT, which, params![before, limit], audit_row)
    }

    /// Shows all audit events, oldest first, until somebody has seen enough.
    pub fn each_audit_event(
        &self,
        mut see: impl FnMut(&AuditSeen<'_>) -> bool,
    ) -> Result<(), StoreError> {
        let error = || sqlite_error(self.path);
        let has_sums = self.has_sums()?;
        let sql = format!("{} ORDER BY seq", self.select(&AUDIT, false)?);
        let mut statement = self.connection.prepare_cached(&sql).map_err(error())?;
        let mut rows = statement.query([]).map_err(error())?;
        while let Some(row) = rows.next().map_err(error())? {
            let is_intact = !has_sums || sums::verify(&AUDIT, row, self.path).is_ok();
            let mut seen = || -> rusqlite::Result<bool> {
                Ok(see(&AuditSeen {
                    seq: row.get(0)?,
                    time_ms: row.get(1)?,
                    operation: row.get(2)?,
                    event: row.get_ref(3)?.as_str()?,
                    chain: row.get(4)?,
                    is_intact,
                }))
            };
            if !seen().map_err(error())? {
                break;
            }
        }
        Ok(())
    }

    /// The newest audit event of before a time, and how many there are until it; never the newest of all. Nothing where there is none.
    pub fn audit_until(&self, before_ms: u64) -> Result<Option<AuditUntil>, StoreError> {
        // Clocks go back: what counts is the first event that is not of before then.
        let sql = "SELECT min(seq) FROM audit WHERE time_ms >= ?1";
        let before_ms = i64::try_from(before_ms).unwrap_or(i64::MAX);
        let stop: Option<i64> = self.one(sql, [before_ms], |row| row.get(0))?.flatten();
        let last = i64::try_from(self.last_audit_seq()?).unwrap_or(i64::MAX);
        let stop = stop.unwrap_or(last).min(last);
        let which = "WHERE seq < ?1 ORDER BY seq DESC LIMIT 1";
        let Some(row) = self.row(&AUDIT, which, [stop], audit_row)? else { return Ok(None) };
        let sql = "SELECT count(*) FROM audit WHERE seq <= ?1";
        let count = self.one(sql, [row.seq], |row| row.get(0))?.unwrap_or(0);
        Ok(Some(AuditUntil { seq: row.seq.unsigned_abs(), chain: row.chain, count }))
    }

    /// How many operations have no audit event, of those that are no older than the first one.
    pub fn unaudited_operations(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM operations WHERE id NOT IN (SELECT operation FROM audit)
                   AND id >= coalesce((SELECT operation FROM audit ORDER BY seq LIMIT 1), x'')";
        Ok(self.one(sql, [], |row| row.get(0))?.unwrap_or(0))
    }

    /// The number of the newest audit event; 0 where there is none.
    pub fn last_audit_seq(&self) -> Result<u64, StoreError> {
        let last =
            self.one("SELECT max(seq) FROM audit", [], |row| row.get::<_, Option<u64>>(0))?;
        Ok(last.flatten().unwrap_or(0))
    }

    /// The audit event of an operation.
    pub fn audit_of(&self, operation: &Id) -> Result<Option<String>, StoreError> {
        let sql = "SELECT event FROM audit WHERE operation = ?1 ORDER BY seq DESC LIMIT 1";
        self.one(sql, [operation], |row| row.get(0))
    }

    /// The chain after the newest audit event, which is kept apart from the events: without it nobody would miss the
    /// last of them.
    pub fn audit_head(&self) -> Result<Option<Hash>, StoreError> {
        self.row(&META, "WHERE key = ?1", [AUDIT_HEAD], |row| row.get(1))
    }

    /// All sealed layers, oldest first.
    pub fn layers(&self) -> Result<Vec<LayerRow>, StoreError> {
        self.rows(&LAYERS, "ORDER BY id", [], layer_row)
    }

    /// A sealed layer by its id.
    pub fn layer(&self, id: &Id) -> Result<Option<LayerRow>, StoreError> {
        self.row(&LAYERS, "WHERE id = ?1", [id], layer_row)
    }

    /// The format of the catalog: one that cannot be written stays as old as it is.
    pub(super) fn version(&self) -> Result<i64, StoreError> {
        if let Some(version) = self.version.get() {
            return Ok(version);
        }
        let version = self.connection.pragma_query_value(None, "user_version", |row| row.get(0));
        let version = version.map_err(sqlite_error(self.path))?;
        self.version.set(Some(version));
        Ok(version)
    }

    /// Whether rows carry hashes.
    pub(super) fn has_sums(&self) -> Result<bool, StoreError> {
        Ok(self.version()? >= HAS_SUMS)
    }

    /// The one row of a table that meets a condition, verified. `map` finds the columns in the table's order, then the hash,
    /// then what is kept apart.
    pub(super) fn row<T>(
        &self,
        table: &Table,
        which: &str,
        params: impl Params,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.rows(table, which, params, map)?.pop())
    }

    /// The rows of a table that meet a condition, verified; one that is damaged is an error.
    pub(super) fn rows<T>(
        &self,
        table: &Table,
        which: &str,
        params: impl Params,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.records(table, which, params, map)?.into_iter().collect()
    }

    /// The same, with an error in the place of each one that is damaged.
    pub(super) fn records<T>(
        &self,
        table: &Table,
        which: &str,
        params: impl Params,
        mut map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<Result<T, StoreError>>, StoreError> {
        let mut found = Vec::new();
        self.visit(table, false, which, params, |row, verified| {
            found.push(verified.and_then(|_| map(row).map_err(sqlite_error(self.path))));
        })?;
        Ok(found)
    }

    /// Calls `visit` with every row of a table that meets a condition, and with its hash or what is wrong with it. What is
    /// kept apart is read, and verified, only where it is asked for.
    pub(super) fn visit(
        &self,
        table: &Table,
        apart: bool,
        which: &str,
        params: impl Params,
        mut visit: impl FnMut(&Row<'_>, Result<Hash, StoreError>),
    ) -> Result<(), StoreError> {
        if self.version()? < table.since {
            return Ok(());
        }
        let has_sums = self.has_sums()?;
        let sql = format!("{} {which}", self.select(table, apart)?);
        let mut statement =
            self.connection.prepare_cached(&sql).map_err(sqlite_error(self.path))?;
        let mut rows = statement.query(params).map_err(sqlite_error(self.path))?;
        while let Some(row) = rows.next().map_err(sqlite_error(self.path))? {
            let verified = match has_sums {
                true => sums::verify(table, row, self.path).and_then(|sum| match apart {
                    true => sums::verify_apart(table, row, self.path).map(|()| sum),
                    false => Ok(sum),
                }),
                false => Ok(Hash::default()),
            };
            visit(row, verified);
        }
        Ok(())
    }

    /// The columns of a table, their hash and, where it is asked for, what is kept apart. What an older format lacks is empty.
    fn select(&self, table: &Table, apart: bool) -> Result<String, StoreError> {
        let version = self.version()?;
        let column = |name: &&'static str| match *name {
            "data" if version < HAS_DATA_LAYERS => "x''",
            "envelope_sum" | "sum" if version < HAS_SUMS => "x''",
            name => name,
        };
        let apart = table.apart.map(|(name, _)| name).filter(|_| apart);
        let columns: Vec<&str> =
            table.columns.iter().chain(&["sum"]).map(column).chain(apart).collect();
        Ok(format!("SELECT {} FROM {}", columns.join(", "), table.name))
    }

    pub(super) fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(sqlite_error(self.path))?;
        statement.query_row(params, map).optional().map_err(sqlite_error(self.path))
    }

    pub(super) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(sqlite_error(self.path))?;
        let rows = statement.query_map(params, map).map_err(sqlite_error(self.path))?;
        rows.collect::<Result<_, _>>().map_err(sqlite_error(self.path))
    }
}

/// The key of the `meta` table that holds the chain after the newest audit event.
pub(super) const AUDIT_HEAD: &str = "audit_head";

fn audit_row(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    Ok(AuditRow {
        seq: row.get(0)?,
        time_ms: row.get(1)?,
        operation: row.get(2)?,
        event: row.get(3)?,
        chain: row.get(4)?,
    })
}

fn layer_row(row: &Row<'_>) -> rusqlite::Result<LayerRow> {
    Ok(LayerRow {
        id: row.get(0)?,
        kind: row.get(1)?,
        root: row.get(2)?,
        bytes: row.get(3)?,
        created_ms: row.get(4)?,
    })
}

pub(super) fn operation_row(row: &Row<'_>) -> rusqlite::Result<OperationRow> {
    let operation = NewOperation {
        id: row.get(1)?,
        time_ms: row.get(2)?,
        actor: row.get(3)?,
        kind: row.get(4)?,
        scope: row.get(5)?,
        summary: row.get(6)?,
        reverts: row.get(7)?,
        changes: row.get(8)?,
    };
    Ok(OperationRow { seq: row.get(0)?, operation })
}

fn snapshot_row(row: &Row<'_>) -> rusqlite::Result<SnapshotRow> {
    let parents: Vec<u8> = row.get(3)?;
    Ok(SnapshotRow {
        id: row.get(0)?,
        root: row.get(1)?,
        content: row.get(2)?,
        parents: split_ids(&parents),
        time_ms: row.get(4)?,
        actor: row.get(5)?,
        reason: row.get(6)?,
        message: row.get(7)?,
        operation: row.get(8)?,
    })
}

fn keyed_ref(row: &Row<'_>) -> rusqlite::Result<(RefKey, RefRow)> {
    let key = RefKey { kind: row.get(0)?, id: row.get(1)? };
    Ok((key, RefRow { scope: row.get(2)?, name: row.get(3)?, value: row.get(4)? }))
}

pub(super) fn split_ids(bytes: &[u8]) -> Vec<Id> {
    let (ids, _) = bytes.as_chunks::<16>();
    ids.iter().map(|bytes| Id::from_bytes(*bytes)).collect()
}

pub(super) fn join_ids(ids: &[Id]) -> Vec<u8> {
    ids.iter().flat_map(|id| *id.as_bytes()).collect()
}

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.as_bytes())))
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?;
        let bytes = bytes.try_into().map_err(|_| FromSqlError::InvalidBlobSize {
            expected_size: 16,
            blob_size: bytes.len(),
        })?;
        Ok(Self::from_bytes(bytes))
    }
}
