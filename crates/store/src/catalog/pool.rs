//! The connections of one process to a catalog.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::connection::{Sync, connect};
use super::{OpenOptions, busy_or};
use crate::StoreError;

/// How many connections that nobody uses are kept open.
const IDLE: usize = 16;

/// The connections of one process to a catalog: whoever needs one takes a free one, or opens another. Opening one reads the whole
/// schema, so a thread that does one thing after the other has one, and nobody waits for somebody else's.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Where the catalog is.
    pub(super) path: PathBuf,
    /// How it was opened.
    pub(super) options: OpenOptions,
    free: Mutex<Vec<Connection>>,
}

impl Pool {
    pub(super) fn new(path: &Path, options: OpenOptions, first: Connection) -> Self {
        Self { path: path.to_owned(), options, free: Mutex::new(vec![first]) }
    }

    /// A connection whose commits are synced.
    pub(crate) fn take(&self) -> Result<Taken<'_>, StoreError> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match free {
            Some(connection) => connection,
            None => connect(&self.path, &self.options)?,
        };
        Ok(Taken { connection: Some(connection), sync: Sync::Full, pool: self })
    }

    /// A connection whose commits are ordered.
    pub(crate) fn take_ordered(&self) -> Result<Taken<'_>, StoreError> {
        let mut taken = self.take()?;
        taken.set_sync(Sync::Ordered).map_err(|error| self.error(error))?;
        Ok(taken)
    }

    /// The error for something that SQLite reported.
    pub(crate) fn error(&self, source: rusqlite::Error) -> StoreError {
        busy_or(&self.path, &self.options, source)
    }
}

/// A connection that nobody else uses until it is dropped.
#[derive(Debug)]
pub(crate) struct Taken<'p> {
    connection: Option<Connection>,
    sync: Sync,
    pool: &'p Pool,
}

impl Taken<'_> {
    fn set_sync(&mut self, sync: Sync) -> rusqlite::Result<()> {
        if self.sync != sync {
            self.pragma_update(None, "synchronous", sync.name())?;
            self.sync = sync;
        }
        Ok(())
    }
}

impl Deref for Taken<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("a connection is there until it is given back")
    }
}

impl DerefMut for Taken<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("a connection is there until it is given back")
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // One that is in the middle of something, or would not sync, is for nobody else.
        if !self.is_autocommit() || self.set_sync(Sync::Full).is_err() {
            return;
        }
        let mut free = self.pool.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < IDLE {
            free.extend(self.connection.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;

    fn catalog() -> (tempfile::TempDir, Catalog) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
        (folder, catalog)
    }

    fn idle(pool: &Pool) -> usize {
        pool.free.lock().unwrap().len()
    }

    #[test]
    fn a_connection_is_used_again_and_syncs_again() {
        let (_folder, catalog) = catalog();
        let level = |taken: &Taken<'_>| -> i64 {
            taken.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap()
        };
        let ordered = catalog.pool.take_ordered().unwrap();
        assert_eq!((level(&ordered), idle(&catalog.pool)), (1, 0));
        drop(ordered);
        assert_eq!(idle(&catalog.pool), 1);
        let full = catalog.pool.take().unwrap();
        assert_eq!((level(&full), idle(&catalog.pool)), (2, 0));
    }

    #[test]
    fn one_in_the_middle_of_something_is_not_given_to_others() {
        let (_folder, catalog) = catalog();
        let taken = catalog.pool.take().unwrap();
        taken.execute_batch("BEGIN").unwrap();
        drop(taken);
        assert_eq!(idle(&catalog.pool), 0);
        drop(catalog.pool.take().unwrap());
        assert_eq!(idle(&catalog.pool), 1);
    }

    #[test]
    fn few_are_kept() {
        let (_folder, catalog) = catalog();
        let taken: Vec<Taken<'_>> = (0..IDLE + 3).map(|_| catalog.pool.take().unwrap()).collect();
        drop(taken);
        assert_eq!(idle(&catalog.pool), IDLE);
    }

    #[test]
    fn readers_do_not_wait_for_the_writer() {
        let (_folder, catalog) = catalog();
        let read = || catalog.read(|reader| reader.meta("key")).unwrap();
        let set = |writer: &mut crate::Writer<'_>| {
            writer.set_meta("key", b"1")?;
            let seen = std::thread::scope(|threads| threads.spawn(read).join().unwrap());
            assert_eq!(seen, None, "what is not committed is not seen");
            Ok::<(), StoreError>(())
        };
        catalog.write(set).unwrap();
        assert_eq!(read().as_deref(), Some(&b"1"[..]));
    }
}
