//! A whole vault as one SQLite file, to be carried elsewhere.
//!
//! It holds the tables of the catalog that are not about one machine's layers and packs, and a table of chunks: records of packs,
//! which the vault makes and reads.

mod open;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, params};

use crate::catalog::Catalog;
use crate::catalog::options::OpenOptions;
use crate::catalog::schema::{self, upgrade};
use crate::catalog::sums::Ledger;
use crate::catalog::tables::{LAYERS, LINKS, META, PACKS, REFS, STACKS, TABLES, Table};
use crate::error::{StoreError, from_io, from_sqlite};
use crate::object::{Hash, ObjectKind, Put};

/// "OffA": marks the file as ours.
const APPLICATION_ID: i64 = 0x4f66_6641;
/// The newest format of archives.
const NEWEST: i64 = 4;
/// The format that brought hashes of rows.
const HAS_SUMS: i64 = 3;
/// The format that brought sessions.
const HAS_SESSIONS: i64 = 4;

/// The tables of a catalog that are about one machine.
const LEFT_OUT: [&Table; 4] = [&LAYERS, &PACKS, &STACKS, &LINKS];

/// The table that a catalog does not have.
const CHUNKS: &str =
    "CREATE TABLE chunks (id BLOB PRIMARY KEY NOT NULL, record BLOB NOT NULL) STRICT;";

/// An archive being written, or one to be read.
#[derive(Debug)]
pub struct Archive {
    connection: Connection,
    path: PathBuf,
}

impl Archive {
    /// Starts an archive with one consistent state of a catalog, without refs of this kind: no byte of them is in the file. Nothing may be at `path`.
    pub fn create(path: &Path, catalog: &Catalog, without: &str) -> Result<Self, StoreError> {
        catalog.copy_to(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags);
        let connection = connection.map_err(|error| from_sqlite(path, error))?;
        let mut archive = Self { connection, path: path.to_owned() };
        // One that cannot be written may be of an older format.
        upgrade(&mut archive.connection, path, &OpenOptions::default())?;
        archive.batch(&format!(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON;
             BEGIN;
             DELETE FROM objects WHERE kind = 4;
             {CHUNKS}"
        ))?;
        let mut ledger = Ledger::open(&archive.connection, path)?;
        let left_out = ledger.delete(&archive.connection, &REFS, "kind = ?1", [without]);
        left_out.map_err(archive.error())?;
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

    /// What sessions keep: hashes and lengths.
    pub fn session_contents(&self) -> Result<Vec<(Hash, u64)>, StoreError> {
        let sql = "SELECT content, bytes FROM session_contents";
        let mut statement = self.connection.prepare(sql).map_err(self.error())?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.and_then(Iterator::collect).map_err(self.error())
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

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
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

    /// The names, if they have some, and values of all refs of a kind, after their ids.
    pub fn refs(&self, kind: &str) -> Result<Vec<(String, Option<String>, String)>, StoreError> {
        let sql = "SELECT id, name, value FROM refs WHERE kind = ?1";
        let mut statement = self.connection.prepare(sql).map_err(self.error())?;
        let rows = statement.query_map([kind], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
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

    /// Calls `visit` with every object: its kind as it is recorded, its id and what is recorded of it.
    pub fn objects<E: From<StoreError>>(
        &self,
        mut visit: impl FnMut(i64, Hash, Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = "SELECT kind, id, value FROM objects";
        let mut statement = self.connection.prepare(sql).map_err(self.error())?;
        let mut rows = statement.query([]).map_err(self.error())?;
        while let Some(row) = rows.next().map_err(self.error())? {
            let kind = row.get(0).map_err(self.error())?;
            let (id, value) =
                (row.get(1).map_err(self.error())?, row.get(2).map_err(self.error())?);
            visit(kind, id, value)?;
        }
        Ok(())
    }

    /// Copies everything but the chunks into a new catalog.
    pub fn copy_into(&self, catalog: &Catalog) -> Result<(), StoreError> {
        let has_sums = self.has_sums()?;
        let tables = carried(self.version()?).map(|table| (table.name, columns(table, has_sums)));
        let objects = ("objects", OBJECTS.to_vec());
        let tables: Vec<_> = std::iter::once(objects).chain(tables).collect();
        catalog.fill_from(&self.connection, &self.path, &tables, has_sums)
    }

    fn has_sums(&self) -> Result<bool, StoreError> {
        Ok(self.version()? >= HAS_SUMS)
    }

    fn version(&self) -> Result<i64, StoreError> {
        self.number("user_version")
    }

    fn number(&self, name: &str) -> Result<i64, StoreError> {
        let value = self.connection.pragma_query_value(None, name, |row| row.get(0));
        value.map_err(self.error())
    }

    fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(sql).map_err(self.error())
    }

    fn error(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        |source| from_sqlite(&self.path, source)
    }
}

/// The columns of the table of objects, whose rows are covered by their ids.
const OBJECTS: [&str; 3] = ["kind", "id", "value"];

/// The tables of a catalog that an archive of a format has too, but for that of objects.
fn carried(version: i64) -> impl Iterator<Item = &'static Table> {
    let known = move |table: &&Table| version >= HAS_SESSIONS || !is_of_sessions(table);
    let stays = |table: &&Table| !LEFT_OUT.iter().any(|out| out.name == table.name);
    TABLES.into_iter().filter(stays).filter(known)
}

/// Whether a table came with sessions.
fn is_of_sessions(table: &Table) -> bool {
    table.since >= schema::HAS_SESSIONS
}

/// The columns that a table has in an archive with hashes of rows, or in an older one.
fn columns(table: &Table, has_sums: bool) -> Vec<&'static str> {
    let hashed = table.apart.map(|(_, at)| table.columns[at]);
    let names = table.columns.iter().copied().chain(["sum"]);
    let names = names.chain(table.apart.map(|(name, _)| name));
    names.filter(|name| has_sums || (*name != "sum" && Some(*name) != hashed)).collect()
}
