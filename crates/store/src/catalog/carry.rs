//! Copying a catalog whole, and filling one from a copy.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, TransactionBehavior};

use super::{Catalog, sums};
use crate::error::{StoreError, from_sqlite};

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
    /// hashes they get some. Each value goes through a statement of this catalog, whose tables say what it may be: the other file
    /// is never a part of this database.
    pub(crate) fn fill_from(
        &self,
        other: &Connection,
        path: &Path,
        tables: &[(&str, Vec<&str>)],
        has_sums: bool,
    ) -> Result<(), StoreError> {
        let (_writing, mut connection) = (self.pool.turn(), self.pool.take()?);
        let mut copy = || -> rusqlite::Result<()> {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (table, columns) in tables {
                copy_table(other, &transaction, table, columns)?;
            }
            if !has_sums {
                sums::fill(&transaction)?;
            }
            transaction.commit()
        };
        // What does not fit into the tables is damage of the file that it comes from.
        copy().map_err(|error| match from_sqlite(path, error) {
            StoreError::Sqlite { path, source } => {
                StoreError::Damaged { path, detail: source.to_string() }
            }
            other => other,
        })
    }
}

fn copy_table(
    from: &Connection,
    to: &Connection,
    table: &str,
    columns: &[&str],
) -> rusqlite::Result<()> {
    to.execute(&format!("DELETE FROM {table}"), [])?;
    let (names, marks) = (columns.join(", "), vec!["?"; columns.len()].join(", "));
    let mut write = to.prepare(&format!("INSERT INTO {table} ({names}) VALUES ({marks})"))?;
    let mut read = from.prepare(&format!("SELECT {names} FROM {table}"))?;
    let mut rows = read.query([])?;
    while let Some(row) = rows.next()? {
        for at in 0..columns.len() {
            write.raw_bind_parameter(at + 1, ToSqlOutput::Borrowed(row.get_ref(at)?))?;
        }
        write.raw_execute()?;
    }
    Ok(())
}
