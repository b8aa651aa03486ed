//! The host directories that a vault is bound to.

mod change;
mod error;
mod git;
mod place;

pub use change::{Bound, NewBinding, Rebound, shown_name};
pub use error::BindingError;
pub use git::{GitDirectory, GitLeftReason, GitTaking, LeftGit};
pub use place::check_folder;

pub(crate) use git::{take as take_git_directory, warning as git_warning};

use std::path::{Path, PathBuf};

use offshoot_host::FolderIdentity;
use offshoot_tree::{VaultPath, display_bytes};
use offshoot_vault::{Actor, Binding, ImportOptions, ImportReport, Imported, Snapshot, Vault};

use crate::error::{Result, ServiceError};
use crate::git::is_git_directory_on_host;
use crate::home::{Direction, Folders, HomeOptions, bytes_path};

/// What bringing the main line up to date did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refreshed {
    /// The main line now.
    pub head: Snapshot,
    /// Whether it moved.
    pub changed: bool,
    /// What was found.
    pub report: ImportReport,
    /// Where the first folder's git directory is, which is taken in where it lies outside.
    pub git: GitDirectory,
}

/// Takes what is on the host into the vault's main line.
#[derive(Debug)]
pub struct BindingService<'a> {
    vault: &'a Vault,
    actor: Actor,
}

impl<'a> BindingService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor) -> Self {
        Self { vault, actor: actor.clone() }
    }

    /// Makes the main line what is in the vault's folders now; only files that changed are read. What was interrupted in the
    /// folders is settled first: nothing is captured from a folder that is half changed. Fails where another folder lies in the
    /// place of a bound one.
    pub fn refresh(&self, options: &HomeOptions<'_>) -> Result<Refreshed> {
        self.take_in(options, require_same)
    }

    /// The same for folders that somebody asked to take as they are: whatever lies in the places of the bound ones is bound from here on.
    /// What was interrupted in those that lay there before is given up.
    pub fn adopt(&self, options: &HomeOptions<'_>) -> Result<Refreshed> {
        let options = HomeOptions { settle: Some(Direction::Leave), ..options.clone() };
        self.take_in(&options, |_| Ok(()))
    }

    fn take_in(
        &self,
        options: &HomeOptions<'_>,
        check: fn(&[Binding]) -> Result<()>,
    ) -> Result<Refreshed> {
        let mut folders = Folders::lock(self.vault, &self.actor, options)?;
        check(folders.bindings())?;
        let _held = self.vault.hold()?;
        let before = self.vault.head()?.id;
        let git = take_git_directory(self.vault, &self.actor, &mut folders, options)?;
        let captured = folders.capture()?;
        let (head, _) = folders.follow(&captured)?;
        let changed = head.id != before;
        Ok(Refreshed { head, changed, report: captured.report, git })
    }
}

/// Fails where a folder is not the one that was bound.
pub(crate) fn require_same(bindings: &[Binding]) -> Result<()> {
    for binding in bindings {
        let path = binding.host_path();
        let found = FolderIdentity::of(&path);
        let found = found.ok_or_else(|| ServiceError::FolderGone(path.clone()))?;
        if binding.identity.is_some_and(|bound| bound.is_other_than(&found, &path)) {
            return Err(ServiceError::OtherFolder(path));
        }
    }
    Ok(())
}

/// Reads what is in the folders now as one state of files, stored but not part of any history: the first is the top of the
/// tree, each other one lies where its binding says. Whoever calls it holds the vault until that is recorded.
pub(crate) fn capture(
    vault: &Vault,
    bindings: &[Binding],
    options: &ImportOptions,
) -> Result<Imported> {
    Ok(vault.import_bound(bindings, options)?)
}

/// The git directories on the host that other vaults may have as well: those of these folders, and what they lie in.
pub(crate) fn shared_directories(folders: &[PathBuf]) -> Vec<PathBuf> {
    let around = folders.iter().flat_map(|folder| folder.ancestors());
    let around = around.filter(|directory| is_git_directory_on_host(directory));
    let inside = folders.iter().map(|folder| folder.join(".git"));
    let is_directory = |path: &PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_dir());
    around.map(Path::to_owned).chain(inside.filter(is_directory)).collect()
}

/// Where a path of the vault is on the host, with the number of the binding that it is in.
pub(crate) fn host_place(bindings: &[Binding], path: &VaultPath) -> Option<(usize, PathBuf)> {
    let around = bindings.iter().enumerate().filter(|(_, it)| path.is_within(&it.at()));
    let (number, binding) = around.max_by_key(|(_, it)| it.at().names().len())?;
    let mut place = binding.host_path();
    place.extend(path.names()[binding.at().names().len()..].iter().map(|name| bytes_path(name)));
    Some((number, place))
}

/// The folders, for people.
pub(crate) fn named(bindings: &[Binding]) -> String {
    let paths: Vec<String> = bindings.iter().map(|binding| display_bytes(&binding.path)).collect();
    paths.join(", ")
}
