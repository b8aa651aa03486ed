//! What a workspace has in the index of git and not in its files.

use std::collections::BTreeSet;

use offshoot_tree::diff::Change;
use offshoot_tree::{Body, Tree, VaultPath};
use offshoot_vault::Vault;

use super::selection::Selection;
use super::states::SelectionStates;
use crate::error::Result;
use crate::git::{Index, State, parse_index, within_repository};

/// The mode of a symbolic link in an index.
const LINK: u32 = 0o120_000;

/// What a workspace has otherwise in an index than the main line.
#[derive(Debug, Default)]
pub(super) struct Staged {
    /// What something on the host runs or obeys, and nobody took.
    pub(super) left: Vec<VaultPath>,
    /// What somebody took.
    pub(super) taken: Vec<VaultPath>,
}

/// The files that something on the host runs or obeys, that a workspace has otherwise in an index than the main line, and that nobody took; and
/// those that somebody took. Git puts what is in the index into the folder when it is asked to take changes back.
pub(super) fn staged(
    vault: &Vault,
    states: &SelectionStates,
    selection: &Selection<'_>,
    changes: &[Change],
) -> Result<Staged> {
    let (mut found, mut taken) = (BTreeSet::new(), Vec::new());
    let is_index = |change: &&Change| {
        change.path.name() == Some(b"index") && within_repository(&change.path).is_some()
    };
    if selection.allow.trusted || !changes.iter().any(|change| is_index(&change)) {
        return Ok(Staged::default());
    }
    let objects = vault.objects()?;
    let open = |root| Tree::open(objects, root);
    let (base, main, after) = (open(&states.base)?, open(&states.main)?, open(&states.workspace)?);
    let state = |tree| State { objects, tree };
    let (base, main, after) = (state(&base), state(&main), state(&after));
    let first = main.repository_at(&VaultPath::top())?;
    for change in changes.iter().filter(is_index) {
        let Some(at) = change.path.parent() else { continue };
        let top = match at == first {
            true => Some(VaultPath::top()),
            false => at.parent().filter(|_| at.name() == Some(b".git")),
        };
        let Some(top) = top else { continue };
        let read = |state: State<'_>| -> Result<Index> {
            let bytes = state.file(&change.path)?;
            Ok(bytes.and_then(|bytes| parse_index(&bytes)).unwrap_or_default())
        };
        let (known, new) = ([read(base)?, read(main)?], read(after)?);
        for (key, entry) in &new {
            let is_same = |index: &Index| {
                let other = index.get(key);
                other
                    .is_some_and(|other| (&other.object, other.mode) == (&entry.object, entry.mode))
            };
            if known.iter().any(is_same) {
                continue;
            }
            let path = key.0.split(|byte| *byte == b'/');
            let path = path.fold(top.clone(), |path, name| path.join(name));
            let is_taken = selection.take.iter().any(|pattern| pattern.matches(&path));
            if is_taken {
                taken.push(path);
                continue;
            }
            // What is the same as the file is decided about with that.
            if selection.trusted.counts(&path, entry.mode == LINK)
                && name_of(after, &path)?.as_ref() != Some(&entry.object)
            {
                found.insert(path);
            }
        }
    }
    Ok(Staged { left: found.into_iter().collect(), taken })
}

/// What git names the content of a file by, in the usual format.
fn name_of(state: State<'_>, path: &VaultPath) -> Result<Option<Vec<u8>>> {
    let bytes = match state.tree.get(path)?.map(|entry| entry.body) {
        Some(Body::Symlink { target }) => Some(target),
        _ => state.file(path)?,
    };
    Ok(bytes.map(|bytes| {
        let mut sum = sha1_smol::Sha1::from(format!("blob {}\0", bytes.len()));
        sum.update(&bytes);
        sum.digest().bytes().to_vec()
    }))
}
