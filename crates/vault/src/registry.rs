//! A home: the place of many vaults, found by name or by the directory they are bound to.

mod delete;
mod folders;
pub(crate) mod import;
pub(crate) mod moved;

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use offshoot_host::disk;
use offshoot_host::lock::{DirLock, clear_abandoned};
use offshoot_store::Id;

use crate::actor::Actor;
use crate::audit::signing::Signing;
use crate::error::{VaultError, holder_name, io_error};
use crate::import::Source;
use crate::import::options::ImportOptions;
use crate::import::report::ImportReport;
use crate::name::{NameError, check_name};
use crate::vault::{Vault, VaultOptions, owner_to_spare, require_own};

/// A name for a message, in quotes where there would be nothing to see.
fn shown(name: &str) -> &str {
    if name.is_empty() { "\"\"" } else { name }
}

/// An error about the vaults of a home.
#[derive(Debug, thiserror::Error)]
pub enum VaultRegistryError {
    /// The vault itself failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The text cannot be a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is no vault of that name.
    #[error("there is no vault named {}", shown(.0))]
    NoVault(String),
    /// The name is in use.
    #[error("there is already a vault named {0}")]
    NameTaken(String),
    /// The directory belongs to a vault already.
    #[error("{} belongs to the vault {vault} already", .dir.display())]
    AlreadyBound {
        /// The directory.
        dir: PathBuf,
        /// The vault's name.
        vault: String,
    },
    /// The vault is there already.
    #[error("the vault is here already, as {0}")]
    AlreadyHere(String),
    /// A command runs in one of its workspaces.
    #[error("a command runs in workspace {workspace} of vault {vault}: {command}")]
    Running {
        /// The vault's name.
        vault: String,
        /// The workspace's.
        workspace: String,
        /// The command's id.
        exec: Id,
        /// Its command line.
        command: String,
    },
    /// Something else is under way in one of its workspaces.
    #[error("vault {vault} is in use by {}", holder_name(.holder))]
    InUse {
        /// The vault's name.
        vault: String,
        /// What they say of themselves; may be empty.
        holder: String,
    },
    /// A commit was interrupted in a folder of it.
    #[error("a commit of vault {vault} was interrupted, and the folder is half changed: what was in it is in {}", .staging.display())]
    HalfChanged {
        /// The vault's name.
        vault: String,
        /// The directory with what the commit took out of the folder.
        staging: PathBuf,
    },
    /// What was to be imported is not a directory.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
}

type Result<T, E = VaultRegistryError> = std::result::Result<T, E>;

/// A home of vaults.
#[derive(Clone, Debug)]
pub struct VaultRegistry {
    dir: PathBuf,
    options: VaultOptions,
}

/// A vault as the home lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedVault {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: Id,
    /// Its directory.
    pub dir: PathBuf,
}

/// A vault that was just made.
#[derive(Debug)]
pub struct Created {
    /// The vault, open.
    pub vault: Vault,
    /// Its name.
    pub name: String,
    /// What came in.
    pub report: ImportReport,
}

/// What a new vault is found by.
struct Claimed<'a> {
    /// The folders that are its own.
    folders: &'a [PathBuf],
    /// It has others than the one that it was made from.
    further: bool,
}

impl VaultRegistry {
    /// A home in a directory, which is made with the first vault.
    pub fn new(dir: PathBuf, options: VaultOptions) -> Self {
        Self { dir, options }
    }

    /// The same home for somebody who frees space: on a full disk vaults are opened with what they keep in reserve.
    pub fn freeing(&self) -> Self {
        let options = VaultOptions { frees_space: true, ..self.options };
        Self { dir: self.dir.clone(), options }
    }

    /// Where the home is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// All vaults by name.
    pub fn list(&self) -> Result<Vec<ListedVault>> {
        self.heal()?;
        let mut listed = self.linked()?;
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }

    /// Opens a vault by its name.
    pub fn open(&self, name: &str) -> Result<Vault> {
        let id = self.find(name)?;
        Ok(Vault::open(&self.vault_dir(&id), id, &self.options)?)
    }

    /// Opens a vault by its name to check it, however damaged it is.
    pub fn inspect(&self, name: &str) -> Result<Vault> {
        let id = self.find(name)?;
        Ok(Vault::inspect(&self.vault_dir(&id), id, &self.options)?)
    }

    /// The vault whose binding holds `dir`, with its name and the bound directory; the innermost if several do.
    pub fn find_bound(&self, dir: &Path) -> Result<Option<(ListedVault, PathBuf)>> {
        let found = self.look_up_bound(dir)?;
        if found.as_ref().is_some_and(|(listed, _)| listed.name != listed.id.to_string()) {
            return Ok(found);
        }
        // Neither a vault without a binding nor one without a name is what anybody made.
        if self.heal()? { self.look_up_bound(dir) } else { Ok(found) }
    }

    fn look_up_bound(&self, dir: &Path) -> Result<Option<(ListedVault, PathBuf)>> {
        for candidate in dir.ancestors() {
            let Some(id) = self.bound_to(candidate)? else { continue };
            if !self.confirms(&id, candidate)? {
                continue;
            }
            let name = self.name_of(&id)?.unwrap_or_else(|| id.to_string());
            let listed = ListedVault { name, id, dir: self.vault_dir(&id) };
            return Ok(Some((listed, candidate.to_owned())));
        }
        Ok(None)
    }

    /// Opens a vault to look at names in it: the one of a name, or the one whose binding holds `dir`. Nothing is mended or
    /// written, in the home neither.
    pub fn peek(&self, name: Option<&str>, dir: &Path) -> Result<Option<Vault>> {
        let id = match name {
            Some(name) => self.id_of(name)?,
            None => self.look_up_bound(dir)?.map(|(listed, _)| listed.id),
        };
        let opened = id.map(|id| Vault::peek(&self.vault_dir(&id), id, &self.options));
        Ok(opened.transpose()?)
    }

    /// The names of all vaults; nothing is mended or written.
    pub fn peek_names(&self) -> Result<Vec<String>> {
        let mut names: Vec<String> = self.linked()?.into_iter().map(|listed| listed.name).collect();
        names.sort();
        Ok(names)
    }

    /// The vault that a directory is bound to; a link that a deletion left does not count.
    fn bound_to(&self, dir: &Path) -> Result<Option<Id>> {
        let id = read_link(&self.binding_link(dir))?;
        Ok(id.filter(|id| self.vault_dir(id).is_dir()))
    }

    /// Opens a listed vault.
    pub fn open_listed(&self, listed: &ListedVault) -> Result<Vault> {
        Ok(Vault::open(&listed.dir, listed.id, &self.options)?)
    }

    /// Makes a vault, empty or from a directory that it is then bound to. It appears whole or not at all.
    pub fn create(
        &self,
        name: &str,
        source: Option<&Path>,
        import: &ImportOptions,
        actor: &Actor,
    ) -> Result<Created> {
        check_name(name)?;
        require_own(&self.dir)?;
        if self.id_of(name)?.is_some() {
            return Err(VaultRegistryError::NameTaken(name.to_owned()));
        }
        let source = source.map(|dir| self.check_source(dir)).transpose()?;
        self.make_dirs()?;
        let id = Id::random();
        let staged = self.vaults().join(format!("{id}.tmp"));
        let lock = DirLock::create(&staged).map_err(io_error("create", &staged))?;
        let made = self.build(&staged, id, name, source.as_deref(), import, actor);
        let report = match made {
            Ok(report) => report,
            Err(error) => {
                // The error that stopped the making is the one to report; what is left is cleared by the next heal.
                drop(disk::remove_tree(&staged));
                drop(self.forget_key(&staged));
                return Err(error);
            }
        };
        let folders = Claimed { folders: source.as_slice(), further: false };
        self.publish(&staged, id, name, &folders)?;
        drop(lock);
        let vault = Vault::open(&self.vault_dir(&id), id, &self.options)?;
        Ok(Created { vault, name: name.to_owned(), report })
    }

    fn check_source(&self, dir: &Path) -> Result<PathBuf> {
        let dir = dir.canonicalize().map_err(io_error("open", dir))?;
        if !dir.is_dir() {
            return Err(VaultRegistryError::NotADirectory(dir));
        }
        if let Some(id) = self.bound_to(&dir)? {
            let vault = self.name_of(&id)?.unwrap_or_else(|| id.to_string());
            return Err(VaultRegistryError::AlreadyBound { dir, vault });
        }
        Ok(dir)
    }

    fn build(
        &self,
        staged: &Path,
        id: Id,
        name: &str,
        source: Option<&Path>,
        import: &ImportOptions,
        actor: &Actor,
    ) -> Result<ImportReport> {
        let vault = Vault::create(staged, id, &self.options)?;
        let mut import = import.clone();
        import.never.push(self.dir.clone());
        let source = source.map_or(Source::Nothing, Source::Directory);
        let report = vault.found(name, source, &import, actor)?;
        offshoot_store::mark_checked(staged);
        vault.sync_dirs()?;
        Ok(report)
    }

    /// The point of no return, and the links that make the vault findable.
    fn publish(&self, staged: &Path, id: Id, name: &str, claimed: &Claimed<'_>) -> Result<()> {
        let dir = self.vault_dir(&id);
        fs::rename(staged, &dir).map_err(io_error("rename", staged))?;
        self.sync(&self.vaults())?;
        let linked = self.link(&id, name, claimed);
        if linked.is_err() {
            // Somebody took the name or the directory meanwhile: theirs stays, this one goes.
            self.remove(&id)?;
        }
        linked
    }

    /// The name comes last: a vault that has one is linked whole, and the others are linked again.
    fn link(&self, id: &Id, name: &str, claimed: &Claimed<'_>) -> Result<()> {
        for folder in claimed.folders {
            self.link_folder(id, folder)?;
        }
        if claimed.further {
            self.set_mark(id)?;
        }
        let names = self.dir.join("names");
        if !claim(&names.join(name), id)? {
            return Err(VaultRegistryError::NameTaken(name.to_owned()));
        }
        self.sync(&names)
    }

    /// Gives a vault another name.
    pub fn rename(&self, name: &str, new: &str) -> Result<()> {
        check_name(new)?;
        self.find_own(name)?;
        let names = self.dir.join("names");
        let (from, to) = (names.join(name), names.join(new));
        let flags = rustix::fs::RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(rustix::fs::CWD, &from, rustix::fs::CWD, &to, flags) {
            Err(rustix::io::Errno::EXIST) => Err(VaultRegistryError::NameTaken(new.to_owned())),
            other => {
                other.map_err(io_error("rename", &from))?;
                self.sync(&names)
            }
        }
    }

    /// Whether there is a vault of that name. No vault is opened where there is.
    pub fn has(&self, name: &str) -> Result<bool> {
        match self.find(name) {
            Err(VaultRegistryError::NoVault(_)) => Ok(false),
            other => other.map(|_| true),
        }
    }

    /// The id of the vault of a name, also where a crash left it without its link.
    fn find(&self, name: &str) -> Result<Id> {
        let mut id = self.id_of(name)?;
        if id.is_none() {
            self.heal()?;
            id = self.id_of(name)?;
        }
        id.ok_or_else(|| VaultRegistryError::NoVault(name.to_owned()))
    }

    /// The same of a vault that is to be changed. Root changes nobody else's.
    fn find_own(&self, name: &str) -> Result<Id> {
        let id = self.find(name)?;
        require_own(&self.dir)?;
        require_own(&self.vault_dir(&id))?;
        Ok(id)
    }

    /// Clears what a crash left half made or half deleted; of what cannot be cleared the first is the error.
    pub fn sweep(&self) -> Result<()> {
        require_own(&self.dir)?;
        let mut swept = Ok(());
        for path in entries(&self.vaults())? {
            let name = path.file_name().unwrap_or_default().as_bytes();
            let cleared = match name {
                name if name.ends_with(b".del") => disk::remove_tree(&path),
                name if name.ends_with(b".tmp") => clear_abandoned(&path),
                _ => continue,
            };
            swept = swept.and(cleared.map_err(io_error("remove", &path)));
            swept = swept.and(self.forget_key(&path));
        }
        Ok(swept?)
    }

    /// Removes the key of a vault that was never made or is deleted, by the path of what was left of it.
    fn forget_key(&self, left: &Path) -> Result<(), VaultError> {
        let id = left.file_stem().and_then(|name| parse_id(name.as_bytes()));
        match id.filter(|id| !left.exists() && !self.vault_dir(id).exists()) {
            Some(id) => Signing::forget(&self.dir, &id),
            None => Ok(()),
        }
    }

    /// Links vaults that a crash left without links and clears what one left half made or half deleted. Returns whether
    /// anything was linked. Where the home is read-only, or for root somebody else's, nothing is done.
    fn heal(&self) -> Result<bool> {
        if rustix::fs::access(&self.dir, rustix::fs::Access::WRITE_OK).is_err()
            || owner_to_spare(&self.dir).is_some()
        {
            return Ok(false);
        }
        // What cannot be cleared is no reason not to find vaults.
        drop(self.sweep());
        let (named, bound) = (self.link_targets("names")?, self.link_targets("bindings")?);
        let mut healed = false;
        for path in entries(&self.vaults())? {
            let name = path.file_name().unwrap_or_default().as_bytes();
            if let Some(id) = parse_id(name) {
                let is_named = named.contains(&id);
                if !is_named || !bound.contains(&id) || self.is_marked(&id) {
                    // A vault that cannot be opened is no reason not to find the others.
                    healed |= self.link_again(id, is_named).unwrap_or(false);
                }
            }
        }
        Ok(healed)
    }

    /// Makes the links of a vault that are missing, from what its own catalog records.
    fn link_again(&self, id: Id, named: bool) -> Result<bool> {
        let vault = Vault::open(&self.vault_dir(&id), id, &self.options)?;
        let mut linked = !named;
        for binding in vault.bindings()?.iter().filter(|binding| !binding.git) {
            let link = self.binding_link(disk::bytes_path(&binding.path));
            // A directory that was bound again meanwhile stays with the newer vault.
            linked |= read_link(&link)?.is_none() && claim(&link, &id)?;
        }
        linked |= self.relink(&vault)?;
        let recorded = vault.recorded_name()?;
        let names =
            std::iter::once(recorded.clone()).chain((2..).map(|n| format!("{recorded}-{n}")));
        for name in names.take_while(|_| !named) {
            if claim(&self.dir.join("names").join(&name), &id)? {
                break;
            }
        }
        Ok(linked)
    }

    /// The vaults that the links of a folder lead to.
    fn link_targets(&self, folder: &str) -> Result<HashSet<Id>> {
        let mut targets = HashSet::new();
        for link in entries(&self.dir.join(folder))? {
            targets.extend(read_link(&link)?);
        }
        Ok(targets)
    }

    fn linked(&self) -> Result<Vec<ListedVault>> {
        let mut listed = Vec::new();
        for link in entries(&self.dir.join("names"))? {
            let name = link.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Some(id) = read_link(&link)? {
                let dir = self.vault_dir(&id);
                if dir.is_dir() {
                    listed.push(ListedVault { name, id, dir });
                }
            }
        }
        Ok(listed)
    }

    /// The name of a vault.
    pub fn name_of(&self, id: &Id) -> Result<Option<String>> {
        Ok(self.linked()?.into_iter().find(|listed| listed.id == *id).map(|listed| listed.name))
    }

    fn id_of(&self, name: &str) -> Result<Option<Id>> {
        if check_name(name).is_err() {
            return Ok(None);
        }
        let id = read_link(&self.dir.join("names").join(name))?;
        Ok(id.filter(|id| self.vault_dir(id).is_dir()))
    }

    fn make_dirs(&self) -> Result<()> {
        let new = !self.vaults().is_dir();
        for folder in ["vaults", "names", "bindings"] {
            make_private_dir(&self.dir.join(folder))?;
        }
        if new {
            for dir in [Some(self.dir.as_path()), self.dir.parent()].into_iter().flatten() {
                self.sync(dir)?;
            }
        }
        Ok(())
    }

    fn vaults(&self) -> PathBuf {
        self.dir.join("vaults")
    }

    fn vault_dir(&self, id: &Id) -> PathBuf {
        self.vaults().join(id.to_string())
    }

    fn binding_link(&self, dir: &Path) -> PathBuf {
        let hash = blake3::hash(dir.as_os_str().as_bytes());
        self.dir.join("bindings").join(hash.to_hex().as_str())
    }

    fn sync(&self, dir: &Path) -> Result<()> {
        Ok(disk::sync_dir(dir).map_err(io_error("sync", dir))?)
    }
}

/// Makes a link to a vault; `false` where the name is taken by another.
fn claim(link: &Path, id: &Id) -> Result<bool> {
    let target = format!("../vaults/{id}");
    for _ in 0..2 {
        match symlink(&target, link) {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(io_error("create", link)(error).into()),
        }
        if read_link(link)?.as_ref() == Some(id) {
            return Ok(true);
        }
        // A link to a vault that is gone is left from a deletion that was cut short.
        let dangling = !link.exists();
        if !dangling {
            return Ok(false);
        }
        fs::remove_file(link).map_err(io_error("remove", link))?;
    }
    Ok(false)
}

fn read_link(link: &Path) -> Result<Option<Id>> {
    match fs::read_link(link) {
        Ok(target) => Ok(target.file_name().and_then(|name| parse_id(name.as_bytes()))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => {
            Ok(None)
        }
        Err(error) => Err(io_error("read", link)(error).into()),
    }
}

fn parse_id(name: &[u8]) -> Option<Id> {
    std::str::from_utf8(name).ok()?.parse().ok()
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(found) => {
            let paths: std::io::Result<Vec<PathBuf>> =
                found.map(|entry| entry.map(|entry| entry.path())).collect();
            Ok(paths.map_err(io_error("read", folder))?)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(io_error("read", folder)(error).into()),
    }
}

fn make_private_dir(dir: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    Ok(builder.recursive(true).mode(0o700).create(dir).map_err(io_error("create", dir))?)
}
