//! Binding further folders, letting go of them, and saying that one lies elsewhere now.

use std::path::{Path, PathBuf};

use offshoot_host::FolderIdentity;
use offshoot_store::Id;
use offshoot_tree::display_bytes;
use offshoot_vault::{
    Binding, NewSnapshot, Vault, VaultRegistry, WorkspaceRecord, check_name, name_from,
};

use super::bind::{Bound, NewFolder, bind, numbered};
use super::bindable::check_folder;
use super::error::BindingError;
use super::git::git_name;
use super::planted::planted;
use super::service::BindingService;
use crate::commit::{CommitOptions, Folders};
use crate::error::{Result, ServiceError};
use crate::git::{GIT_SUFFIX, is_git_directory_on_host, is_git_folder_name, outside};
use crate::suggest::similar;

/// A folder to be bound.
#[derive(Clone, Copy, Debug)]
pub struct NewBinding<'a> {
    /// The folder on the host.
    pub directory: &'a Path,
    /// Its name; one is made of the folder's where there is none.
    pub name: Option<&'a str>,
    /// The user's home, which is never bound, nor is anything that holds it.
    pub user_home: Option<&'a Path>,
}

/// A binding that was changed, or is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebound {
    /// The binding as it was; as it is now where there was none.
    pub before: Binding,
    /// As it is now; none where it is gone.
    pub after: Option<Binding>,
    /// The operation that did it, unless nothing changed.
    pub operation: Option<Id>,
}

impl BindingService<'_> {
    /// The binding of a name; `/` names the folder that is the top of the tree.
    pub fn find(&self, name: &str) -> Result<Binding> {
        let bindings = self.vault.bindings()?;
        let wanted = if name == "/" { "" } else { name };
        let found = bindings.iter().find(|binding| binding.name == wanted);
        found.cloned().ok_or_else(|| {
            let suggestions = similar(name, bindings.iter().map(shown_name));
            let known = bindings.iter().map(|it| shown_name(it).to_owned()).collect();
            ServiceError::Unknown { what: "folder", text: name.to_owned(), suggestions, known }
        })
    }

    /// Binds a further folder and takes in what is in it. The folder itself is not touched.
    pub fn add(
        &self,
        registry: &VaultRegistry,
        new: &NewBinding<'_>,
        options: &CommitOptions<'_>,
    ) -> Result<Bound> {
        let directory = open(new.directory)?;
        let _held = self.vault.hold()?;
        let folders = Folders::lock(self.vault, &self.actor, options)?;
        let before = folders.bindings();
        let git = is_own_git_directory(before, &directory);
        self.refuse(registry, &directory, new.user_home, before, git)?;
        let name = match new.name {
            None if git => git_name(self.vault, before)?,
            wanted => self.free_name(wanted, &directory, before)?,
        };
        match git {
            true => registry.note_further_folder(self.vault)?,
            false => registry.claim_folder(self.vault, &directory)?,
        }
        let folder = NewFolder { name: &name, directory: &directory, git };
        let added = bind(self.vault, &self.actor, &folder, before, &options.import);
        if added.is_err() {
            // The error that stopped it is the one to report; a link that is left does not count without the binding.
            drop(registry.relink(self.vault));
        }
        added
    }

    /// Lets go of a folder: it is taken out of the main line. The folder itself is not touched.
    pub fn remove(
        &self,
        registry: &VaultRegistry,
        name: &str,
        options: &CommitOptions<'_>,
    ) -> Result<Rebound> {
        let before = self.find(name)?;
        if before.is_first() {
            return Err(BindingError::First.into());
        }
        let _held = self.vault.hold()?;
        let _folders = Folders::lock(self.vault, &self.actor, options)?;
        let head = self.vault.head()?;
        let (root, content) = self.vault.without_bound(&head.root, &before.name)?;
        let committed = self.vault.transact("binding remove", &self.actor, |tx| {
            if tx.head()? != Some(head.id) || !tx.bindings()?.contains(&before) {
                return Ok(false);
            }
            let (parents, reason) = (vec![head.id], "unbind".to_owned());
            let new = NewSnapshot { root, content, parents, reason, message: None };
            let snapshot = tx.add_snapshot(new)?;
            tx.set_head(snapshot.id)?;
            tx.remove_binding(&before.id)?;
            if before.git {
                tx.decline_git_directory(&before.path)?;
            }
            tx.summary(format!("unbind {} ({})", before.name, display_bytes(&before.path)));
            Ok(true)
        })?;
        if !committed.value {
            return Err(BindingError::Overtaken.into());
        }
        registry.relink(self.vault)?;
        Ok(Rebound { before, after: None, operation: committed.operation })
    }

    /// Says that a folder lies elsewhere now, or that the one at its path is the right one, whatever was there before. Nothing is read; the next capture finds what is different there. What was
    /// interrupted in it is left for later: it may need the folder to be where it is said to be. A vault that is bound to no first folder
    /// gets one this way.
    pub fn relocate(
        &self,
        registry: &VaultRegistry,
        name: &str,
        new: &NewBinding<'_>,
        options: &CommitOptions<'_>,
    ) -> Result<Rebound> {
        let _lock = self.vault.lock_folders(Some(options.wait))?;
        let directory = open(new.directory)?;
        let bindings = self.vault.bindings()?;
        let unbound = name == "/" && !bindings.iter().any(Binding::is_first);
        let before = match unbound {
            true => Binding::new(Id::random(), "", &directory, Id::random().time_ms()),
            false => self.find(name)?,
        };
        let others: Vec<Binding> =
            bindings.iter().filter(|other| other.id != before.id).cloned().collect();
        let stays = directory == before.host_path();
        if stays && !unbound && FolderIdentity::of(&directory) == before.identity {
            return Ok(Rebound { after: Some(before.clone()), before, operation: None });
        }
        let refused = self.refuse(registry, &directory, new.user_home, &others, before.git);
        refused.map_err(|error| made_by_mistake(registry, &before, error))?;
        require_git_directory(&before.name, &directory)?;
        if !before.git {
            registry.claim_folder(self.vault, &directory)?;
        }
        let committed = self.vault.transact("binding move", &self.actor, |tx| {
            if tx.bindings()? != bindings {
                return Ok(None);
            }
            let after = Binding::new(before.id, &before.name, &directory, before.created_ms);
            let after = Binding { git: before.git, ..after };
            tx.set_binding(&after)?;
            let (from, to) = (display_bytes(&before.path), display_bytes(&after.path));
            let name = shown_name(&before);
            tx.summary(match stays {
                true if unbound => format!("bind {to}"),
                true => format!("folder {name} is the one at {to}"),
                false => format!("folder {name} moved from {from} to {to}"),
            });
            Ok(Some(after))
        });
        registry.relink(self.vault)?;
        let committed = committed?;
        let after = Some(committed.value.ok_or(BindingError::Overtaken)?);
        Ok(Rebound { before, after, operation: committed.operation })
    }

    /// Fails where a folder must not be bound beside these. A git directory may be in other vaults as well.
    fn refuse(
        &self,
        registry: &VaultRegistry,
        directory: &Path,
        user_home: Option<&Path>,
        others: &[Binding],
        git: bool,
    ) -> Result<()> {
        check_folder(registry, directory, user_home, false)?;
        if let Some(same) = others.iter().find(|other| other.host_path() == directory) {
            let (path, name) = (directory.to_owned(), shown_name(same).to_owned());
            return Err(BindingError::Already { path, name }.into());
        }
        for other in others {
            let other = other.host_path();
            let (inner, outer) = (directory.to_owned(), other.clone());
            if directory.starts_with(&other) {
                return Err(BindingError::Nested { inner, outer }.into());
            }
            if other.starts_with(directory) {
                return Err(BindingError::Nested { inner: outer, outer: inner }.into());
            }
        }
        match registry.find_bound(directory)?.filter(|_| !git) {
            Some((listed, bound)) if listed.id != self.vault.id() => {
                let (path, vault) = (directory.to_owned(), listed.name);
                Err(BindingError::OtherVault { path, bound, vault, unused: None }.into())
            }
            _ => Ok(()),
        }
    }
}

/// Whether a directory is the one that the first folder names as its git directory.
fn is_own_git_directory(bindings: &[Binding], directory: &Path) -> bool {
    let first = bindings.iter().find(|binding| binding.is_first()).map(Binding::host_path);
    let named = first.and_then(|first| outside(&first)).map(|found| found.directory);
    named.as_deref() == Some(directory) && is_git_directory_on_host(directory)
}

/// Names that end in `.git` are those of git directories: what is in them is treated so.
fn require_git_directory(name: &str, directory: &Path) -> Result<()> {
    if !is_git_folder_name(name.as_bytes()) || is_git_directory_on_host(directory) {
        return Ok(());
    }
    let why = "it is not a git directory, and only those have names that end in .git";
    let (path, why) = (directory.to_owned(), why.to_owned());
    Err(BindingError::Refused { path, why, can_force: false }.into())
}

/// Says of a vault that has the new place of a folder which is gone whether it can go: it may have been made by mistake.
fn made_by_mistake(
    registry: &VaultRegistry,
    before: &Binding,
    error: ServiceError,
) -> ServiceError {
    match error {
        ServiceError::Binding(BindingError::OtherVault { path, bound, vault, .. })
            if before.is_gone() && path == bound =>
        {
            let other = registry.peek(Some(&vault), &path).ok().flatten();
            let unused = Some(other.is_some_and(|other| is_unused(&other)));
            BindingError::OtherVault { path, bound, vault, unused }.into()
        }
        error => error,
    }
}

/// Whether nothing was ever kept in a vault: its workspaces are as they were forked, and its main line is what was in the folder.
fn is_unused(vault: &Vault) -> bool {
    let is_unchanged = |workspace: &WorkspaceRecord| -> offshoot_vault::Result<bool> {
        let (head, base) = (workspace.state.head, workspace.state.base);
        Ok(head == base || vault.snapshot(&head)?.root == vault.snapshot(&base)?.root)
    };
    let look = || -> offshoot_vault::Result<bool> {
        let main = vault.ancestry(vault.head()?.id, usize::MAX)?;
        let imports = main.iter().all(|snapshot| snapshot.reason == "import");
        let mut unchanged = imports && vault.left()?.is_empty();
        for workspace in vault.workspaces()? {
            unchanged = unchanged && is_unchanged(&workspace)?;
        }
        Ok(unchanged)
    };
    // What cannot be read may be worth something.
    look().unwrap_or(false)
}

/// What a person calls a binding.
pub fn shown_name(binding: &Binding) -> &str {
    if binding.is_first() { "/" } else { &binding.name }
}

/// The folder by its path without links.
fn open(directory: &Path) -> Result<PathBuf> {
    let found = directory.canonicalize().map_err(|error| BindingError::Missing {
        path: directory.to_owned(),
        error: error.to_string(),
    })?;
    match found.is_dir() {
        true => Ok(found),
        false => Err(BindingError::NotAFolder(found).into()),
    }
}

impl BindingService<'_> {
    /// The name that was asked for, or one made of the folder's that nothing has yet.
    fn free_name(
        &self,
        wanted: Option<&str>,
        directory: &Path,
        bound: &[Binding],
    ) -> Result<String> {
        let planted = planted(self.vault)?;
        let is_bound = |name: &str| bound.iter().any(|binding| binding.name == name);
        if let Some(name) = wanted {
            check_name(name)?;
            require_git_directory(name, directory)?;
            if is_bound(name) {
                return Err(ServiceError::NameTaken { what: "folder", name: name.to_owned() });
            }
            return match planted.get(name) {
                Some(place) => {
                    let (name, place) = (name.to_owned(), place.clone());
                    Err(BindingError::Planted { name, place }.into())
                }
                None => Ok(name.to_owned()),
            };
        }
        let is_git = is_git_directory_on_host(directory);
        // A directory that is called `.git` goes by the name of the one that it is in.
        let named =
            directory.ancestors().take(2).find(|path| path.file_name() != Some(".git".as_ref()));
        let own = named.and_then(Path::file_name).unwrap_or_default();
        let own = name_from(own.as_encoded_bytes());
        let own = own.strip_suffix(GIT_SUFFIX).unwrap_or(&own);
        let suffix = if is_git { GIT_SUFFIX } else { "" };
        Ok(numbered(own, suffix, |name| is_bound(name) || planted.contains_key(name)))
    }
}
