//! Keeping the collection of garbage away from what is being made.
//!
//! Whoever stores objects and later commits a ref to them holds the gate in between: what it stored, and what it found and
//! built upon, is not garbage although nothing points at it yet. Collecting takes the gate for itself, a moment at a time.

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use offshoot_store::StoreError;
use offshoot_store::file_lock::{self, LockKind, LockedFile};

use crate::error::{Result, io_error};

/// The name of the file that whoever collects or packs has locked.
pub(crate) const COLLECTING: &str = "gc";

/// The gate of an open vault.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    held: Mutex<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Opened when first needed, and then kept: locking it again is one system call.
    file: Option<File>,
    /// How many hold it in this process.
    holders: usize,
}

/// While this is held, nothing that was stored or found since is collected. Holds are shared, and held for as long as it takes
/// to commit, not for as long as a command runs.
#[derive(Debug)]
pub struct Hold<'v> {
    gate: Option<&'v Gate>,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let Some(gate) = self.gate else { return };
        let mut shared = gate.held.lock().unwrap_or_else(PoisonError::into_inner);
        shared.holders -= 1;
        if let (0, Some(file)) = (shared.holders, &shared.file)
            && file_lock::unlock(file).is_err()
        {
            // Closing the file lets go of it for certain.
            shared.file = None;
        }
    }
}

/// The gate held by one alone: nobody stores anything meanwhile.
#[derive(Debug)]
pub(crate) struct Closed {
    _held: LockedFile,
    since: Instant,
}

impl Closed {
    /// For how long the others have been kept waiting.
    pub(crate) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }
}

impl Gate {
    /// Keeps garbage collection away until dropped. `path` is the file of the gate.
    pub(crate) fn hold(&self, path: &Path, patience: Duration) -> Result<Hold<'_>> {
        let mut shared = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.holders == 0 {
            if shared.file.is_none() {
                shared.file = Some(open(path)?);
            }
            if let Some(file) = &shared.file {
                wait_for(file, LockKind::Shared, path, patience)?;
            }
        }
        shared.holders += 1;
        Ok(Hold { gate: Some(self) })
    }
}

impl Hold<'_> {
    /// Where nothing can be written nothing is collected either.
    pub(crate) fn of_nothing() -> Self {
        Self { gate: None }
    }
}

impl Closed {
    /// Waits until nobody holds the gate, and keeps everybody from taking it.
    pub(crate) fn close(path: &Path, patience: Duration) -> Result<Self> {
        // A description of its own: a lock through the shared one would replace what this process holds there.
        let held = take(path, LockKind::Alone, patience)?;
        Ok(Self { _held: held, since: Instant::now() })
    }
}

/// Takes a file, until dropped.
pub(crate) fn take(path: &Path, kind: LockKind, patience: Duration) -> Result<LockedFile> {
    let file = open(path)?;
    wait_for(&file, kind, path, patience)?;
    Ok(LockedFile::new(file))
}

/// Takes a file for oneself, or nothing where another has it.
pub(crate) fn take_now(path: &Path) -> Result<Option<LockedFile>> {
    let file = open(path)?;
    let free = file_lock::try_lock(&file, LockKind::Alone).is_ok_and(|free| free);
    Ok(free.then(|| LockedFile::new(file)))
}

fn wait_for(file: &File, kind: LockKind, path: &Path, patience: Duration) -> Result<()> {
    if file_lock::lock_within(file, kind, Some(patience)).map_err(io_error("lock", path))? {
        return Ok(());
    }
    let (path, seconds) = (path.to_owned(), patience.as_secs());
    Err(StoreError::Busy { path, seconds }.into())
}

/// Opens a file to lock. It is never removed but with the vault, so that all who lock it lock the same.
fn open(path: &Path) -> Result<File> {
    file_lock::open(path).map_err(io_error("open", path))
}
