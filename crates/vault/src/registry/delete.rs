//! Deleting vaults.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_host::disk;
use offshoot_store::Id;

use super::{Result, VaultRegistry, VaultRegistryError, entries, read_link};
use crate::applies::half_changed;
use crate::audit::signing::Signing;
use crate::error::{VaultError, io_error};
use crate::layer::running_below;
use crate::lock::vault_lock::VaultLock;
use crate::lock::workspace::holder_below;

impl VaultRegistry {
    /// Deletes a vault with everything in it. This cannot be undone. It takes no room, and the vault is not opened.
    ///
    /// Refused while something runs in one of its workspaces: what that writes would be gone with it. Others who have it open are waited
    /// for, and nobody opens it meanwhile. Refused as well while a folder is half changed: nobody could settle that any more.
    pub fn delete(&self, name: &str) -> Result<()> {
        let id = self.find_own(name)?;
        let dir = self.vault_dir(&id);
        let alone = self.take_alone(name, &dir)?;
        if let Some(staging) = half_changed(&dir)? {
            return Err(VaultRegistryError::HalfChanged { vault: name.to_owned(), staging });
        }
        self.doom(&id)?;
        drop(alone);
        self.remove_doomed(&id)
    }

    /// Takes a vault that is not in use, so that nobody opens it.
    fn take_alone(&self, name: &str, dir: &Path) -> Result<VaultLock> {
        let gone = |error: VaultError| match error {
            VaultError::Deleted(_) => VaultRegistryError::NoVault(name.to_owned()),
            other => other.into(),
        };
        // Whoever can be named is not waited for.
        for wait in [Duration::ZERO, self.options.busy_timeout] {
            let alone = VaultLock::alone(dir, wait).map_err(gone)?;
            self.check_unused(name, dir)?;
            if let Some(alone) = alone {
                return Ok(alone);
            }
        }
        let holder = offshoot_store::file_lock::holder(dir).unwrap_or_default();
        Err(VaultRegistryError::InUse { vault: name.to_owned(), holder })
    }

    fn check_unused(&self, name: &str, dir: &Path) -> Result<()> {
        let vault = name.to_owned();
        // Where there are no layers, or where they cannot be read, nothing runs that writes one.
        let running = running_below(&dir.join("layers")).unwrap_or_default();
        if let Some(running) = running.into_iter().next() {
            let note = running.note;
            let (workspace, exec, command) = (note.workspace_name, note.exec, note.command);
            return Err(VaultRegistryError::Running { vault, workspace, exec, command });
        }
        match holder_below(&dir.join("locks")) {
            Some(holder) => Err(VaultRegistryError::InUse { vault, holder }),
            None => Ok(()),
        }
    }

    /// Removes a vault that nobody else opens.
    pub(super) fn remove(&self, id: &Id) -> Result<()> {
        self.doom(id)?;
        self.remove_doomed(id)
    }

    /// The point of no return: the vault is not found under its name any more.
    fn doom(&self, id: &Id) -> Result<()> {
        let dir = self.vault_dir(id);
        let doomed = self.doomed_dir(id);
        let renamed = fs::rename(&dir, &doomed).or_else(|error| match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                crate::reserve::release(&dir);
                fs::rename(&dir, &doomed)
            }
            _ => Err(error),
        });
        match renamed {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(io_error("rename", &dir)(error).into())
            }
            _ => self.sync(&self.vaults()),
        }
    }

    fn remove_doomed(&self, id: &Id) -> Result<()> {
        for folder in ["names", "bindings"] {
            self.unlink_all(&self.dir.join(folder), id)?;
        }
        self.remove_mark(id)?;
        // There is nothing left to sign for. Before the rest goes: what is left half deleted is deleted again.
        Signing::forget(&self.dir, id)?;
        let doomed = self.doomed_dir(id);
        disk::remove_tree(&doomed).map_err(io_error("remove", &doomed))?;
        Ok(())
    }

    fn doomed_dir(&self, id: &Id) -> PathBuf {
        self.vaults().join(format!("{id}.del"))
    }

    fn unlink_all(&self, folder: &Path, id: &Id) -> Result<()> {
        for link in entries(folder)? {
            if read_link(&link)?.as_ref() == Some(id) {
                fs::remove_file(&link).map_err(io_error("remove", &link))?;
            }
        }
        self.sync(folder)
    }
}
