//! The folders of a vault, held by who captures or changes them.

use std::time::Duration;

use offshoot_store::file_lock::LockedFile;

use super::take;
use crate::error::Result;
use crate::vault::Vault;

/// The file that everybody locks who captures or changes a folder.
const LOCK: &str = "apply";

/// Keeps everybody else from capturing or changing the folders of a vault, until dropped; the kernel lets go of it when the
/// process dies.
#[derive(Debug)]
pub struct FolderLock {
    _held: LockedFile,
}

impl Vault {
    /// Waits up to `wait`, or for as long as it takes without one, until nobody else captures or changes a folder of this
    /// vault.
    pub fn lock_folders(&self, wait: Option<Duration>) -> Result<FolderLock> {
        self.enter()?;
        let held = take(&self.dir().join(LOCK), wait)?;
        Ok(FolderLock { _held: held })
    }
}
