//! The git directory of the first folder where it lies outside of the folder: taken in by itself, as a further folder.

use std::path::{Path, PathBuf};

use offshoot_host::HostError;
use offshoot_vault::{Actor, Binding, Vault, VaultError};
use rustix::fs::{Access, access};

use super::bind::{NewFolder, bind, numbered};
use super::bindable::check_bindable;
use super::git_directory::{GitDirectory, GitUnboundReason, UnboundGitDirectory};
use super::host::shared_directories;
use super::planted::planted;
use super::service::BindingService;
use crate::commit::{CommitOptions, Folders};
use crate::error::{Result, ServiceError};
use crate::git::{GIT_SUFFIX, NotOurs, checkout_above, outside};

impl BindingService<'_> {
    /// Takes the git directory of the first folder in, where that is outside of it and no part of the vault yet.
    pub fn take_git_directory(&self, options: &CommitOptions<'_>) -> Result<GitDirectory> {
        let user_home = options.git.as_ref().and_then(|git| git.user_home.as_deref());
        if look(self.vault, &self.vault.bindings()?, user_home)? == Found::Inside {
            return Ok(GitDirectory::Inside);
        }
        let mut folders = Folders::lock(self.vault, &self.actor, options)?;
        let _held = self.vault.hold()?;
        take(self.vault, &self.actor, &mut folders, options)
    }

    /// Where the git directory of the first folder is now. Nothing is changed.
    pub fn git_directory(&self, user_home: Option<&Path>) -> Result<GitDirectory> {
        match look(self.vault, &self.vault.bindings()?, user_home)? {
            Found::Inside => Ok(GitDirectory::Inside),
            Found::Bound(binding) | Found::Elsewhere(binding, _) => {
                bound(self.vault, binding, false)
            }
            Found::Left(left) => Ok(GitDirectory::Left(left)),
            Found::Free(directory) => Ok(GitDirectory::Left(UnboundGitDirectory {
                directory,
                why: GitUnboundReason::NotYet,
            })),
        }
    }
}

/// What a look at the first folder found.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    /// Nothing is outside, or it is in a folder that was bound for other reasons.
    Inside,
    /// Bound.
    Bound(Binding),
    /// One was bound, and now the folder's is another.
    Elsewhere(Binding, PathBuf),
    /// It cannot be bound.
    Left(UnboundGitDirectory),
    /// It can be bound.
    Free(PathBuf),
}

fn look(vault: &Vault, bindings: &[Binding], user_home: Option<&Path>) -> Result<Found> {
    let Some(first) = bindings.first().filter(|first| first.is_first()) else {
        return Ok(Found::Inside);
    };
    let Some(found) = outside(&first.host_path()) else {
        return Ok(look_above(bindings, &first.host_path(), user_home));
    };
    let directory = found.directory;
    if let Some(around) = bindings.iter().find(|b| directory.starts_with(b.host_path())) {
        let is_it = around.git && around.host_path() == directory;
        return Ok(if is_it { Found::Bound(around.clone()) } else { Found::Inside });
    }
    let left = |why| Ok(Found::Left(UnboundGitDirectory { directory: directory.clone(), why }));
    match found.wrong {
        Some(NotOurs::Missing(error)) => return left(GitUnboundReason::Missing(error)),
        Some(NotOurs::NoRepository) => return left(GitUnboundReason::NoRepository),
        Some(NotOurs::Stranger) => return left(GitUnboundReason::Stranger),
        None => {}
    }
    let before = bindings.iter().find(|binding| binding.git);
    let declined = vault.declined_git_directory()?;
    if before.is_none() && declined.as_deref() == Some(directory.as_os_str().as_encoded_bytes()) {
        return left(GitUnboundReason::Removed);
    }
    let others = bindings.iter().filter(|other| Some(*other) != before);
    if let Some(why) = refused(vault, &directory, user_home, others) {
        return left(why);
    }
    Ok(match before {
        Some(before) => Found::Elsewhere(before.clone(), directory),
        None => Found::Free(directory),
    })
}

/// Whether a folder without a repository is part of a larger checkout. Somebody's home is never taken for one.
fn look_above(bindings: &[Binding], folder: &Path, user_home: Option<&Path>) -> Found {
    let is_home = |checkout: &&Path| user_home.is_some_and(|home| home.starts_with(checkout));
    let Some(checkout) = checkout_above(folder).filter(|checkout| !is_home(checkout)) else {
        return Found::Inside;
    };
    let directory = checkout.join(".git");
    if bindings.iter().any(|binding| directory.starts_with(binding.host_path())) {
        return Found::Inside;
    }
    let why = GitUnboundReason::Above(checkout.to_owned());
    Found::Left(UnboundGitDirectory { directory, why })
}

/// Why a directory cannot be bound.
fn refused<'b>(
    vault: &Vault,
    directory: &Path,
    user_home: Option<&Path>,
    mut others: impl Iterator<Item = &'b Binding>,
) -> Option<GitUnboundReason> {
    let vaults = vault.dir().ancestors().nth(2).unwrap_or(vault.dir());
    if let Err(refused) = check_bindable(vaults, directory, user_home, false) {
        return Some(GitUnboundReason::Forbidden(refused.why));
    }
    if let Some(inner) = others.find(|other| other.host_path().starts_with(directory)) {
        return Some(GitUnboundReason::Holds(inner.host_path()));
    }
    let can = |below: &str, how| access(directory.join(below), how).is_ok();
    let parts = ["", "objects", "refs"];
    if !parts.iter().all(|part| can(part, Access::READ_OK | Access::EXEC_OK)) {
        return Some(GitUnboundReason::Unreadable);
    }
    let writable = parts.iter().all(|part| can(part, Access::WRITE_OK));
    (!writable).then_some(GitUnboundReason::ReadOnly)
}

/// Takes the git directory of the first folder in for somebody who holds the folders, and the vault until it is recorded.
pub(crate) fn take(
    vault: &Vault,
    actor: &Actor,
    folders: &mut Folders<'_>,
    options: &CommitOptions<'_>,
) -> Result<GitDirectory> {
    let Some(taking) = &options.git else { return Ok(GitDirectory::Inside) };
    let found = look(vault, folders.bindings(), taking.user_home.as_deref())?;
    let (directory, before) = match found {
        Found::Inside => return Ok(GitDirectory::Inside),
        Found::Bound(binding) => return bound(vault, binding, false),
        Found::Left(left) => return Ok(GitDirectory::Left(left)),
        Found::Elsewhere(before, directory) => (directory, Some(before)),
        Found::Free(directory) => (directory, None),
    };
    taking.registry.note_further_folder(vault)?;
    // Others who have it as well do not change it meanwhile.
    folders.share(
        vault.lock_shared(&shared_directories(std::slice::from_ref(&directory)), options.wait)?,
    );
    if let Some(before) = before {
        let binding = relocate(vault, actor, &before, &directory)?;
        folders.look_again()?;
        return bound(vault, binding, false);
    }
    let name = git_name(vault, folders.bindings())?;
    let new = NewFolder { name: &name, directory: &directory, git: true };
    match bind(vault, actor, &new, folders.bindings(), &options.import) {
        Ok(made) => {
            folders.look_again()?;
            bound(vault, made.binding, true)
        }
        // Work goes on without it, as before, and whoever asked is told.
        Err(ServiceError::Vault(
            error @ (VaultError::Host(HostError::Io { .. }) | VaultError::ReservedName { .. }),
        )) => {
            let why = GitUnboundReason::Failed(error.to_string());
            Ok(GitDirectory::Left(UnboundGitDirectory { directory, why }))
        }
        Err(error) => Err(error),
    }
}

fn bound(vault: &Vault, binding: Binding, new: bool) -> Result<GitDirectory> {
    let entry = vault.tree(&vault.head()?.root)?.get(&binding.at())?;
    let bytes = entry.and_then(|entry| entry.directory().map(|dir| dir.bytes)).unwrap_or(0);
    Ok(GitDirectory::Bound { binding, bytes, new })
}

fn relocate(vault: &Vault, actor: &Actor, before: &Binding, directory: &Path) -> Result<Binding> {
    let made = Binding::new(before.id, &before.name, directory, before.created_ms);
    let after = Binding { git: true, ..made };
    vault.transact("binding move", actor, |tx| {
        tx.set_binding(&after)?;
        let (from, to) = (before.host_path(), after.host_path());
        tx.summary(format!(
            "folder {} moved from {} to {}",
            before.name,
            from.display(),
            to.display()
        ));
        Ok(())
    })?;
    Ok(after)
}

/// The name of the first folder's git directory: after the folder.
pub(super) fn git_name(vault: &Vault, bindings: &[Binding]) -> Result<String> {
    let planted = planted(vault)?;
    let first = bindings.first().map(Binding::host_path).unwrap_or_default();
    let own = offshoot_vault::name_from(first.file_name().unwrap_or_default().as_encoded_bytes());
    let is_bound = |name: &str| bindings.iter().any(|binding| binding.name == name);
    let is_taken = |name: &str| is_bound(name) || planted.contains_key(name);
    Ok(numbered(own.trim_end_matches(GIT_SUFFIX), GIT_SUFFIX, is_taken))
}

/// What a command in a workspace must know: that what it commits is lost.
pub(crate) fn warning(
    vault: &Vault,
    bindings: &[Binding],
    user_home: Option<&Path>,
    workspace: &str,
) -> Result<Option<String>> {
    let left = match look(vault, bindings, user_home)? {
        Found::Left(left) => left,
        Found::Free(directory) => UnboundGitDirectory { directory, why: GitUnboundReason::NotYet },
        _ => return Ok(None),
    };
    let way = left.way_out().to_string().replace("WORKSPACE", workspace);
    Ok(Some(format!("{left}; {way}")))
}
