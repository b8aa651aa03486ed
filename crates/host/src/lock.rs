//! A directory that is being written, and who writes it.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use offshoot_store::file_lock::{LockKind, LockedFile, try_lock};

use crate::disk;

/// A directory that another process removed as one of nobody's is made again, at most this often.
const TRIES: usize = 10;

/// Holds a directory until dropped; the kernel lets go of it when the process dies.
#[derive(Debug)]
pub struct DirLock {
    _held: LockedFile,
}

impl DirLock {
    /// Makes a directory that is locked from the first moment it can be found under its name.
    pub fn create(path: &Path) -> io::Result<Self> {
        for _ in 1..TRIES {
            match Self::try_create(path) {
                // Taken for one that was left behind, in the moment before it was locked.
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotFound) => {}
                other => return other,
            }
        }
        Self::try_create(path)
    }

    fn try_create(path: &Path) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let hidden = path.with_file_name(format!(".{name}"));
        match fs::DirBuilder::new().mode(0o700).create(&hidden) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let made = Self::take(&hidden).and_then(|lock| {
            fs::rename(&hidden, path)?;
            Ok(lock)
        });
        if made.is_err() {
            // The first error is the one to report; what is left is cleared like any other that nobody holds.
            drop(fs::remove_dir(&hidden));
        }
        made
    }

    /// Locks a directory; fails at once where another process holds it.
    pub fn take(path: &Path) -> io::Result<Self> {
        let held = File::open(path)?;
        match try_lock(&held, LockKind::Alone)? {
            true => Ok(Self { _held: LockedFile::new(held) }),
            false => Err(ErrorKind::WouldBlock.into()),
        }
    }
}

/// Removes a directory that was being written, unless somebody still writes it.
pub fn clear_abandoned(path: &Path) -> io::Result<()> {
    // One that cannot be locked is being written, or was given its name meanwhile.
    match DirLock::take(path) {
        Ok(_held) => disk::remove_tree(path),
        Err(_) => Ok(()),
    }
}
