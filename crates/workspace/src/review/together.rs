//! What is decided about a git directory is decided about all of it: a repository of which one file was dropped is broken.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::VaultPath;

use super::{ReviewDecision, ReviewItem, ReviewPiece};
use crate::git::git_directory;

/// What is decided about each git directory: dropped if anything in it is, and otherwise undecided unless all is accepted that a commit does
/// not leave in the workspace anyway.
pub(super) struct Together(BTreeMap<VaultPath, ReviewDecision>);

impl Together {
    pub(super) fn of(items: &[ReviewItem]) -> Self {
        let mut decisions: BTreeMap<VaultPath, ReviewDecision> = BTreeMap::new();
        for item in items {
            let Some(directory) = git_directory(&item.change.path) else { continue };
            let known = decisions.entry(directory).or_insert(ReviewDecision::Accepted);
            for piece in &item.pieces {
                match piece.decision {
                    ReviewDecision::Dropped => *known = ReviewDecision::Dropped,
                    ReviewDecision::Undecided
                        if *known != ReviewDecision::Dropped && item.held.is_none() =>
                    {
                        *known = ReviewDecision::Undecided;
                    }
                    _ => {}
                }
            }
        }
        Self(decisions)
    }

    /// What is decided about a piece by that.
    pub(super) fn decision<'d>(
        &'d self,
        item: &ReviewItem,
        piece: &'d ReviewPiece,
    ) -> &'d ReviewDecision {
        let directory = git_directory(&item.change.path);
        match directory.and_then(|directory| self.0.get(&directory)) {
            // Edited lines are kept where everything comes.
            None | Some(ReviewDecision::Accepted) => &piece.decision,
            Some(decision) => decision,
        }
    }
}

/// The items with these decisions.
pub(super) fn together(items: &[ReviewItem]) -> Vec<ReviewItem> {
    let decided = Together::of(items);
    let mut all = items.to_vec();
    for item in &mut all {
        let decisions: Vec<ReviewDecision> =
            item.pieces.iter().map(|piece| decided.decision(item, piece).clone()).collect();
        for (piece, decision) in item.pieces.iter_mut().zip(decisions) {
            piece.decision = decision;
        }
    }
    all
}

/// The paths that are asked for, with all of each git directory that one of them is in.
pub(super) fn widened(paths: &[VaultPath]) -> Vec<VaultPath> {
    let wide = paths.iter().map(|path| git_directory(path).unwrap_or_else(|| path.clone()));
    wide.collect::<BTreeSet<_>>().into_iter().collect()
}
