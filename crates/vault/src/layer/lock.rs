//! A directory that is being written, and who writes it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use crate::disk;

/// After this time nobody is still between making a directory and locking it.
const SURELY_ABANDONED: Duration = Duration::from_secs(60);

/// Holds a directory until dropped; the kernel lets go of it when the process dies.
#[derive(Debug)]
pub(crate) struct DirLock {
    _held: File,
}

impl DirLock {
    /// Makes a directory that is locked from the first moment it can be found under its name.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let hidden = path.with_file_name(format!(".{name}"));
        fs::DirBuilder::new().mode(0o700).create(&hidden)?;
        let lock = Self::take(&hidden)?;
        fs::rename(&hidden, path)?;
        Ok(lock)
    }

    /// Locks a directory; fails at once where another process holds it.
    pub(crate) fn take(path: &Path) -> io::Result<Self> {
        let held = File::open(path)?;
        flock(&held, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { _held: held })
    }
}

/// Removes a directory that was being written, unless somebody still writes it.
pub(crate) fn clear_abandoned(path: &Path) -> io::Result<()> {
    let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    if hidden && !is_old(path) {
        return Ok(());
    }
    // One that cannot be locked is being written, or was given its name meanwhile.
    match DirLock::take(path) {
        Ok(_held) => disk::remove_tree(path),
        Err(_) => Ok(()),
    }
}

fn is_old(path: &Path) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    changed.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > SURELY_ABANDONED))
}
