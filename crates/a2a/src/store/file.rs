//! Tasks that survive the process: a log of what happened to them, and all of them in memory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::limits::A2aTaskLimits;
use crate::record::{A2aTaskChange, A2aTaskRecord, A2aTaskStep};
use crate::store::log::{self, Found};
use crate::store::table::Table;
use crate::store::{A2aChanged, A2aStoreError, A2aTaskQuery, A2aTaskSlice, A2aTaskStore};

/// How a file keeps tasks.
#[derive(Debug, Clone)]
pub struct A2aFileOptions {
    /// What is kept.
    pub limits: A2aTaskLimits,
    /// Whether a change of a task's state waits until it is on the disk. Without it tasks survive the process, and not the machine. Chunks of artifacts wait for the next such change.
    pub sync: bool,
    /// The log is written anew once it has this many bytes more than twice what it had when it was new.
    pub slack: u64,
}

impl Default for A2aFileOptions {
    fn default() -> Self {
        Self { limits: A2aTaskLimits::default(), sync: true, slack: 4 << 20 }
    }
}

/// Keeps tasks in a directory, for one process at a time.
///
/// ```
/// use offshoot_a2a::{A2aFileOptions, A2aFileTasks, A2aTaskStore};
///
/// let directory = tempfile::tempdir()?;
/// let tasks = A2aFileTasks::open(directory.path(), A2aFileOptions::default())?;
/// assert!(tasks.unfinished()?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct A2aFileTasks {
    inner: Mutex<Inner>,
    options: A2aFileOptions,
    directory: PathBuf,
    /// Held as long as the store is there.
    _lock: File,
}

#[derive(Debug)]
struct Inner {
    table: Table,
    file: File,
    /// Where the next entry goes.
    end: u64,
    /// How long the log was when it was written anew.
    base: u64,
    /// The file could not be brought back to its last whole entry.
    is_stopped: bool,
}

/// An entry of the log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    Task(Box<A2aTaskRecord>),
    Change { id: String, change: Box<A2aTaskChange> },
    Remove(String),
}

impl A2aFileTasks {
    /// Opens the store of a directory, which is created if it is not there.
    ///
    /// # Errors
    ///
    /// If the directory cannot be used, another process has it, or the log is damaged other than at its end.
    pub fn open(directory: &Path, options: A2aFileOptions) -> Result<Self, A2aStoreError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| A2aStoreError::File { path, source }
        };
        std::fs::create_dir_all(directory).map_err(at(directory))?;
        let path = directory.join("lock");
        let lock = private().open(&path).map_err(at(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(A2aStoreError::InUse { path }),
            Err(TryLockError::Error(source)) => return Err(at(&path)(source)),
        }
        let path = directory.join("tasks.log");
        let mut file = private().open(&path).map_err(at(&path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(at(&path))?;
        let (table, end) = replay(&bytes, &path, &options.limits)?;
        let inner = Inner { table, file, end, base: 0, is_stopped: false };
        let directory = directory.to_owned();
        let store = Self { inner: Mutex::new(inner), options, directory, _lock: lock };
        store.settle(&bytes).map_err(at(&path))?;
        Ok(store)
    }

    /// Takes the torn end of the log away, and begins a log that is empty.
    fn settle(&self, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.inner();
        if inner.end == 0 {
            inner.file.set_len(0)?;
            inner.file.seek(SeekFrom::Start(0))?;
            inner.file.write_all(log::MAGIC)?;
            inner.end = log::MAGIC.len() as u64;
        } else if inner.end < bytes.len() as u64 {
            let end = inner.end;
            inner.file.set_len(end)?;
        } else {
            return Ok(());
        }
        if !self.options.sync {
            return Ok(());
        }
        inner.file.sync_all()?;
        File::open(&self.directory)?.sync_all()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self) -> PathBuf {
        self.directory.join("tasks.log")
    }

    /// Writes entries, all of them or none.
    fn write(&self, inner: &mut Inner, entries: &[Entry], sync: bool) -> Result<(), A2aStoreError> {
        let failed = |source| A2aStoreError::File { path: self.path(), source };
        if inner.is_stopped {
            return Err(A2aStoreError::Stopped { path: self.path() });
        }
        let mut bytes = Vec::new();
        for entry in entries {
            put(&mut bytes, entry).map_err(failed)?;
        }
        let end = inner.end;
        let written = inner.file.seek(SeekFrom::Start(end)).and_then(|_| {
            inner.file.write_all(&bytes)?;
            if sync && self.options.sync { inner.file.sync_data() } else { Ok(()) }
        });
        if let Err(error) = written {
            inner.is_stopped = inner.file.set_len(end).is_err();
            return Err(failed(error));
        }
        inner.end += bytes.len() as u64;
        Ok(())
    }

    /// Writes the log anew if most of it is of no use. A failure leaves the old one in use.
    fn compact(&self, inner: &mut Inner) {
        if inner.end <= inner.base * 2 + self.options.slack || inner.is_stopped {
            return;
        }
        let path = self.directory.join("tasks.new");
        if let Ok((file, end)) = self.rewrite(inner, &path) {
            (inner.file, inner.end, inner.base) = (file, end, end);
        } else {
            // What is left of it is written over next time.
            drop(std::fs::remove_file(&path));
        }
    }

    fn rewrite(&self, inner: &Inner, path: &Path) -> io::Result<(File, u64)> {
        let mut file = private().truncate(true).open(path)?;
        let mut end = log::MAGIC.len() as u64;
        file.write_all(log::MAGIC)?;
        for record in inner.table.all() {
            let mut bytes = Vec::new();
            put(&mut bytes, &Entry::Task(Box::new(record.clone())))?;
            file.write_all(&bytes)?;
            end += bytes.len() as u64;
        }
        file.sync_all()?;
        std::fs::rename(path, self.path())?;
        // The name may lead to either file after a crash; both have all tasks.
        drop(File::open(&self.directory).and_then(|directory| directory.sync_all()));
        Ok((file, end))
    }
}

impl A2aTaskStore for A2aFileTasks {
    fn create(&self, record: A2aTaskRecord) -> Result<(), A2aStoreError> {
        let mut inner = self.inner();
        let gone = inner.table.room_for(&record, &self.options.limits)?;
        let mut entries: Vec<Entry> = gone.iter().cloned().map(Entry::Remove).collect();
        entries.push(Entry::Task(Box::new(record.clone())));
        self.write(&mut inner, &entries, true)?;
        for id in gone {
            inner.table.remove(&id);
        }
        inner.table.insert(record);
        self.compact(&mut inner);
        Ok(())
    }

    fn change(&self, id: &str, change: A2aTaskChange) -> Result<A2aChanged, A2aStoreError> {
        let mut inner = self.inner();
        inner.table.check(id, &change, &self.options.limits)?;
        let sync = !matches!(change.what, A2aTaskStep::Artifact { .. });
        let entry = Entry::Change { id: id.to_owned(), change: Box::new(change.clone()) };
        self.write(&mut inner, &[entry], sync)?;
        let changed = inner.table.commit(id, change, &self.options.limits)?;
        self.compact(&mut inner);
        Ok(changed)
    }

    fn get(&self, id: &str) -> Result<Option<A2aTaskRecord>, A2aStoreError> {
        Ok(self.inner().table.get(id).cloned())
    }

    fn list(&self, query: &A2aTaskQuery) -> Result<A2aTaskSlice, A2aStoreError> {
        Ok(self.inner().table.list(query))
    }

    fn unfinished(&self) -> Result<Vec<String>, A2aStoreError> {
        Ok(self.inner().table.unfinished())
    }
}

/// Webhooks have tokens, so nobody else may read what is written.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options
}

fn put(bytes: &mut Vec<u8>, entry: &Entry) -> io::Result<()> {
    let entry = serde_json::to_vec(entry)?;
    if !log::fits(&entry) {
        return Err(io::Error::other("a task is too large for the log"));
    }
    log::append(bytes, &entry);
    Ok(())
}

/// All tasks of a log, and where its last whole entry ends; 0 if it has to be begun.
fn replay(
    bytes: &[u8],
    path: &Path,
    limits: &A2aTaskLimits,
) -> Result<(Table, u64), A2aStoreError> {
    let damaged = |offset: usize, why: String| {
        let (path, offset) = (path.to_owned(), offset as u64);
        A2aStoreError::Damaged { path, offset, why }
    };
    let mut table = Table::default();
    if bytes.len() < log::MAGIC.len() {
        let is_beginning = log::MAGIC.starts_with(bytes) || bytes.iter().all(|byte| *byte == 0);
        let foreign = || damaged(0, "it is no log of tasks of this version".to_owned());
        return if is_beginning { Ok((table, 0)) } else { Err(foreign()) };
    }
    if !bytes.starts_with(log::MAGIC) {
        return Err(damaged(0, "it is no log of tasks of this version".to_owned()));
    }
    let mut at = log::MAGIC.len();
    loop {
        match log::read(bytes, at) {
            Found::Entry(entry, next) => {
                let entry: Entry = serde_json::from_slice(entry)
                    .map_err(|error| damaged(at, error.to_string()))?;
                apply(&mut table, entry, limits).map_err(|error| damaged(at, error.to_string()))?;
                at = next;
            }
            Found::End | Found::Torn => return Ok((table, at as u64)),
            Found::Damaged(why) => return Err(damaged(at, why.to_owned())),
        }
    }
}

/// What was written was checked against the limits of then; now only the rules of the states count.
fn apply(table: &mut Table, entry: Entry, limits: &A2aTaskLimits) -> Result<(), A2aStoreError> {
    match entry {
        Entry::Task(record) => table.insert(*record),
        Entry::Remove(id) => table.remove(&id),
        Entry::Change { id, change } => {
            let most = usize::MAX;
            let unbounded = A2aTaskLimits {
                tasks: most,
                bytes: most,
                task_bytes: most,
                artifacts: most,
                push_configs: most,
                history: limits.history,
            };
            table.check(&id, &change, &unbounded)?;
            table.commit(&id, *change, limits)?;
        }
    }
    Ok(())
}
