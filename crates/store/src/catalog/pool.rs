//! The connections of one process to a catalog.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::connection::{Sync, connect};
use super::options::OpenOptions;
use super::turns::{Turn, Turns};
use crate::error::StoreError;

/// How many connections that nobody uses are kept open.
const IDLE: usize = 16;

/// The connections of one process to a catalog: whoever needs one takes a free one, or opens another. Opening one reads the whole
/// schema, so a thread that does one thing after the other has one, and nobody waits for somebody else's. There is no most of them: whoever
/// reads may need a second one to go on, and would wait for it forever where all the others do the same.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Where the catalog is.
    pub(super) path: PathBuf,
    /// How it was opened.
    pub(super) options: OpenOptions,
    free: Mutex<Vec<Connection>>,
    /// Those who write wait for one another here, and those who read for nobody.
    turns: Turns,
}

impl Pool {
    pub(super) fn new(path: &Path, options: OpenOptions, first: Connection) -> Self {
        Self {
            path: path.to_owned(),
            options,
            free: Mutex::new(vec![first]),
            turns: Turns::default(),
        }
    }

    /// Waits for the turn to write, for as long as it takes.
    pub(super) fn turn(&self) -> Turn<'_> {
        self.turns.wait(None).expect("who has no limit waits until it comes")
    }

    /// Waits for the turn to write, and no longer than for another process.
    pub(crate) fn turn_in_time(&self) -> Result<Turn<'_>, StoreError> {
        let turn = self.turns.wait(Some(self.options.busy_timeout));
        turn.ok_or_else(|| self.options.busy(&self.path))
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
        self.options.error(&self.path, source)
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
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::{Catalog, ObjectBackend, ObjectKind, Put, SqliteBackend};

    const READERS: usize = 16;
    const LONG: Duration = Duration::from_secs(20);

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

    /// Somebody is in the middle of a write for as long as `work` takes.
    fn while_somebody_writes<T>(catalog: &Catalog, work: impl FnOnce() -> T) -> T {
        let (begun, begins) = mpsc::channel();
        let (ends, end) = mpsc::channel::<()>();
        thread::scope(|threads| {
            threads.spawn(move || {
                catalog.write(|writer| {
                    writer.set_meta("key", b"new")?;
                    begun.send(()).unwrap();
                    // Whoever waits for it although nobody should has waited long enough by then.
                    let _in_time = end.recv_timeout(2 * LONG).is_ok();
                    Ok::<(), StoreError>(())
                })
            });
            begins.recv().unwrap();
            let done = work();
            drop(ends);
            done
        })
    }

    #[test]
    fn readers_wait_neither_for_the_writer_nor_for_one_another() {
        let (_folder, catalog) = catalog();
        let backend = SqliteBackend::new(&catalog);
        backend.put(&[Put { kind: ObjectKind::Blob, id: [1; 32], value: vec![7] }]).unwrap();
        catalog.write(|writer| writer.set_meta("key", b"old")).unwrap();
        // All of them are in the middle of a read at the same time, and read an object meanwhile.
        let (arrived, deadline) = (AtomicUsize::new(0), Instant::now() + LONG);
        let read = || {
            catalog.read(|reader| {
                arrived.fetch_add(1, Ordering::SeqCst);
                let value = reader.meta("key")?;
                let object = backend.get(ObjectKind::Blob, &[1; 32])?;
                while arrived.load(Ordering::SeqCst) < READERS {
                    assert!(Instant::now() < deadline, "readers wait for somebody");
                    thread::sleep(Duration::from_millis(1));
                }
                Ok::<_, StoreError>((value, object))
            })
        };
        while_somebody_writes(&catalog, || {
            thread::scope(|threads| {
                let readers: Vec<_> = (0..READERS).map(|_| threads.spawn(read)).collect();
                for reader in readers {
                    let (value, object) = reader.join().unwrap().unwrap();
                    assert_eq!(value.as_deref(), Some(&b"old"[..]), "nothing new is committed");
                    assert_eq!(object, Some(vec![7]));
                }
            });
        });
        let after = catalog.read(|reader| reader.meta("key")).unwrap();
        assert_eq!(after.as_deref(), Some(&b"new"[..]));
        assert_eq!(idle(&catalog.pool), IDLE);
    }

    /// SQLite's own way to wait is to sleep: whoever came later, and did not sleep, would be first.
    #[test]
    fn objects_are_stored_in_turn_with_other_writes() {
        let (_folder, catalog) = catalog();
        let backend = SqliteBackend::new(&catalog);
        let put = Put { kind: ObjectKind::Blob, id: [1; 32], value: vec![7] };
        thread::scope(|threads| {
            let later = while_somebody_writes(&catalog, || {
                threads.spawn(|| backend.put(&[put]).unwrap());
                wait_until_asked(&catalog, 2);
                let later = threads.spawn(|| {
                    catalog.write(|writer| writer.has_object(ObjectKind::Blob, &[1; 32]))
                });
                wait_until_asked(&catalog, 3);
                later
            });
            assert!(later.join().unwrap().unwrap(), "the object was to be stored first");
        });
    }

    fn wait_until_asked(catalog: &Catalog, count: usize) {
        let deadline = Instant::now() + LONG;
        while catalog.pool.turns.asked() < count {
            assert!(Instant::now() < deadline, "not everybody who writes waits for a turn");
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn many_threads_see_whole_states() {
        const TOTAL: u64 = 1_000;
        let (_folder, catalog) = catalog();
        let number = |found: Option<Vec<u8>>| -> u64 {
            found.map_or(0, |bytes| u64::from_be_bytes(bytes.try_into().unwrap()))
        };
        let set = |writer: &mut crate::Writer<'_>, left: u64| {
            writer.set_meta("left", &left.to_be_bytes())?;
            writer.set_meta("right", &(TOTAL - left).to_be_bytes())
        };
        catalog.write(|writer| set(writer, 0)).unwrap();
        let move_one = || {
            for _ in 0..25 {
                let moved = catalog.write_ordered(|writer| {
                    let left = number(writer.meta("left")?);
                    set(writer, left + 1)
                });
                moved.unwrap();
            }
        };
        let look = || {
            let mut before = 0;
            for _ in 0..200 {
                let (left, right) = catalog
                    .read(|reader| {
                        let left = number(reader.meta("left")?);
                        thread::yield_now();
                        Ok::<_, StoreError>((left, number(reader.meta("right")?)))
                    })
                    .unwrap();
                assert_eq!(left + right, TOTAL, "a state that nobody committed");
                assert!(left >= before, "a state that was over: {left} after {before}");
                before = left;
            }
        };
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(move_one);
                threads.spawn(look);
                threads.spawn(look);
            }
        });
        let left = catalog.read(|reader| reader.meta("left")).unwrap();
        assert_eq!(number(left), 100, "no write is lost");
    }
}
