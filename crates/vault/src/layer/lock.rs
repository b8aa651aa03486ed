//! A directory that is being written, and who writes it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

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
