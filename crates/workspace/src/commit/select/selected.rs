//! What of a workspace is committed.

use std::collections::BTreeSet;

use offshoot_tree::{RootId, VaultPath};

use super::held::{Held, HeldReason};
use crate::git::{HeldBackCheckouts, Planted, steps, worktree_of};

/// What is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The base with everything that is committed: what is offered to the main line.
    pub root: RootId,
    /// What stays in the workspace.
    pub held: Vec<Held>,
    /// Files that the workspace has in the index of git, that something on the host runs or obeys, and that nobody took.
    pub staged: Vec<VaultPath>,
    /// Checkouts whose commits have such files.
    pub held_checkouts: BTreeSet<VaultPath>,
    /// Options that name what has not changed: `--only PATH`, `--take PATH`.
    pub unmatched: Vec<String>,
    /// Named by `only` or `exclude`, and of no effect: a part of a git directory, which is committed as a whole or not at all.
    pub parts_of_git: Vec<String>,
}

impl Selected {
    /// The checkouts that do not come along with the branches that the workspace moved.
    pub(in crate::commit) fn checkouts(&self) -> HeldBackCheckouts {
        let trusted = self.held_checkouts.clone();
        let mut held = HeldBackCheckouts { trusted, ..HeldBackCheckouts::default() };
        for Held { change, reason } in &self.held {
            match reason {
                HeldReason::Git(Planted::Todo) => {
                    held.unfinished.extend(steps(&change.path).and_then(|steps| steps.parent()));
                }
                HeldReason::Git(Planted::FalseObject | Planted::Unchecked) => held.objects = true,
                HeldReason::Ignored => held.ignored.extend(worktree_of(&change.path)),
                _ => {}
            }
        }
        held
    }
}
