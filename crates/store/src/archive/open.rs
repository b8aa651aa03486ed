//! Opening an archive that anybody may have made.
//!
//! The file is looked at before SQLite is, and SQLite is told to trust nothing in it. What is defined in it must be what an export
//! defines: there is no view, trigger, virtual table or computed column that a read could run.

use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{
    APPLICATION_ID, Archive, CHUNKS, HAS_SESSIONS, LEFT_OUT, NEWEST, OBJECTS, carried, columns,
    is_of_sessions,
};
use crate::catalog::connection::immutable_uri;
use crate::catalog::schema::{self, SchemaRow};
use crate::catalog::tables::TABLES;
use crate::error::{StoreError, sqlite_error};

impl Archive {
    /// Opens an archive to be read. What is no archive, is newer, or is not whole is an error.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        require_file(path)?;
        // A journal or a log beside the file is no part of it: it is read as it is, and nothing is written there.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(immutable_uri(path), flags);
        let connection = connection.map_err(sqlite_error(path))?;
        distrust(&connection).map_err(sqlite_error(path))?;
        let archive = Self { connection, path: path.to_owned() };
        if archive.number("application_id")? != APPLICATION_ID {
            return Err(StoreError::Foreign(path.to_owned()));
        }
        let found = archive.number("user_version")?;
        if found > NEWEST {
            return Err(StoreError::Newer { path: path.to_owned(), found, known: NEWEST });
        }
        archive.check()?;
        archive.check_schema()?;
        Ok(archive)
    }

    fn check(&self) -> Result<(), StoreError> {
        let sql = "PRAGMA quick_check(3)";
        let checked: rusqlite::Result<Vec<String>> =
            self.connection.prepare(sql).and_then(|mut statement| {
                statement.query_map([], |row| row.get(0)).and_then(Iterator::collect)
            });
        let lines = checked.map_err(self.error())?;
        if lines == ["ok"] {
            return Ok(());
        }
        Err(self.damaged(lines.join("; ").replace('\n', "; ")))
    }

    /// Fails where something is defined otherwise than in an export of this format.
    fn check_schema(&self) -> Result<(), StoreError> {
        let expected = expected(self.version()?).map_err(self.error())?;
        let found = schema::found(&self.connection).map_err(self.error())?;
        let name = |row: &SchemaRow| (row.0.clone(), row.1.clone(), row.2.clone());
        let strange = found.iter().find(|row| !expected.iter().any(|it| name(it) == name(row)));
        if let Some((kind, name, ..)) = strange {
            let (kind, name) = (kind.escape_debug(), name.escape_debug());
            return Err(self.damaged(format!("it has {kind} {name}, which no export has")));
        }
        let has_sums = self.has_sums()?;
        for row in &expected {
            let (kind, name, _, text) = row;
            let it = found.iter().find(|it| it.0 == *kind && it.1 == *name);
            let same = it.is_some_and(|it| match kind.as_str() {
                // Tables of older formats have other texts; what is in them is compared below.
                "table" if !has_sums => is_plain_table(it.3.as_deref()),
                _ => it.3 == *text,
            });
            if !same {
                return Err(self.damaged(format!("its {kind} {name} is not that of an export")));
            }
        }
        if !has_sums {
            self.check_columns()?;
        }
        Ok(())
    }

    /// Fails where a table of an older format has other columns than it should, or one that is computed.
    fn check_columns(&self) -> Result<(), StoreError> {
        let objects = ("objects", OBJECTS.to_vec());
        let tables = carried(self.version()?).map(|table| (table.name, columns(table, false)));
        for (table, mut expected) in std::iter::once(objects).chain(tables) {
            let sql = format!("SELECT name, hidden FROM pragma_table_xinfo('{table}')");
            let read = || -> rusqlite::Result<Vec<(String, i64)>> {
                let mut statement = self.connection.prepare(&sql)?;
                let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                rows.collect()
            };
            let mut found = read().map_err(self.error())?;
            found.sort_unstable();
            expected.sort_unstable();
            let names = found.iter().map(|(name, _)| name.as_str());
            if !names.eq(expected) || found.iter().any(|(_, hidden)| *hidden != 0) {
                return Err(self.damaged(format!("its table {table} is not that of an export")));
            }
        }
        Ok(())
    }

    fn damaged(&self, detail: String) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), detail }
    }
}

/// Fails where there is something else than a file: opening a pipe would wait, and a device has no end.
fn require_file(path: &Path) -> Result<(), StoreError> {
    let io = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => StoreError::Missing(path.to_owned()),
        _ => StoreError::Io { path: path.to_owned(), source: error },
    };
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    // SQLite says only that it cannot open a file; the file system knows why.
    let file = std::fs::File::options().read(true).custom_flags(nonblocking).open(path);
    let kind = file.and_then(|file| file.metadata()).map_err(io)?.file_type();
    let what = match kind {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a named pipe",
        _ => "a device",
    };
    Err(io(io::Error::other(format!("it is {what}, not a file"))))
}

/// Tells SQLite that the file may have been made to do harm.
fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "mmap_size", 0)
}

/// Whether a table is neither virtual nor made from a query.
fn is_plain_table(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.starts_with("CREATE TABLE "))
}

/// What is defined in an archive of a format that has hashes of rows.
fn expected(version: i64) -> rusqlite::Result<Vec<SchemaRow>> {
    let connection = schema::newest()?;
    let unknown =
        TABLES.into_iter().filter(|table| version < HAS_SESSIONS && is_of_sessions(table));
    for table in LEFT_OUT.into_iter().chain(unknown) {
        connection.execute_batch(&format!("DROP TABLE {}", table.name))?;
    }
    connection.execute_batch(CHUNKS)?;
    schema::found(&connection)
}
