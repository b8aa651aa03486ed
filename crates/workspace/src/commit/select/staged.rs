//! What a workspace has in the index of git and not in its files.

use std::collections::BTreeSet;

use offshoot_tree::diff::Change;
use offshoot_tree::{Tree, VaultPath};
use offshoot_vault::Vault;

use super::selection::Selection;
use super::states::SelectionStates;
use crate::error::Result;
use crate::git::{Index, State, parse_index, within_repository};

/// The mode of a symbolic link in an index.
const LINK: u32 = 0o120_000;

/// The files that something on the host runs or obeys, that a workspace has otherwise in an index than the main line, and that nobody took.
/// Git puts what is in the index into the folder when it is asked to take changes back.
pub(super) fn staged(
    vault: &Vault,
    states: &SelectionStates,
    selection: &Selection<'_>,
    changes: &[Change],
) -> Result<Vec<VaultPath>> {
    let mut found = BTreeSet::new();
    let is_index = |change: &&Change| {
        change.path.name() == Some(b"index") && within_repository(&change.path).is_some()
    };
    if selection.allow.trusted || !changes.iter().any(|change| is_index(&change)) {
        return Ok(Vec::new());
    }
    let objects = vault.objects()?;
    let (main, after) =
        (Tree::open(objects, &states.main)?, Tree::open(objects, &states.workspace)?);
    let state = |tree| State { objects, tree };
    let (main, after) = (state(&main), state(&after));
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
        let (known, new) = (read(main)?, read(after)?);
        for (key, entry) in &new {
            let same = known
                .get(key)
                .is_some_and(|other| (&other.object, other.mode) == (&entry.object, entry.mode));
            let path = key.0.split(|byte| *byte == b'/');
            let path = path.fold(top.clone(), |path, name| path.join(name));
            let is_taken = selection.take.iter().any(|pattern| pattern.matches(&path));
            if !same && !is_taken && selection.trusted.counts(&path, entry.mode == LINK) {
                found.insert(path);
            }
        }
    }
    Ok(found.into_iter().collect())
}
