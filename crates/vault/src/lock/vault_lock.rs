//! Keeping a vault while somebody has it open.
//!
//! Everybody who has a vault open shares a lock on its directory, and whoever deletes it holds that alone while looking whether it is in use
//! and renaming it. So a vault that is open stays, and one that is being deleted is not opened.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use offshoot_store::StoreError;
use offshoot_store::file_lock::{LockKind, LockedFile};

use super::wait_for;
use crate::error::{Result, VaultError, io_error};

/// The lock on the directory of a vault, until dropped; the kernel lets go of it when the process dies.
#[derive(Debug)]
pub(crate) struct VaultLock {
    _held: LockedFile,
}

impl VaultLock {
    /// Keeps a vault from being deleted. Waits up to `wait` for somebody who looks whether it can be.
    pub(crate) fn share(dir: &Path, wait: Duration) -> Result<Self> {
        let taken = Self::take(dir, LockKind::Shared, wait)?;
        let (path, seconds) = (dir.to_owned(), wait.as_secs());
        taken.ok_or_else(|| StoreError::Busy { path, seconds }.into())
    }

    /// Keeps everybody from opening a vault; nothing where somebody has it open for longer than `wait`.
    pub(crate) fn alone(dir: &Path, wait: Duration) -> Result<Option<Self>> {
        Self::take(dir, LockKind::Alone, wait)
    }

    fn take(dir: &Path, kind: LockKind, wait: Duration) -> Result<Option<Self>> {
        let held = File::open(dir).map_err(|error| match error.kind() {
            ErrorKind::NotFound => VaultError::Deleted(dir.to_owned()),
            _ => io_error("open", dir)(error),
        })?;
        if !wait_for(&held, dir, kind, Some(wait))? {
            return Ok(None);
        }
        // It may have been deleted, and even imported again, before it was locked.
        let identity = |found: fs::Metadata| (found.dev(), found.ino());
        match (held.metadata().map(identity), fs::metadata(dir).map(identity)) {
            (Ok(held_one), Ok(there)) if held_one == there => {
                Ok(Some(Self { _held: LockedFile::new(held) }))
            }
            _ => Err(VaultError::Deleted(dir.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRIEFLY: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_vault_is_shared_or_held_alone() {
        let dir = tempfile::tempdir().unwrap();
        let shared = [(); 2].map(|()| VaultLock::share(dir.path(), BRIEFLY).unwrap());
        assert!(VaultLock::alone(dir.path(), BRIEFLY).unwrap().is_none());
        drop(shared);
        let alone = VaultLock::alone(dir.path(), LONG).unwrap();
        assert!(alone.is_some());
        let refused = VaultLock::share(dir.path(), BRIEFLY);
        assert!(matches!(refused, Err(VaultError::Store(StoreError::Busy { .. }))), "{refused:?}");
    }

    /// Whoever waited for the one who deleted it does not get hold of what is left, nor of another vault in its place.
    #[test]
    fn a_vault_that_was_deleted_meanwhile_is_not_held() {
        for again in [false, true] {
            let place = tempfile::tempdir().unwrap();
            let (dir, doomed) = (place.path().join("v"), place.path().join("v.del"));
            fs::create_dir(&dir).unwrap();
            let alone = VaultLock::alone(&dir, BRIEFLY).unwrap();
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| VaultLock::share(&dir, LONG));
                std::thread::sleep(BRIEFLY);
                fs::rename(&dir, &doomed).unwrap();
                if again {
                    fs::create_dir(&dir).unwrap();
                }
                drop(alone);
                let shared = waiting.join().unwrap();
                assert!(matches!(shared, Err(VaultError::Deleted(_))), "{shared:?}");
            });
        }
    }
}
