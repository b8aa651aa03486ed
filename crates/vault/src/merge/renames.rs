//! Files that a side moved, where it matters to another side.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::MergeOptions;
use crate::diff::{Change, DiffOptions, detect_renames};
use crate::entry::Entry;
use crate::error::Result;
use crate::objects::Objects;
use crate::path::VaultPath;

/// A file that a side moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) from: VaultPath,
    pub(super) to: VaultPath,
    /// In percent.
    pub(super) similarity: u8,
}

/// What each side moved, as far as another side has to do with it: it did something to the file too, or it added something to a
/// directory from which the file went. All others come out the same as deleted and added.
pub(super) fn find(
    objects: &Objects,
    changes: &[Vec<Change>],
    options: &MergeOptions,
) -> Result<Vec<Vec<Move>>> {
    let touched = touched(changes);
    let mut all = Vec::new();
    for (side, own) in changes.iter().enumerate() {
        let left = left_directories(side, changes, options);
        let matters = |change: &&Change| match (&change.before, &change.after) {
            (None, Some(entry)) => entry.directory().is_none(),
            (Some(entry), None) => {
                entry.directory().is_none()
                    && (touched.get(&change.path).is_some_and(|sides| *sides > 1)
                        || parents(&change.path).any(|parent| left.contains(&parent)))
            }
            _ => false,
        };
        let candidates: Vec<&Change> = own.iter().filter(matters).collect();
        if candidates.iter().all(|change| change.after.is_some()) {
            all.push(Vec::new());
            continue;
        }
        let candidates = candidates.into_iter().cloned().collect();
        let diff = DiffOptions {
            renames: true,
            rename_similarity: options.rename_similarity,
            ..DiffOptions::default()
        };
        let found = detect_renames(objects, candidates, &diff)?.into_iter();
        let moves = found.filter_map(|change| {
            let (from, similarity) = change.moved?;
            Some(Move { from, to: change.path, similarity })
        });
        all.push(moves.collect());
    }
    Ok(all)
}

/// How many sides did something to each path of the base that is no directory.
fn touched(changes: &[Vec<Change>]) -> HashMap<&VaultPath, usize> {
    let mut touched = HashMap::new();
    for change in changes.iter().flatten() {
        if change.before.as_ref().is_some_and(|entry| entry.directory().is_none()) {
            *touched.entry(&change.path).or_insert(0) += 1;
        }
    }
    touched
}

/// The directories that a side made disappear while another side added something to them.
fn left_directories(
    side: usize,
    changes: &[Vec<Change>],
    options: &MergeOptions,
) -> HashSet<VaultPath> {
    let gone = gone_directories(&changes[side]);
    if gone.is_empty() || !options.directory_renames {
        return HashSet::new();
    }
    let others = changes.iter().enumerate().filter(|(other, _)| *other != side);
    let added = others.flat_map(|(_, changes)| changes).filter(|change| change.before.is_none());
    added.flat_map(|change| parents(&change.path)).filter(|parent| gone.contains(parent)).collect()
}

/// The directories of the base that a side no longer has.
pub(super) fn gone_directories(changes: &[Change]) -> HashSet<&VaultPath> {
    let is_folder = |entry: &Option<Arc<Entry>>| {
        entry.as_ref().is_some_and(|entry| entry.directory().is_some())
    };
    let gone =
        changes.iter().filter(|change| is_folder(&change.before) && !is_folder(&change.after));
    gone.map(|change| &change.path).collect()
}

/// The directories that a path is in, the nearest first, without the top.
pub(super) fn parents(path: &VaultPath) -> impl Iterator<Item = VaultPath> {
    std::iter::successors(path.parent(), VaultPath::parent).filter(|path| !path.is_top())
}
