//! Files that are locked, and waited for.

pub(crate) mod folders;
pub(crate) mod shared;
pub(crate) mod vault_lock;
pub(crate) mod workspace;

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use offshoot_store::StoreError;
use offshoot_store::file_lock::{self, LockKind, LockedFile};

use crate::error::{Result, io_error};

/// Takes a file for oneself, waiting for others up to `wait`, or for as long as it takes without one.
fn take(path: &Path, wait: Option<Duration>) -> Result<LockedFile> {
    take_for(path, wait, path)
}

/// The same of a file that stands for something else, which is named where it is not free in time.
fn take_for(path: &Path, wait: Option<Duration>, what: &Path) -> Result<LockedFile> {
    let held = open(path)?;
    if wait_for(&held, path, LockKind::Alone, wait)? {
        return Ok(LockedFile::new(held));
    }
    let (path, seconds) = (what.to_owned(), wait.unwrap_or_default().as_secs());
    Err(StoreError::Busy { path, seconds }.into())
}

/// Waits until a file can be locked, and locks it; false where it was not free in time.
pub(crate) fn wait_for(
    held: &File,
    path: &Path,
    kind: LockKind,
    wait: Option<Duration>,
) -> Result<bool> {
    file_lock::lock_within(held, kind, wait).map_err(io_error("lock", path))
}

/// Opens the file to lock. It is never removed but with the vault, so that all who lock it lock the same.
pub(crate) fn open(path: &Path) -> Result<File> {
    match file_lock::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(path);
            // Not with its parents: a vault that somebody removed is not made again.
            match fs::create_dir(folder) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(io_error("create", folder)(error));
                }
                _ => {}
            }
            file_lock::open(path).map_err(io_error("create", path))
        }
        other => other.map_err(io_error("open", path)),
    }
}

pub(crate) fn try_lock(file: &File, path: &Path, kind: LockKind) -> Result<bool> {
    file_lock::try_lock(file, kind).map_err(io_error("lock", path))
}
