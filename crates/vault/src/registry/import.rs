//! Making a vault of a file that another was exported to.
//!
//! The file may come from anybody. It is opened without trust in anything that it defines (`store::Archive::open`), what it would
//! expand to is computed before it is expanded, every record and every tree is looked at before anything is kept, and what speaks of
//! the machine that it comes from is left behind: folders above all.

mod declared;
mod records;
mod refused;
mod sessions;
mod trees;

use std::path::{Path, PathBuf};

use offshoot_host::disk;
use offshoot_host::lock::DirLock;
use offshoot_store::{Archive, Id, RefKey, RefRow, StoreError};

use self::declared::Declared;
use self::refused::{Refused, Vetted};
use super::{Claimed, Result, VaultRegistry, VaultRegistryError};
use crate::actor::Actor;
use crate::audit::records::Records;
use crate::check::{CheckDepth, CheckReport};
use crate::error::{VaultError, io_error};
use crate::name::{check_name, name_from};
use crate::refs::{BINDING, Binding};
use crate::transact::VAULT;
use crate::vault::{Vault, require_own};

/// A file may expand to this many times its length, or to [`ALWAYS`], whichever is more. Sources and their history come to less than a
/// tenth of that.
const TIMES: u64 = 100;
/// A file may expand to this much, however short it is.
const ALWAYS: u64 = 1 << 30;

/// How a vault is to be made of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArchiveOptions<'a> {
    /// The name of the vault; the one that is recorded in the file where none is given.
    pub name: Option<&'a str>,
    /// The most bytes that the files in it may come to; a multiple of the file's length where nothing is said.
    pub max_size: Option<u64>,
    /// Who does it.
    pub actor: Option<&'a Actor>,
}

/// A vault that came from a file.
#[derive(Debug)]
pub struct FromArchive {
    /// The vault, open. It is bound to no folder.
    pub vault: Vault,
    /// Its name.
    pub name: String,
    /// What was verified.
    pub report: CheckReport,
    /// The folders that it was bound to where it was exported, the first one first. Nothing was done with them.
    pub was_bound: Vec<Binding>,
}

impl VaultRegistry {
    /// Makes a vault of an exported one. Everything in it is verified before it appears; it appears whole or not at all, and is bound
    /// to no folder.
    pub fn import(&self, file: &Path, options: &ArchiveOptions<'_>) -> Result<FromArchive> {
        require_own(&self.dir)?;
        let archive = Archive::open(file).map_err(|error| archive_error(file, error))?;
        let (id, name) = self.identify(&archive, file, options.name)?;
        let was_bound = bindings(&archive, file)?;
        let limit = match options.max_size {
            Some(limit) => limit,
            None => {
                let length = std::fs::metadata(file).map_err(io_error("stat", file))?.len();
                length.saturating_mul(TIMES).max(ALWAYS)
            }
        };
        self.make_dirs()?;
        let staged = self.vaults().join(format!("{id}.tmp"));
        let lock = DirLock::create(&staged).map_err(io_error("create", &staged))?;
        let made =
            self.unpack(&archive, &staged, id, limit).and_then(|(vault, report, altered)| {
                let actor = options.actor.cloned().unwrap_or_else(|| Actor::user("unknown"));
                vault.record_arrival(&name, &actor, altered)?;
                offshoot_store::mark_checked(&staged);
                vault.sync_dirs()?;
                Ok(report)
            });
        let report = match made {
            Ok(report) => report,
            Err(refused) => {
                // The error that stopped the making is the one to report; what is left is cleared by the next heal.
                drop(disk::remove_tree(&staged));
                drop(self.forget_key(&staged));
                return Err(refused_error(file, refused, limit).into());
            }
        };
        let unbound: [PathBuf; 0] = [];
        self.publish(&staged, id, &name, &Claimed { folders: &unbound, further: false })?;
        drop(lock);
        let vault = Vault::open(&self.vault_dir(&id), id, &self.options)?;
        Ok(FromArchive { vault, name, report, was_bound })
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

    /// The vault, what was verified, and the records that are not what they were where it comes from.
    fn unpack(
        &self,
        archive: &Archive,
        staged: &Path,
        id: Id,
        limit: u64,
    ) -> Vetted<(Vault, CheckReport, Records)> {
        let declared = Declared::of(archive, limit)?;
        let vault = Vault::create(staged, id, &self.options)?;
        vault.fill(archive, limit)?;
        let altered = records::leave_behind(&vault)?;
        records::vet(&vault)?;
        trees::vet(&vault, &declared, limit)?;
        let report = vault.check(CheckDepth::Content)?;
        if let Some(problem) = report.problems.first() {
            return Err(problem.clone().into());
        }
        if vault.has_strangers()? {
            return Err("it holds objects that nothing reaches".to_owned().into());
        }
        Ok((vault, report, altered))
    }
}

/// The folders that the vault was bound to, to be told.
fn bindings(archive: &Archive, file: &Path) -> Result<Vec<Binding>> {
    let rows = archive.refs(BINDING).map_err(|error| archive_error(file, error))?;
    let mut bindings = Vec::new();
    for (id, name, value) in rows {
        let key = RefKey { kind: BINDING.to_owned(), id };
        let row = RefRow { scope: String::new(), name, value };
        let binding = Binding::from_row(&key, &row);
        bindings.push(binding.map_err(|error| bad(file, &error.to_string()))?);
    }
    bindings.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(bindings)
}

fn refused_error(file: &Path, refused: Refused, limit: u64) -> VaultError {
    match refused {
        Refused::Bad(detail) => bad(file, &detail),
        Refused::TooLarge(bytes) => {
            VaultError::ArchiveExpands { path: file.to_owned(), bytes, limit }
        }
        Refused::Failed(VaultError::Store(error)) => archive_error(file, error),
        // The tree is what the file said, in the new vault: what is wrong with it is wrong with the file.
        Refused::Failed(VaultError::Tree(error)) => bad(file, &error.to_string()),
        Refused::Failed(
            error @ (VaultError::BadRecord { .. }
            | VaultError::NoSnapshot(_)
            | VaultError::NoOperation(_)),
        ) => bad(file, &error.to_string()),
        Refused::Failed(error) => error,
    }
}

fn archive_error(file: &Path, error: StoreError) -> VaultError {
    match error {
        StoreError::Foreign(path) if path == file => VaultError::NoArchive(path),
        StoreError::Damaged { detail, .. } => bad(file, &detail),
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
