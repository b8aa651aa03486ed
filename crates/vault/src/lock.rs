//! Files that are locked, and waited for.

pub(crate) mod vault_lock;
pub(crate) mod workspace;

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use offshoot_store::StoreError;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::{Result, io_error};

/// The first pause between two tries; each is twice as long as the one before.
const SHORTEST_PAUSE: Duration = Duration::from_millis(2);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// A lock for oneself.
pub(crate) const ALONE: FlockOperation = FlockOperation::NonBlockingLockExclusive;
/// Takes a file for oneself, waiting for others up to `wait`, or for as long as it takes without one.
pub(crate) fn take(path: &PathBuf, wait: Option<Duration>) -> Result<File> {
    take_for(path, wait, path)
}

/// The same of a file that stands for something else, which is named where it is not free in time.
pub(crate) fn take_for(path: &PathBuf, wait: Option<Duration>, what: &Path) -> Result<File> {
    let held = open(path)?;
    if wait_for(&held, path, ALONE, wait)? {
        return Ok(held);
    }
    let (path, seconds) = (what.to_owned(), wait.unwrap_or_default().as_secs());
    Err(StoreError::Busy { path, seconds }.into())
}

/// Waits until a file can be locked, and locks it; false where it was not free in time.
pub(crate) fn wait_for(
    held: &File,
    path: &Path,
    how: FlockOperation,
    wait: Option<Duration>,
) -> Result<bool> {
    let deadline = wait.map(|wait| Instant::now() + wait);
    let mut pause = SHORTEST_PAUSE;
    while !try_lock(held, path, how)? {
        let left = deadline.map_or(LONGEST_PAUSE, |at| at.duration_since(Instant::now()));
        if left.is_zero() {
            return Ok(false);
        }
        thread::sleep(pause.min(left));
        pause = LONGEST_PAUSE.min(pause * 2);
    }
    Ok(true)
}

/// Opens the file to lock. It is never removed but with the vault, so that all who lock it lock the same.
pub(crate) fn open(path: &PathBuf) -> Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    match options.open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(path);
            // Not with its parents: a vault that somebody removed is not made again.
            match fs::create_dir(folder) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(io_error("create", folder)(error));
                }
                _ => {}
            }
            options.open(path).map_err(io_error("create", path))
        }
        other => other.map_err(io_error("open", path)),
    }
}

pub(crate) fn try_lock(file: &File, path: &Path, how: FlockOperation) -> Result<bool> {
    match flock(file, how) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
        Err(error) => Err(io_error("lock", path)(error)),
    }
}
