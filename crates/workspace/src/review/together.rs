//! What is decided about a git directory is decided about all of it: a repository of which one file was dropped is broken.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_vault::VaultPath;

use super::{Decision, ReviewItem};
use crate::git::git_directory;

/// The items, where those below one git directory have one decision: dropped if any of them is, and otherwise undecided unless all are
/// accepted.
pub(super) fn together(items: &[ReviewItem]) -> Vec<ReviewItem> {
    let mut decisions: BTreeMap<VaultPath, Decision> = BTreeMap::new();
    for item in items {
        let Some(directory) = git_directory(&item.change.path) else { continue };
        let known = decisions.entry(directory).or_insert(Decision::Accepted);
        for piece in &item.pieces {
            match piece.decision {
                Decision::Dropped => *known = Decision::Dropped,
                Decision::Undecided if *known != Decision::Dropped => *known = Decision::Undecided,
                _ => {}
            }
        }
    }
    let mut items = items.to_vec();
    for item in &mut items {
        let Some(directory) = git_directory(&item.change.path) else { continue };
        match decisions.get(&directory) {
            // Edited lines are kept where everything comes.
            None | Some(Decision::Accepted) => {}
            Some(decision) => {
                item.pieces.iter_mut().for_each(|piece| piece.decision = decision.clone());
            }
        }
    }
    items
}

/// The paths that are asked for, with all of each git directory that one of them is in.
pub(super) fn widened(paths: &[VaultPath]) -> Vec<VaultPath> {
    let wide = paths.iter().map(|path| git_directory(path).unwrap_or_else(|| path.clone()));
    wide.collect::<BTreeSet<_>>().into_iter().collect()
}
