//! Files that a side moved, where it matters to another side.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;

use super::inputs::MergeOptions;
use crate::diff::change::{Change, DiffOptions};
use crate::diff::renames::find_pairs;
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

/// What each side moved, as far as another side has to do with it: it did something to the file too, it added something to a directory
/// from which the file went, or it has something else where the file came. All others come out the same as deleted and added.
pub(super) fn find(
    objects: &Objects,
    changes: &[Vec<Change>],
    options: &MergeOptions,
) -> Result<Vec<Vec<Move>>> {
    let touched = touched(changes);
    let mut all = Vec::new();
    for (side, own) in changes.iter().enumerate() {
        let left = left_directories(side, changes, options);
        let is_disputed = is_disputed(side, changes);
        let matters = |change: &Change| {
            is_disputed
                || touched.get(&change.path).is_some_and(|sides| *sides > 1)
                || parents(&change.path).any(|parent| left.contains(&parent))
        };
        let candidates: Vec<Change> = own.iter().filter_map(candidate).collect();
        let is_wanted = |change: &Change| change.after.is_none() && matters(change);
        if !candidates.iter().any(is_wanted) {
            all.push(Vec::new());
            continue;
        }
        let diff = DiffOptions {
            renames: true,
            rename_similarity: options.rename_similarity,
            ..DiffOptions::default()
        };
        // All are looked at, so that none is taken for another one that does not matter.
        let found = find_pairs(objects, &candidates, &diff, &matters)?.by_added.into_iter();
        let found = found.filter(|(_, (from, _))| matters(&candidates[*from]));
        let moves = found.map(|(to, (from, similarity))| Move {
            from: candidates[from].path.clone(),
            to: candidates[to].path.clone(),
            similarity,
        });
        all.push(moves.collect());
    }
    Ok(all)
}

/// A file that came or went. One that took the place of a directory came, too.
fn candidate(change: &Change) -> Option<Change> {
    let is_folder = |entry: &Arc<Entry>| entry.directory().is_some();
    match (&change.before, &change.after) {
        (None, Some(entry)) | (Some(entry), None) if !is_folder(entry) => Some(change.clone()),
        (Some(before), Some(after)) if is_folder(before) && !is_folder(after) => {
            Some(Change { before: None, ..change.clone() })
        }
        _ => None,
    }
}

/// Whether a side has something new where another one has something else.
fn is_disputed(side: usize, changes: &[Vec<Change>]) -> bool {
    let is_leaf = |change: &&Change| change.entry().directory().is_none();
    let is_new =
        |change: &&Change| change.before.as_ref().is_none_or(|before| before.directory().is_some());
    let there = |changes: &mut dyn Iterator<Item = &'_ Change>| -> Vec<Change> {
        changes.filter(|change| change.after.is_some()).cloned().collect()
    };
    let others = changes.iter().enumerate().filter(|(other, _)| *other != side);
    let others = there(&mut others.flat_map(|(_, changes)| changes));
    let own = there(&mut changes[side].iter());
    let has_leaf_above = |upper: &[Change], lower: &[Change]| {
        let lower: BTreeSet<&VaultPath> = lower.iter().map(|change| &change.path).collect();
        let is_above = |path: &VaultPath| {
            let beneath = (Bound::Excluded(&path), Bound::Unbounded);
            let next = lower.range::<&VaultPath, _>(beneath).next();
            next.is_some_and(|next| next.is_within(path))
        };
        upper.iter().filter(is_leaf).any(|change| is_above(&change.path))
    };
    let new: HashSet<&VaultPath> =
        others.iter().filter(is_new).map(|change| &change.path).collect();
    own.iter().filter(is_leaf).filter(is_new).any(|change| new.contains(&change.path))
        || has_leaf_above(&own, &others)
        || has_leaf_above(&others, &own)
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
