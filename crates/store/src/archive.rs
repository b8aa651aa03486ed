//! A whole vault as one SQLite file, to be carried elsewhere.
//!
//! It holds the tables of the catalog that are not about one machine's layers and packs, and a table of chunks: records of packs,
//! which the vault makes and reads.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, params};

use crate::catalog::Catalog;
use crate::catalog::options::OpenOptions;
use crate::catalog::schema::upgrade;
use crate::catalog::sums::Ledger;
use crate::catalog::tables::{LAYERS, LINKS, META, PACKS, STACKS, TABLES, Table};
use crate::error::{StoreError, from_io, from_sqlite};
use crate::object::{Hash, ObjectKind, Put};

/// "OffA": marks the file as ours.
const APPLICATION_ID: i64 = 0x4f66_6641;
/// The newest format of archives.
const NEWEST: i64 = 3;
/// The format that brought hashes of rows.
const HAS_SUMS: i64 = 3;

/// The tables of a catalog that are about one machine.
const LEFT_OUT: [&Table; 4] = [&LAYERS, &PACKS, &STACKS, &LINKS];

/// An archive being written, or one to be read.
#[derive(Debug)]
pub struct Archive {
    connection: Connection,
    path: PathBuf,
}

impl Archive {
    /// Starts an archive with one consistent state of a catalog. Nothing may be at `path`.
    pub fn create(path: &Path, catalog: &Catalog) -> Result<Self, StoreError> {
        catalog.copy_to(path)?;
        let mut archive = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // One that cannot be written may be of an older format.
        upgrade(&mut archive.connection, path, &OpenOptions::default())?;
        archive.batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
             BEGIN;
             DELETE FROM objects WHERE kind = 4;
             CREATE TABLE chunks (id BLOB PRIMARY KEY NOT NULL, record BLOB NOT NULL) STRICT;",
        )?;
        let mut ledger = Ledger::open(&archive.connection, path)?;
        for table in LEFT_OUT {
            archive.batch(&format!("DROP TABLE {}", table.name))?;
            ledger.clear(table);
        }
        ledger.save(&archive.connection).map_err(archive.error())?;
        Ok(archive)
    }

    /// The root of each snapshot in it.
    pub fn roots(&self) -> Result<Vec<Hash>, StoreError> {
        let mut statement =
            self.connection.prepare("SELECT root FROM snapshots").map_err(self.error())?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(self.error())?;
        rows.collect::<Result<_, _>>().map_err(self.error())
    }

    /// How many operations are in its log.
    pub fn operation_count(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM operations";
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(self.error())
    }

    /// Leaves out the objects of a kind for which `keep` says no.
    pub fn retain(&self, kind: ObjectKind, keep: impl Fn(&Hash) -> bool) -> Result<(), StoreError> {
        for id in self.ids(kind)? {
            if !keep(&id) {
                let sql = "DELETE FROM objects WHERE kind = ?1 AND id = ?2";
                let deleted = self.connection.execute(sql, params![kind as u8, id]);
                deleted.map_err(self.error())?;
            }
        }
        Ok(())
    }

    /// The ids of all objects of a kind, in order.
    pub fn ids(&self, kind: ObjectKind) -> Result<Vec<Hash>, StoreError> {
        let sql = "SELECT id FROM objects WHERE kind = ?1 ORDER BY id";
        let mut statement = self.connection.prepare_cached(sql).map_err(self.error())?;
        let rows = statement.query_map([kind as u8], |row| row.get(0)).map_err(self.error())?;
        rows.collect::<Result<_, _>>().map_err(self.error())
    }

    /// Says anew where the bytes of something are.
    pub fn replace(&self, put: &Put) -> Result<(), StoreError> {
        let sql = "UPDATE objects SET value = ?3 WHERE kind = ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(sql).map_err(self.error())?;
        let replaced = statement.execute(params![put.kind as u8, put.id, put.value]);
        replaced.map(drop).map_err(self.error())
    }

    /// Whether there is a chunk.
    pub fn has_chunk(&self, id: &Hash) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM chunks WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql).map_err(self.error())?;
        statement.exists([id]).map_err(self.error())
    }

    /// Adds a chunk that is not there yet.
    pub fn add_chunk(&self, id: &Hash, record: &[u8]) -> Result<(), StoreError> {
        let sql = "INSERT INTO chunks (id, record) VALUES (?1, ?2)";
        let mut statement = self.connection.prepare_cached(sql).map_err(self.error())?;
        statement.execute(params![id, record]).map(drop).map_err(self.error())
    }

    /// Makes it an archive, durably. The file can then be given its name.
    pub fn finish(self) -> Result<(), StoreError> {
        self.batch(&format!(
            "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {NEWEST}; COMMIT;"
        ))?;
        let Self { connection, path } = self;
        connection.close().map_err(|(_, error)| from_sqlite(&path, error))?;
        let synced = std::fs::File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(|error| from_io(&path, error))
    }

    /// Opens an archive to be read. What is no archive, is newer, or is not whole is an error.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let archive = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        if archive.number("application_id")? != APPLICATION_ID {
            return Err(StoreError::Foreign(path.to_owned()));
        }
        let found = archive.number("user_version")?;
        if found > NEWEST {
            return Err(StoreError::Newer { path: path.to_owned(), found, known: NEWEST });
        }
        archive.check()?;
        Ok(archive)
    }

    fn number(&self, name: &str) -> Result<i64, StoreError> {
        let value = self.connection.pragma_query_value(None, name, |row| row.get(0));
        value.map_err(self.error())
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
        let detail = lines.join("; ").replace('\n', "; ");
        Err(StoreError::Damaged { path: self.path.clone(), detail })
    }

    /// A value of the `meta` table.
    pub fn meta(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        use rusqlite::OptionalExtension;
        let sql = "SELECT value FROM meta WHERE key = ?1";
        self.connection.query_row(sql, [key], |row| row.get(0)).optional().map_err(self.error())
    }

    /// Sets a value of the `meta` table.
    pub fn set_meta(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        let mut ledger = Ledger::open(&self.connection, &self.path)?;
        let set = ledger.replace(&self.connection, &META, &[&key, &value]);
        set.and_then(|()| ledger.save(&self.connection)).map_err(self.error())
    }

    /// The values of all refs of a kind, with their ids.
    pub fn refs(&self, kind: &str) -> Result<Vec<(String, String)>, StoreError> {
        let sql = "SELECT id, value FROM refs WHERE kind = ?1";
        let mut statement = self.connection.prepare(sql).map_err(self.error())?;
        let rows = statement.query_map([kind], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.and_then(Iterator::collect).map_err(self.error())
    }

    /// Calls `visit` with every chunk, in order of ids.
    pub fn chunks<E: From<StoreError>>(
        &self,
        mut visit: impl FnMut(Hash, Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = "SELECT id, record FROM chunks ORDER BY id";
        let mut statement = self.connection.prepare(sql).map_err(self.error())?;
        let mut rows = statement.query([]).map_err(self.error())?;
        while let Some(row) = rows.next().map_err(self.error())? {
            let (id, record) =
                (row.get(0).map_err(self.error())?, row.get(1).map_err(self.error())?);
            visit(id, record)?;
        }
        Ok(())
    }

    /// Copies everything but the chunks into a new catalog.
    pub fn copy_into(&self, catalog: &Catalog) -> Result<(), StoreError> {
        let has_sums = self.number("user_version")? >= HAS_SUMS;
        let mut tables = vec![("objects", "kind, id, value".to_owned())];
        for table in
            TABLES.into_iter().filter(|table| !LEFT_OUT.iter().any(|out| out.name == table.name))
        {
            let hashed = table.apart.map(|(_, at)| table.columns[at]);
            let columns = table
                .columns
                .iter()
                .copied()
                .chain(["sum"])
                .chain(table.apart.map(|(name, _)| name));
            let columns =
                columns.filter(|name| has_sums || (*name != "sum" && Some(*name) != hashed));
            tables.push((table.name, columns.collect::<Vec<_>>().join(", ")));
        }
        catalog.fill_from(&self.path, &tables, has_sums)
    }

    fn connect(path: &Path, access: OpenFlags) -> Result<Self, StoreError> {
        // SQLite says only that it cannot open a file; the file system knows why.
        std::fs::File::open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => StoreError::Missing(path.to_owned()),
            _ => StoreError::Io { path: path.to_owned(), source: error },
        })?;
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags);
        let connection = connection.map_err(|error| from_sqlite(path, error))?;
        let archive = Self { connection, path: path.to_owned() };
        // Views and triggers of a file from elsewhere must not run anything.
        archive.batch("PRAGMA trusted_schema = OFF")?;
        Ok(archive)
    }

    fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(sql).map_err(self.error())
    }

    fn error(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        |source| from_sqlite(&self.path, source)
    }
}
