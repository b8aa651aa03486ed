//! Directories that are not merged as files: those of git, of jj and of mercurial, and bare repositories.

use std::collections::BTreeMap;

use offshoot_tree::{EntryKind, RootId, Tree, VaultPath, diff};
use offshoot_vault::Vault;

use crate::error::Result;
use crate::git::names::git_directory;
use crate::git::repository::{is_repository, path_of};

/// Directories that belong to a version control of their own, whose formats are not known here.
const WHOLE: [&[u8]; 2] = [b".jj", b".hg"];
/// What lies at the top of a bare repository.
const IN_BARE: [&[u8]; 8] =
    [b"HEAD", b"objects", b"refs", b"packed-refs", b"logs", b"config", b"reftable", b"hooks"];

/// A directory that some side changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VcsDirectory {
    pub(super) path: VaultPath,
    pub(super) kind: VcsDirectoryKind,
}

/// How a directory is decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VcsDirectoryKind {
    /// Part by part, as what they mean to git.
    Git,
    /// All of it or nothing.
    Whole,
}

/// Whether a path belongs to a version control, by its name.
pub(crate) fn is_vcs_path(path: &VaultPath) -> bool {
    git_directory(path).is_some() || whole_directory(path).is_some()
}

fn whole_directory(path: &VaultPath) -> Option<VaultPath> {
    let is_whole = |name: &Vec<u8>| {
        // What is kept beside such a directory is one as well.
        let own = name.split(|byte| *byte == b'~').next().unwrap_or_default();
        WHOLE.contains(&own)
    };
    let at = path.names().iter().position(is_whole)?;
    Some(path_of(&path.names()[..=at]))
}

/// The directories in which some side differs from the base.
pub(super) fn changed_vcs_directories(
    vault: &Vault,
    base: &RootId,
    sides: &[RootId],
) -> Result<Vec<VcsDirectory>> {
    let objects = vault.objects()?;
    let roots: Vec<RootId> = [*base].into_iter().chain(sides.iter().copied()).collect();
    let trees: Vec<Tree<'_>> =
        roots.iter().map(|root| Tree::open(objects, root)).collect::<Result<_, _>>()?;
    let mut found: BTreeMap<VaultPath, VcsDirectoryKind> = BTreeMap::new();
    let mut bare: BTreeMap<VaultPath, bool> = BTreeMap::new();
    for side in sides {
        for change in diff::compare(objects, base, side)? {
            let path = &change.path;
            let named = [
                git_directory(path).map(|path| (path, VcsDirectoryKind::Git)),
                whole_directory(path).map(|path| (path, VcsDirectoryKind::Whole)),
            ];
            let named = named.into_iter().flatten().min_by_key(|(path, _)| path.names().len());
            match named {
                Some((path, kind)) => drop(found.insert(path, kind)),
                None => {
                    if let Some(path) = bare_repository(&trees, path, &mut bare)? {
                        found.insert(path, VcsDirectoryKind::Whole);
                    }
                }
            }
        }
    }
    let mut directories: Vec<VcsDirectory> = Vec::new();
    for (path, kind) in found {
        if directories.iter().any(|directory| path.is_within(&directory.path)) {
            continue;
        }
        let kind =
            if is_directory_everywhere(&trees, &path)? { kind } else { VcsDirectoryKind::Whole };
        directories.push(VcsDirectory { path, kind });
    }
    Ok(directories)
}

/// The outermost directory on the way to a path that looks like a bare repository to git.
fn bare_repository(
    trees: &[Tree<'_>],
    path: &VaultPath,
    known: &mut BTreeMap<VaultPath, bool>,
) -> Result<Option<VaultPath>> {
    let names = path.names();
    for at in 1..names.len() {
        if !IN_BARE.contains(&names[at].as_slice()) {
            continue;
        }
        let directory = path_of(&names[..at]);
        let is_bare = match known.get(&directory) {
            Some(known) => *known,
            None => {
                let mut is_bare = false;
                for tree in trees {
                    is_bare |= is_repository(tree, &directory)?;
                }
                known.insert(directory.clone(), is_bare);
                is_bare
            }
        };
        if is_bare {
            return Ok(Some(directory));
        }
    }
    Ok(None)
}

/// Whether a path is a directory wherever it is at all.
fn is_directory_everywhere(trees: &[Tree<'_>], path: &VaultPath) -> Result<bool> {
    for tree in trees {
        if tree.get(path)?.is_some_and(|entry| entry.kind() != EntryKind::Directory) {
            return Ok(false);
        }
    }
    Ok(true)
}
