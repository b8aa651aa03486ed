//! Deleting vaults.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use offshoot_store::Id;

use super::{Home, HomeError, Result, entries, read_link};
use crate::disk;
use crate::error::io_error;
use crate::layer::running_below;
use crate::lock;

impl Home {
    /// Deletes a vault with everything in it. This cannot be undone. It takes no room, and the vault is not opened.
    ///
    /// Refused while something runs in one of its workspaces: what that writes would be gone with it.
    pub fn delete(&self, name: &str) -> Result<()> {
        let id = self.find(name)?;
        self.check_unused(name, &self.vault_dir(&id))?;
        self.remove(&id)
    }

    fn check_unused(&self, name: &str, dir: &Path) -> Result<()> {
        let vault = name.to_owned();
        // Where there are no layers, or where they cannot be read, nothing runs that writes one.
        let running = running_below(&dir.join("layers")).unwrap_or_default();
        if let Some(running) = running.into_iter().next() {
            let note = running.note;
            let (workspace, exec, command) = (note.workspace_name, note.exec, note.command);
            return Err(HomeError::Running { vault, workspace, exec, command });
        }
        match lock::holder_below(&dir.join("locks")) {
            Some(holder) => Err(HomeError::InUse { vault, holder }),
            None => Ok(()),
        }
    }

    pub(super) fn remove(&self, id: &Id) -> Result<()> {
        let dir = self.vault_dir(id);
        let doomed = self.vaults().join(format!("{id}.del"));
        let renamed = fs::rename(&dir, &doomed).or_else(|error| match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                crate::reserve::release(&dir);
                fs::rename(&dir, &doomed)
            }
            _ => Err(error),
        });
        match renamed {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(io_error("rename", &dir)(error).into());
            }
            _ => self.sync(&self.vaults())?,
        }
        for folder in ["names", "bindings"] {
            self.unlink_all(&self.dir.join(folder), id)?;
        }
        self.remove_mark(id)?;
        disk::remove_tree(&doomed).map_err(io_error("remove", &doomed))?;
        Ok(())
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
