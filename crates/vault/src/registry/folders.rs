//! The folders of a vault in the index of its home, where a vault has several or had others before.
//!
//! What a vault is bound to is in its own catalog, and undo changes it there. The links are made to fit afterwards; should
//! that be cut short, a mark beside them says that those of this vault are to be looked at again.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_store::Id;

use super::{Result, VaultRegistry, VaultRegistryError, claim, entries, read_link};
use crate::error::io_error;
use crate::vault::{Vault, require_own};

impl VaultRegistry {
    /// Makes a folder findable as one of a vault's, before the vault itself says so. Refused where it is another vault's.
    pub fn claim_folder(&self, vault: &Vault, dir: &Path) -> Result<()> {
        let id = vault.id();
        require_own(&self.dir)?;
        self.set_mark(&id)?;
        self.link_folder(&id, dir)
    }

    /// Notes that a vault has more folders than the one that it was made from, though it is not found by them.
    pub fn note_further_folder(&self, vault: &Vault) -> Result<()> {
        require_own(&self.dir)?;
        self.set_mark(&vault.id())
    }

    pub(super) fn link_folder(&self, id: &Id, dir: &Path) -> Result<()> {
        let link = self.binding_link(dir);
        if !claim(&link, id)? {
            let other = read_link(&link)?.map(|id| self.name_of(&id)).transpose()?.flatten();
            let vault = other.unwrap_or_default();
            return Err(VaultRegistryError::AlreadyBound { dir: dir.to_owned(), vault });
        }
        self.sync(&self.bindings())
    }

    /// Makes the links of a vault fit what its catalog says. Returns whether any was made; nothing is done for a vault that
    /// never had another folder than it was made from.
    pub fn relink(&self, vault: &Vault) -> Result<bool> {
        let id = vault.id();
        if !self.is_marked(&id) {
            return Ok(false);
        }
        let bindings = vault.bindings()?;
        let claimed = bindings.iter().filter(|binding| !binding.git);
        let wanted: Vec<PathBuf> = claimed.map(|b| self.binding_link(&b.host_path())).collect();
        let (mut made, mut removed) = (false, false);
        for link in &wanted {
            // A directory that was bound again meanwhile stays with the newer vault.
            made |= read_link(link)?.is_none() && claim(link, &id)?;
        }
        for link in entries(&self.bindings())? {
            if read_link(&link)? == Some(id) && !wanted.contains(&link) {
                fs::remove_file(&link).map_err(io_error("remove", &link))?;
                removed = true;
            }
        }
        if made || removed {
            self.sync(&self.bindings())?;
        }
        Ok(made)
    }

    /// Whether the links of a vault may not fit its catalog.
    pub(super) fn is_marked(&self, id: &Id) -> bool {
        self.mark(id).exists()
    }

    /// Marks the links of a vault as ones that may not fit.
    pub(super) fn set_mark(&self, id: &Id) -> Result<()> {
        let mark = self.mark(id);
        Ok(fs::write(&mark, b"").map_err(io_error("create", &mark))?)
    }

    pub(super) fn remove_mark(&self, id: &Id) -> Result<()> {
        let mark = self.mark(id);
        match fs::remove_file(&mark) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(io_error("remove", &mark)(error).into())
            }
            _ => Ok(()),
        }
    }

    /// Whether a vault says itself that it is bound to a directory. Only asked where a link may be wrong.
    pub(super) fn confirms(&self, id: &Id, dir: &Path) -> Result<bool> {
        if !self.is_marked(id) {
            return Ok(true);
        }
        // What is wrong with a vault that cannot be opened is said to whoever works with it.
        let Ok(vault) = Vault::open(&self.vault_dir(id), *id, &self.options) else {
            return Ok(true);
        };
        let bindings = vault.bindings()?;
        Ok(bindings.iter().any(|binding| !binding.git && binding.host_path() == dir))
    }

    pub(super) fn bindings(&self) -> PathBuf {
        self.dir.join("bindings")
    }

    fn mark(&self, id: &Id) -> PathBuf {
        self.bindings().join(format!("{id}.folders"))
    }
}
