//! Which of a workspace's changes are committed, and why the others are not.

mod attributes;
mod build;
mod decide;
mod held;
mod held_back;
pub(super) mod ignored;
mod modes;
mod newer;
mod selected;
mod selection;
mod states;

use offshoot_tree::diff::Change;
use offshoot_tree::{VaultPath, diff};
use offshoot_vault::Vault;

use crate::error::Result;
use crate::git::{Planted, git_directory, is_the_folders, within_repository};
use crate::mtimes::is_time_alone;
use crate::path_pattern::PathPattern;
use decide::Decider;
pub use held::{Held, HeldReason};
pub(crate) use held_back::held_back;
pub use selected::Selected;
pub use selection::{Allow, Choice, Selection, Tracked};
pub use states::SelectionStates;

/// Sorts what a workspace changed since its base, and builds the state that is offered to the main line.
pub fn select(
    vault: &Vault,
    states: &SelectionStates,
    selection: &Selection<'_>,
) -> Result<Selected> {
    let objects = vault.objects()?;
    let mut changes = diff::compare(objects, &states.base, &states.workspace)?;
    let all = changes.len();
    changes.retain(|change| !is_time_alone(change));
    let all = changes.len() == all;
    let only = selection.only.iter().map(|pattern| ("--only", pattern));
    let named = only.chain(selection.take.iter().map(|pattern| ("--take", pattern)));
    let mut decider = Decider::new(vault, states, selection, &changes)?;
    let (staged, held_checkouts) = (decider.staged().clone(), decider.held_checkouts());
    let changed = || changes.iter().map(|change| &change.path).chain(&staged.taken);
    let unmatched = named.filter(|(_, pattern)| !changed().any(|path| pattern.matches(path)));
    let unmatched = unmatched.map(|(flag, pattern)| format!("{flag} {}", pattern.text())).collect();
    let named = selection.only.iter().chain(&selection.exclude);
    let parts_of_git = named.filter(|pattern| names_part_of_git(pattern, &changes));
    let parts_of_git = parts_of_git.map(|pattern| pattern.text().to_owned()).collect();
    let decided = changes.iter().map(|change| decider.decide(change));
    let decisions = decided.collect::<Result<Vec<_>>>()?;
    let (root, mut held) = build::build(vault, states, (changes, all), decisions)?;
    held.retain(is_told);
    let staged = staged.left.into_iter().collect();
    Ok(Selected { root, held, staged, held_checkouts, unmatched, parts_of_git })
}

/// Whether people are told that something stays.
pub(crate) fn is_told(held: &Held) -> bool {
    match held.reason {
        // What a pull kept of the folder beside the workspace's own is nothing that it could commit.
        HeldReason::Git(Planted::Repository) => !is_the_folders(&held.change.path),
        // The ref is told that it goes with.
        HeldReason::Git(Planted::TrustedRef) => !is_log(&held.change.path),
        // Caches never travel, and nobody misses them.
        reason => reason != HeldReason::Git(Planted::Cache),
    }
}

/// Whether a path is that of a log of git.
fn is_log(path: &VaultPath) -> bool {
    within_repository(path).is_some_and(|inside| inside.iter().any(|name| name == b"logs"))
}

/// Whether a pattern fits something in a git directory, and not the directory itself.
fn names_part_of_git(pattern: &PathPattern, changes: &[Change]) -> bool {
    let fits = |path: &VaultPath| pattern.matches(path);
    changes.iter().any(|change| match git_directory(&change.path) {
        Some(whole) => fits(&change.path) && !fits(&whole),
        None => false,
    })
}
