//! The catalog: snapshots, refs, operations, commands, audit events and layers of one vault, in SQLite.

mod carry;
pub(crate) mod connection;
mod execs;
mod extent;
mod failed;
mod garbage;
mod links;
pub(crate) mod options;
mod packs;
pub(crate) mod pool;
pub(crate) mod reader;
pub(crate) mod rows;
pub(crate) mod schema;
mod sessions;
mod shrink;
mod stacks;
pub(crate) mod sums;
pub(crate) mod tables;
mod turns;
mod verify;
pub(crate) mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use self::connection::{connect, log_path};
use self::options::OpenOptions;
use self::pool::Pool;
use self::reader::Reader;
use self::schema::upgrade;
use self::writer::Writer;
use crate::error::{StoreError, from_io};
use crate::id::Id;
use crate::newest::{self, CutShort};

/// A WAL longer than this, in bytes, is moved into the database file after a write.
const LONG_LOG: u64 = 512 << 10;

/// An open catalog. Reads see one consistent state; writes are `BEGIN IMMEDIATE` and durable when they return.
#[derive(Debug)]
pub struct Catalog {
    pool: Arc<Pool>,
}

impl Catalog {
    /// Makes a new catalog file of the newest format. Fails where one exists.
    pub fn create(path: &Path, options: OpenOptions) -> Result<Self, StoreError> {
        connection::create(path, &options)?;
        Self::open(path, options)
    }

    /// Opens a catalog, bringing an older format up to date unless it is opened for reading only.
    pub fn open(path: &Path, options: OpenOptions) -> Result<Self, StoreError> {
        let mut connection = connect(path, &options)?;
        upgrade(&mut connection, path, &options)?;
        let pool = Arc::new(Pool::new(path, options, connection));
        Ok(Self { pool })
    }

    /// Where the catalog is.
    pub fn path(&self) -> &Path {
        &self.pool.path
    }

    /// How it was opened.
    pub fn options(&self) -> &OpenOptions {
        &self.pool.options
    }

    /// Runs `work` over one consistent state of the catalog.
    pub fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.pool.take()?;
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Deferred)
            .map_err(|error| self.error(error))?;
        work(&Reader::new(&transaction, &self.pool.path))
    }

    /// Runs `work` with the write lock held and commits what it did. An error changes nothing, from `work` or from the catalog, but
    /// for [`StoreError::Undecided`].
    pub fn write<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let (_writing, mut connection) = (self.pool.turn(), self.pool.take()?);
        let (value, newest) = self.write_on(&mut connection, work)?;
        if let Some(operation) = newest {
            newest::note(&self.newest_path(), &operation);
        }
        Ok(value)
    }

    /// What the catalog has lost of what was acknowledged.
    pub fn cut_short(&self) -> Result<Option<CutShort>, StoreError> {
        // The note first: what is noted was durable before.
        let Some(acknowledged) = newest::read(&self.newest_path()) else { return Ok(None) };
        self.read(|reader| {
            if !reader.operations_between(&acknowledged, &acknowledged, 1)?.is_empty() {
                return Ok(None);
            }
            Ok(Some(CutShort { ends: reader.last_operation_id()?, acknowledged }))
        })
    }

    /// Accepts that what was noted as the newest operation is lost.
    pub fn accept_loss(&self) -> Result<(), StoreError> {
        let path = self.newest_path();
        let last = self.read(|reader| reader.last_operation_id())?;
        let done = match last {
            Some(last) => newest::replace(&path, &last),
            None => std::fs::remove_file(&path),
        };
        done.map_err(|error| from_io(&path, error))
    }

    fn newest_path(&self) -> PathBuf {
        self.pool.path.with_file_name(newest::FILE)
    }

    /// Gives what `work` gave, and the newest operation that it added.
    fn write_on<T, E: From<StoreError>>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, E>,
    ) -> Result<(T, Option<Id>), E> {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| self.error(error))?;
        let mut writer = Writer::new(&transaction, &self.pool.path)?;
        let value = work(&mut writer)?;
        writer.finish()?;
        let newest = writer.newest;
        if let Err(error) = transaction.commit() {
            return Err(self.failed_commit(connection, error).into());
        }
        self.shorten_log(connection);
        Ok((value, newest))
    }

    /// Like [`write`](Self::write), but durable only with the next one: nothing that is written after this is ever there
    /// without it, because the log becomes valid in the order in which it was written.
    pub fn write_ordered<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let (_writing, mut connection) = (self.pool.turn(), self.pool.take_ordered()?);
        let written = self.write_on(&mut connection, work);
        // An operation is not acknowledged by this, and not noted.
        Ok(written?.0)
    }

    /// Moves a long WAL into the database file and empties it. What is committed is safe either way, so failing to is fine.
    ///
    /// SQLite's own way is to write from the start of the WAL again once everything was moved. How much was moved stands only in
    /// the shared-memory file, though, and the first process to open a vault makes that anew: with one process after the other
    /// the WAL would only ever grow, be read whole by each of them, and be moved whole by each commit.
    fn shorten_log(&self, connection: &Connection) {
        let length =
            std::fs::metadata(log_path(&self.pool.path)).map_or(0, |metadata| metadata.len());
        if length > LONG_LOG {
            self.empty_log(connection);
        }
    }

    /// Moves the WAL into the database file if it became long, also by what was written past this catalog.
    pub fn shorten(&self) {
        let _writing = self.pool.turn();
        if let Ok(connection) = self.pool.take() {
            self.shorten_log(&connection);
        }
    }

    /// Moves the WAL into the database file, as far as nobody is in the way.
    fn empty_log(&self, connection: &Connection) {
        let shorten = || -> rusqlite::Result<()> {
            // Readers that are in the way are not waited for; the next write tries again.
            connection.busy_timeout(Duration::ZERO)?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        };
        drop(shorten());
        drop(connection.busy_timeout(self.pool.options.busy_timeout));
    }

    /// Asks SQLite to check the file; `Ok` means that it found nothing wrong.
    pub fn check(&self, thorough: bool) -> Result<(), StoreError> {
        let pragma = if thorough { "PRAGMA integrity_check(5)" } else { "PRAGMA quick_check(5)" };
        let connection = self.pool.take()?;
        let mut statement = connection.prepare(pragma).map_err(|error| self.error(error))?;
        let lines: Result<Vec<String>, _> =
            statement.query_map([], |row| row.get(0)).and_then(Iterator::collect);
        let lines = lines.map_err(|error| self.error(error))?;
        if lines == ["ok"] {
            return Ok(());
        }
        Err(StoreError::Damaged {
            path: self.pool.path.clone(),
            detail: lines.join("; ").replace('\n', "; "),
        })
    }

    /// The connections, for the objects that are in the same file.
    pub(crate) fn pool(&self) -> Arc<Pool> {
        self.pool.clone()
    }

    fn error(&self, source: rusqlite::Error) -> StoreError {
        self.pool.error(source)
    }
}

#[cfg(test)]
mod tests;
