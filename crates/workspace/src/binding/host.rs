//! Bound folders as the host has them.

use std::path::{Path, PathBuf};

use offshoot_host::FolderIdentity;
use offshoot_host::disk::bytes_path;
use offshoot_tree::{VaultPath, display_bytes};
use offshoot_vault::{Binding, ImportOptions, Imported, Vault};

use crate::error::{Result, ServiceError};
use crate::git::is_git_directory_on_host;

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
pub(crate) fn path_on_host(bindings: &[Binding], path: &VaultPath) -> Option<(usize, PathBuf)> {
    let around = bindings.iter().enumerate().filter(|(_, it)| path.is_within(&it.at()));
    let (number, binding) = around.max_by_key(|(_, it)| it.at().names().len())?;
    let mut host_path = binding.host_path();
    host_path
        .extend(path.names()[binding.at().names().len()..].iter().map(|name| bytes_path(name)));
    Some((number, host_path))
}

/// The folders, for people.
pub(crate) fn named(bindings: &[Binding]) -> String {
    let paths: Vec<String> = bindings.iter().map(|binding| display_bytes(&binding.path)).collect();
    paths.join(", ")
}
