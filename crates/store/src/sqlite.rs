//! Objects in the catalog's own database file.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::catalog::Catalog;
use crate::catalog::pool::{Pool, Taken};
use crate::error::StoreError;
use crate::object::{Hash, ListedObject, ObjectBackend, ObjectKind, Put};

/// The SQLite object backend.
///
/// It shares the connections of the catalog; objects can be read while a transaction of the catalog is open. Its commits
/// are ordered but not synced: they go through the catalog's WAL, whose frames are valid only in order, so the
/// next synced commit of the catalog makes them durable. `flush` therefore has nothing left to do.
#[derive(Debug)]
pub struct SqliteBackend {
    pool: Arc<Pool>,
}

impl SqliteBackend {
    /// The objects of a catalog.
    pub fn new(catalog: &Catalog) -> Self {
        Self { pool: catalog.pool() }
    }

    fn take(&self) -> Result<Taken<'_>, StoreError> {
        self.pool.take()
    }

    fn error(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        |source| self.pool.error(source)
    }

    /// Runs `work` in one transaction.
    fn change(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let (_turn, mut connection) = (self.pool.turn_in_time()?, self.pool.take_ordered()?);
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(self.error())?;
        work(&transaction).map_err(self.error())?;
        transaction.commit().map_err(self.error())
    }
}

impl ObjectBackend for SqliteBackend {
    fn get(&self, kind: ObjectKind, id: &Hash) -> Result<Option<Vec<u8>>, StoreError> {
        let connection = self.take()?;
        let mut statement = connection
            .prepare_cached("SELECT value FROM objects WHERE kind = ?1 AND id = ?2")
            .map_err(self.error())?;
        statement
            .query_row(params![kind as u8, id], |row| row.get(0))
            .optional()
            .map_err(self.error())
    }

    fn contains(&self, kind: ObjectKind, id: &Hash) -> Result<bool, StoreError> {
        let connection = self.take()?;
        let mut statement = connection
            .prepare_cached("SELECT 1 FROM objects WHERE kind = ?1 AND id = ?2")
            .map_err(self.error())?;
        statement.exists(params![kind as u8, id]).map_err(self.error())
    }

    fn put(&self, batch: &[Put]) -> Result<(), StoreError> {
        if batch.is_empty() {
            return Ok(());
        }
        // In key order the index grows at one edge at a time; out of order a large batch takes several times longer.
        let mut sorted: Vec<&Put> = batch.iter().collect();
        sorted.sort_unstable_by_key(|put| (put.kind, put.id));
        self.change(|connection| {
            let mut statement = connection.prepare_cached(
                "INSERT INTO objects (kind, id, value) VALUES (?1, ?2, ?3)
                 ON CONFLICT (kind, id) DO NOTHING",
            )?;
            for put in sorted {
                statement.execute(params![put.kind as u8, put.id, put.value])?;
            }
            Ok(())
        })
    }

    fn replace(&self, batch: &[Put]) -> Result<(), StoreError> {
        self.change(|connection| {
            let mut statement = connection.prepare_cached(
                "INSERT INTO objects (kind, id, value) VALUES (?1, ?2, ?3)
                 ON CONFLICT (kind, id) DO UPDATE SET value = excluded.value",
            )?;
            for put in batch {
                statement.execute(params![put.kind as u8, put.id, put.value])?;
            }
            Ok(())
        })
    }

    fn remove(&self, kind: ObjectKind, ids: &[Hash]) -> Result<(), StoreError> {
        self.change(|connection| {
            let mut statement =
                connection.prepare_cached("DELETE FROM objects WHERE kind = ?1 AND id = ?2")?;
            for id in ids {
                statement.execute(params![kind as u8, id])?;
            }
            Ok(())
        })
    }

    fn list(
        &self,
        kind: ObjectKind,
        after: Option<&Hash>,
        limit: usize,
    ) -> Result<Vec<Hash>, StoreError> {
        let connection = self.take()?;
        let mut statement = connection
            .prepare_cached(
                "SELECT id FROM objects WHERE kind = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
            )
            .map_err(self.error())?;
        let after: &[u8] = after.map_or(&[], |id| id.as_slice());
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement
            .query_map(params![kind as u8, after, limit], |row| row.get(0))
            .map_err(self.error())?;
        rows.collect::<Result<_, _>>().map_err(self.error())
    }

    fn list_values(
        &self,
        kind: ObjectKind,
        after: Option<&Hash>,
        limit: usize,
        start: usize,
    ) -> Result<Vec<ListedObject>, StoreError> {
        let connection = self.take()?;
        let mut statement = connection
            .prepare_cached(
                "SELECT id, length(value), substr(value, 1, ?4) FROM objects
                 WHERE kind = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
            )
            .map_err(self.error())?;
        let after: &[u8] = after.map_or(&[], |id| id.as_slice());
        let whole = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let rows = statement
            .query_map(params![kind as u8, after, whole(limit), whole(start)], |row| {
                Ok(ListedObject { id: row.get(0)?, length: row.get(1)?, start: row.get(2)? })
            })
            .map_err(self.error())?;
        rows.collect::<Result<_, _>>().map_err(self.error())
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpenOptions, conformance};

    #[test]
    fn a_lock_that_is_never_freed_is_our_own_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
        let hasty = OpenOptions {
            busy_timeout: std::time::Duration::from_millis(50),
            ..OpenOptions::default()
        };
        let backend = SqliteBackend::new(&Catalog::open(&path, hasty).unwrap());
        let put = Put { kind: ObjectKind::Blob, id: [1; 32], value: vec![0] };
        catalog
            .write(|_| {
                let busy = backend.put(&[put]);
                assert!(matches!(busy, Err(StoreError::Busy { .. })), "{busy:?}");
                Ok::<(), StoreError>(())
            })
            .unwrap();
    }

    #[test]
    fn keeps_the_contract() {
        let mut folders = Vec::new();
        let outcome = conformance::check(|| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("catalog.db");
            folders.push(folder);
            let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
            Box::new(SqliteBackend::new(&catalog))
        });
        assert_eq!(outcome, Ok(()));
    }
}
