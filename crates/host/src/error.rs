//! What can go wrong on the host.

use std::io;
use std::path::{Path, PathBuf};

use offshoot_store::StoreError;
use rustix::io::Errno;

/// An error of the host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The disk is full or cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The number of worker threads could not be started.
    #[error("cannot start worker threads: {0}")]
    Threads(String),
}

impl HostError {
    /// A failed file operation: what was tried on what.
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                StoreError::Full(path).into()
            }
            io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly(path).into(),
            _ => Self::Io { action, path, source },
        }
    }

    /// The disk or the process failed, which says nothing about whether what is stored is in order.
    pub fn is_of_storage(&self) -> bool {
        match self {
            Self::Io { source, .. } => !says_damage(source),
            Self::Store(error) => {
                matches!(
                    error,
                    StoreError::Io { .. } | StoreError::Busy { .. } | StoreError::Full(_)
                )
            }
            Self::Threads(_) => false,
        }
    }

    /// The process may not have more open files or memory at the moment; it could read this at another time.
    pub fn is_of_process(&self) -> bool {
        let Self::Io { source, .. } = self else { return false };
        let errno = Errno::from_io_error(source);
        errno.is_some_and(|errno| {
            matches!(errno, Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::INTR | Errno::AGAIN)
        })
    }
}

/// Whether a failed read means that something else is there than was stored, or nothing.
pub fn says_damage(error: &io::Error) -> bool {
    match Errno::from_io_error(error) {
        Some(errno) => matches!(
            errno,
            Errno::NOENT | Errno::NOTDIR | Errno::ISDIR | Errno::LOOP | Errno::NXIO | Errno::NODEV
        ),
        // Not the kernel's, but from who read the bytes.
        None => true,
    }
}
