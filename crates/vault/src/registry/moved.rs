//! Folders that were moved since a vault was bound to them.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use offshoot_host::{FolderIdentity, disk};
use offshoot_tree::{Entry, EntryKind};

use super::{ListedVault, Result, VaultRegistry};
use crate::refs::Binding;
use crate::vault::Vault;

/// A folder that a vault was bound to at another path, where nothing is any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedFolder {
    /// The vault.
    pub vault: ListedVault,
    /// What it is bound to, by the path that is gone.
    pub binding: Binding,
    /// Where the folder is now.
    pub folder: PathBuf,
    /// It is that very folder; else it only has what was in that.
    pub certain: bool,
}

impl VaultRegistry {
    /// The vault whose folder `dir` is or lies in, though it lay elsewhere when it was bound. Only asked for a directory that
    /// belongs to no vault: every vault is looked at, and nothing is mended or written.
    pub fn find_moved(&self, dir: &Path) -> Result<Option<MovedFolder>> {
        let mut gone = Vec::new();
        for listed in self.linked()? {
            // A vault that cannot be opened is no reason not to find the others.
            let Ok(vault) = Vault::peek(&listed.dir, listed.id, &self.options) else { continue };
            let bindings = vault.bindings().unwrap_or_default();
            let moved = bindings.into_iter().filter(|it| !it.git && it.is_gone());
            let vault = std::rc::Rc::new(vault);
            gone.extend(moved.map(|binding| (listed.clone(), binding, vault.clone())));
        }
        // The one that was bound last, where several were.
        gone.sort_by_key(|(_, binding, _)| std::cmp::Reverse(binding.created_ms));
        let found = |listed: &ListedVault, binding: &Binding, folder: &Path, certain| {
            let (vault, binding, folder) = (listed.clone(), binding.clone(), folder.to_owned());
            Some(MovedFolder { vault, binding, folder, certain })
        };
        for folder in dir.ancestors().take_while(|_| !gone.is_empty()) {
            let Some(identity) = FolderIdentity::of(folder) else { continue };
            for (listed, binding, _) in &gone {
                if binding.identity.is_some_and(|bound| bound.is(&identity)) {
                    return Ok(found(listed, binding, folder, true));
                }
            }
        }
        for folder in dir.ancestors().take_while(|_| !gone.is_empty()) {
            for (listed, binding, vault) in &gone {
                if has_work(vault) && looks_like(vault, binding, folder) {
                    return Ok(found(listed, binding, folder, false));
                }
            }
        }
        Ok(None)
    }
}

/// Whether a vault has what nobody would want to lose sight of.
fn has_work(vault: &Vault) -> bool {
    vault.workspaces().is_ok_and(|workspaces| !workspaces.is_empty())
}

/// Whether a folder has most of what a vault last saw in one, with the same times: what `mv` makes on another file system, or
/// a backup. Another checkout of the same repository has times of its own. Where the vault cannot be read, it does not.
fn looks_like(vault: &Vault, binding: &Binding, folder: &Path) -> bool {
    let recorded = || -> crate::error::Result<Vec<Entry>> {
        let tree = vault.tree(&vault.head()?.root)?;
        let Some(entry) = tree.get(&binding.at())? else { return Ok(Vec::new()) };
        Ok(entry.directory().map_or(Ok(Vec::new()), |dir| tree.list(dir))?)
    };
    let recorded = recorded().unwrap_or_default();
    let is_plain = |entry: &&Entry| entry.kind() == EntryKind::File;
    let has_files = recorded.iter().any(|entry| is_plain(&entry));
    // Directories get new times when something is made in them, files only when they are changed.
    let compared = recorded.iter().filter(|entry| !has_files || is_plain(entry));
    let (mut same, mut all) = (0, 0);
    for entry in compared {
        all += 1;
        same += usize::from(is_same(entry, &folder.join(disk::bytes_path(&entry.name))));
    }
    all > 0 && same * 2 > all
}

fn is_same(entry: &Entry, path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    let kind = match entry.kind() {
        EntryKind::File => found.is_file() && found.len() == entry.size(),
        EntryKind::Directory => found.is_dir(),
        _ => fs::read_link(path).is_ok_and(|target| {
            matches!(&entry.body, offshoot_tree::Body::Symlink { target: own } if own == target.as_os_str().as_bytes())
        }),
    };
    kind && found.mtime() == entry.meta.mtime.seconds
}
