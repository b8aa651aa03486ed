//! Keeping the collection of garbage away from what is being made.
//!
//! Whoever stores objects and later commits a ref to them holds the gate in between: what it stored, and what it found and
//! built upon, is not garbage although nothing points at it yet. Collecting takes the gate for itself, a moment at a time.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use offshoot_store::StoreError;
use offshoot_store::file_lock::{self, LockKind};

use crate::error::{Result, io_error};
use crate::vault::Vault;

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
    _held: File,
    since: Instant,
}

impl Closed {
    /// For how long the others have been kept waiting.
    pub(crate) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }
}

impl Vault {
    /// Keeps garbage collection away until dropped. To be taken before the first look at what will be built upon.
    pub fn hold(&self) -> Result<Hold<'_>> {
        if self.is_read_only() {
            return Ok(Hold { gate: None });
        }
        let gate = self.gate();
        let mut shared = gate.held.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.holders == 0 {
            let path = self.gate_path();
            if shared.file.is_none() {
                shared.file = Some(open(&path)?);
            }
            if let Some(file) = &shared.file {
                self.wait_for(file, LockKind::Shared, &path)?;
            }
        }
        shared.holders += 1;
        Ok(Hold { gate: Some(gate) })
    }

    /// Waits until nobody holds the gate, and keeps everybody from taking it.
    pub(crate) fn close_gate(&self) -> Result<Closed> {
        let path = self.gate_path();
        // A description of its own: a lock through the shared one would replace what this process holds there.
        let held = open(&path)?;
        self.wait_for(&held, LockKind::Alone, &path)?;
        Ok(Closed { _held: held, since: Instant::now() })
    }

    /// Takes a file of the vault for oneself, for as long as it is open.
    pub(crate) fn take_alone(&self, name: &str) -> Result<File> {
        let path = self.dir().join(name);
        let file = open(&path)?;
        self.wait_for(&file, LockKind::Alone, &path)?;
        Ok(file)
    }

    /// Takes a file of the vault together with others who do the same; nobody has it alone meanwhile.
    pub(crate) fn take_shared(&self, name: &str) -> Result<File> {
        let path = self.dir().join(name);
        let file = open(&path)?;
        self.wait_for(&file, LockKind::Shared, &path)?;
        Ok(file)
    }

    /// The same of a file that is there, or nothing where another has it.
    pub(crate) fn try_alone(&self, name: &str) -> Result<Option<File>> {
        match self.dir().join(name).exists() {
            true => self.take_alone_now(name),
            false => Ok(None),
        }
    }

    /// Takes a file of the vault for oneself, or nothing where another has it.
    pub(crate) fn take_alone_now(&self, name: &str) -> Result<Option<File>> {
        let file = open(&self.dir().join(name))?;
        Ok(file_lock::try_lock(&file, LockKind::Alone).is_ok_and(|free| free).then_some(file))
    }

    fn gate_path(&self) -> PathBuf {
        self.dir().join("gate")
    }

    fn wait_for(&self, file: &File, kind: LockKind, path: &Path) -> Result<()> {
        let patience = self.catalog().options().busy_timeout;
        if file_lock::lock_within(file, kind, Some(patience)).map_err(io_error("lock", path))? {
            return Ok(());
        }
        let (path, seconds) = (path.to_owned(), patience.as_secs());
        Err(StoreError::Busy { path, seconds }.into())
    }
}

/// Opens a file to lock. It is never removed but with the vault, so that all who lock it lock the same.
fn open(path: &Path) -> Result<File> {
    file_lock::open(path).map_err(io_error("open", path))
}
