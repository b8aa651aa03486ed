//! Copying a catalog whole, and filling one from a copy.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rusqlite::TransactionBehavior;

use super::{Catalog, sums};
use crate::error::{StoreError, from_sqlite, sqlite_error};

impl Catalog {
    /// Writes one consistent state to a new file. Others can go on writing meanwhile.
    pub(crate) fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        // A plain file of the newest format, whatever the log of the source holds.
        let connection = self.pool.take()?;
        let copied = connection
            .prepare("VACUUM INTO CAST(?1 AS TEXT)")
            .and_then(|mut statement| statement.execute([path.as_os_str().as_bytes()]));
        copied.map(drop).map_err(|error| match from_sqlite(path, error) {
            // SQLite tells no more than that.
            StoreError::Io { .. } | StoreError::Foreign(_) => StoreError::ReadOnly(path.to_owned()),
            other => other,
        })
    }

    /// Copies tables of another file into this new catalog, which is emptied of what it has in them. Where rows there have no
    /// hashes they get some.
    pub(crate) fn fill_from(
        &self,
        path: &Path,
        tables: &[(&str, String)],
        has_sums: bool,
    ) -> Result<(), StoreError> {
        let (_writing, mut connection) = (self.pool.turn(), self.pool.take()?);
        let attach = connection
            .prepare("ATTACH CAST(?1 AS TEXT) AS archive")
            .and_then(|mut statement| statement.execute([path.as_os_str().as_bytes()]));
        attach.map_err(sqlite_error(path))?;
        let mut copy = || -> rusqlite::Result<()> {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (table, columns) in tables {
                transaction.execute_batch(&format!(
                    "DELETE FROM main.{table};
                     INSERT INTO main.{table} ({columns}) SELECT {columns} FROM archive.{table}"
                ))?;
            }
            if !has_sums {
                sums::fill(&transaction)?;
            }
            transaction.commit()
        };
        // What does not fit into the tables is damage of the file that it comes from.
        let copied = copy().map_err(|error| match from_sqlite(path, error) {
            StoreError::Sqlite { path, source } => {
                StoreError::Damaged { path, detail: source.to_string() }
            }
            other => other,
        });
        let detached = connection.execute_batch("DETACH archive").map_err(sqlite_error(path));
        copied.and(detached)
    }
}
