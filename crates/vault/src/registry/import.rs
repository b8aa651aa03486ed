//! Making a vault of a file that another was exported to.

use std::path::{Path, PathBuf};

use offshoot_host::disk;
use offshoot_host::lock::DirLock;
use offshoot_store::{Archive, Id, RefKey, RefRow, StoreError};

use super::{Claimed, Result, VaultRegistry, VaultRegistryError};
use crate::check::{CheckDepth, CheckReport};
use crate::error::{VaultError, io_error};
use crate::name::{check_name, name_from};
use crate::refs::{BINDING, Binding};
use crate::transact::VAULT;
use crate::vault::{Vault, require_own};

/// A vault that came from a file.
#[derive(Debug)]
pub struct FromArchive {
    /// The vault, open.
    pub vault: Vault,
    /// Its name.
    pub name: String,
    /// What was verified.
    pub report: CheckReport,
}

impl VaultRegistry {
    /// Makes a vault of an exported one, under the name that it had or another. Everything in it is verified before it
    /// appears; it appears whole or not at all.
    pub fn import(&self, file: &Path, name: Option<&str>) -> Result<FromArchive> {
        require_own(&self.dir)?;
        let archive = Archive::open(file).map_err(|error| archive_error(file, error))?;
        let (id, name) = self.identify(&archive, file, name)?;
        let bindings = self.free_bindings(&archive, file)?;
        let further = bindings.len() > 1;
        let own = bindings.iter().filter(|binding| !binding.git);
        let folders: Vec<PathBuf> = own.map(Binding::host_path).collect();
        self.make_dirs()?;
        let staged = self.vaults().join(format!("{id}.tmp"));
        let lock = DirLock::create(&staged).map_err(io_error("create", &staged))?;
        let made = self.unpack(&archive, file, &staged, id, &name);
        let report = match made {
            Ok(report) => report,
            Err(error) => {
                // The error that stopped the making is the one to report; what is left is cleared by the next heal.
                drop(disk::remove_tree(&staged));
                return Err(error);
            }
        };
        self.publish(&staged, id, &name, &Claimed { folders: &folders, further })?;
        drop(lock);
        let vault = Vault::open(&self.vault_dir(&id), id, &self.options)?;
        Ok(FromArchive { vault, name, report })
    }

    /// Which vault it is and what it will be called.
    fn identify(&self, archive: &Archive, file: &Path, name: Option<&str>) -> Result<(Id, String)> {
        let meta = |key: &str| archive.meta(key).map_err(|error| archive_error(file, error));
        let id: Option<[u8; 16]> = meta(VAULT)?.and_then(|bytes| bytes.try_into().ok());
        let id =
            id.map(Id::from_bytes).ok_or_else(|| bad(file, "it does not say which vault it is"))?;
        let recorded = meta("name")?.and_then(|bytes| String::from_utf8(bytes).ok());
        let name = match (name, recorded) {
            (Some(name), _) => name.to_owned(),
            (None, Some(name)) if check_name(&name).is_ok() => name,
            (None, name) => name_from(name.unwrap_or_default().as_bytes()),
        };
        check_name(&name)?;
        if self.vault_dir(&id).is_dir() {
            let known = self.name_of(&id)?;
            return Err(VaultRegistryError::AlreadyHere(known.unwrap_or_else(|| id.to_string())));
        }
        if self.id_of(&name)?.is_some() {
            return Err(VaultRegistryError::NameTaken(name));
        }
        Ok((id, name))
    }

    /// The host directories that the vault is bound to; none of its own may belong to another here.
    fn free_bindings(&self, archive: &Archive, file: &Path) -> Result<Vec<Binding>> {
        let rows = archive.refs(BINDING).map_err(|error| archive_error(file, error))?;
        let mut bindings = Vec::new();
        for (id, value) in rows {
            let key = RefKey { kind: BINDING.to_owned(), id };
            let row = RefRow { scope: String::new(), name: None, value };
            let binding = Binding::from_row(&key, &row)?;
            let dir = binding.host_path();
            if !binding.git
                && let Some(id) = self.bound_to(&dir)?
            {
                let vault = self.name_of(&id)?.unwrap_or_else(|| id.to_string());
                return Err(VaultRegistryError::AlreadyBound { dir, vault });
            }
            bindings.push(binding);
        }
        Ok(bindings)
    }

    fn unpack(
        &self,
        archive: &Archive,
        file: &Path,
        staged: &Path,
        id: Id,
        name: &str,
    ) -> Result<CheckReport> {
        let vault = Vault::create(staged, id, &self.options)?;
        vault.fill(archive, file).map_err(|error| match error {
            VaultError::Store(error) => archive_error(file, error),
            other => other,
        })?;
        let report = vault.check(CheckDepth::Content)?;
        if let Some(problem) = report.problems.first() {
            return Err(bad(file, problem).into());
        }
        if vault.has_strangers()? {
            return Err(bad(file, "it holds objects that nothing reaches").into());
        }
        vault.record_arrival(name)?;
        offshoot_store::mark_checked(staged);
        vault.sync_dirs()?;
        Ok(report)
    }
}

fn archive_error(file: &Path, error: StoreError) -> VaultError {
    match error {
        StoreError::Foreign(path) if path == file => VaultError::NoArchive(path),
        StoreError::Damaged { path, detail } if path == file => {
            VaultError::BadArchive { path, detail }
        }
        StoreError::Sqlite { path, source } if path == file => {
            VaultError::BadArchive { path, detail: source.to_string() }
        }
        StoreError::Missing(path) => io_error("open", &path)(rustix::io::Errno::NOENT),
        other => other.into(),
    }
}

fn bad(file: &Path, detail: &str) -> VaultError {
    VaultError::BadArchive { path: file.to_owned(), detail: detail.to_owned() }
}
