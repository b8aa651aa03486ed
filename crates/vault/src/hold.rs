//! Who may do what at the same time in one vault: its gate, and its files that are locked.

use std::path::PathBuf;
use std::time::Duration;

use offshoot_store::file_lock::{LockKind, LockedFile};

use crate::error::Result;
use crate::gate::{self, Closed, Hold};
use crate::vault::Vault;

impl Vault {
    /// Keeps garbage collection away until dropped. To be taken before the first look at what will be built upon.
    pub fn hold(&self) -> Result<Hold<'_>> {
        if self.is_read_only() {
            return Ok(Hold::of_nothing());
        }
        self.gate().hold(&self.gate_path(), self.patience())
    }

    /// Waits until nobody holds the gate, and keeps everybody from taking it.
    pub(crate) fn close_gate(&self) -> Result<Closed> {
        Closed::close(&self.gate_path(), self.patience())
    }

    /// Takes a file of the vault for oneself, until dropped.
    pub(crate) fn take_alone(&self, name: &str) -> Result<LockedFile> {
        gate::take(&self.dir().join(name), LockKind::Alone, self.patience())
    }

    /// Takes a file of the vault together with others who do the same; nobody has it alone meanwhile.
    pub(crate) fn take_shared(&self, name: &str) -> Result<LockedFile> {
        gate::take(&self.dir().join(name), LockKind::Shared, self.patience())
    }

    /// The same of a file that is there, or nothing where another has it.
    pub(crate) fn try_alone(&self, name: &str) -> Result<Option<LockedFile>> {
        match self.dir().join(name).exists() {
            true => self.take_alone_now(name),
            false => Ok(None),
        }
    }

    /// Takes a file of the vault for oneself, or nothing where another has it.
    pub(crate) fn take_alone_now(&self, name: &str) -> Result<Option<LockedFile>> {
        gate::take_now(&self.dir().join(name))
    }

    fn gate_path(&self) -> PathBuf {
        self.dir().join("gate")
    }

    fn patience(&self) -> Duration {
        self.catalog().options().busy_timeout
    }
}
