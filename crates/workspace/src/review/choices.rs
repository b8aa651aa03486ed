//! From decisions to what a commit takes.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::diff::Change;
use offshoot_tree::{Body, Entry, VaultPath, diff};
use offshoot_vault::Vault;

use super::listed::Listed;
use super::{Mixed, PieceOutcome, ReviewDecision, ReviewItem, ReviewPiece, Wanted};
use crate::commit::{Choice, SelectionStates};
use crate::error::Result;
use crate::git::git_directory;

/// What a commit takes: what was accepted or edited, and nothing else. The workspace is as it is now, after what was
/// dropped is gone, and `listed` is what there is to decide about in it.
///
/// What is not listed comes along where everything that is listed does: times and the like of files, and what the main line has too.
pub(super) fn choices(
    vault: &Vault,
    states: &SelectionStates,
    listed: &[Listed],
    items: &[ReviewItem],
) -> Result<BTreeMap<VaultPath, Choice>> {
    let (decided, whole) = (decided(items), whole(items));
    let comes = |path: &VaultPath| whole.contains(&unit(path));
    let mut offered = listed.iter().filter(|one| one.held.is_none());
    let everything = offered.all(|one| comes(one.source.as_ref().unwrap_or(&one.change.path)));
    let mut choices = BTreeMap::new();
    for change in diff::compare(vault.objects()?, &states.base, &states.workspace)? {
        // Directories come with what is in them.
        let choice = match decided.get(&change.path) {
            Some(Some(Choice::Content(bytes))) if has(vault, &change, bytes)? => Choice::Take,
            Some(Some(choice)) => choice.clone(),
            None if let Some(choice) = with_replaced(items, &change.path) => choice,
            _ if change.entry().directory().is_some() => continue,
            None if everything => continue,
            _ if git_directory(&change.path).is_some() && comes(&change.path) => continue,
            _ => Choice::Leave,
        };
        choices.insert(change.path, choice);
    }
    Ok(choices)
}

/// What is decided about as a whole: a git directory, or a path.
fn unit(path: &VaultPath) -> VaultPath {
    git_directory(path).unwrap_or_else(|| path.clone())
}

/// Of what all pieces are committed, as they are or edited. What stays in any case is not asked about.
fn whole(items: &[ReviewItem]) -> BTreeSet<VaultPath> {
    let is_taken = |piece: &ReviewPiece| {
        matches!(piece.decision, ReviewDecision::Accepted | ReviewDecision::Edited(_))
    };
    let offered = items.iter().filter(|item| item.held.is_none());
    let (come, stay): (Vec<&ReviewItem>, Vec<&ReviewItem>) =
        offered.partition(|item| item.pieces.iter().all(is_taken));
    let units = |items: Vec<&ReviewItem>| -> BTreeSet<VaultPath> {
        items.into_iter().map(|item| unit(item.workspace_path())).collect()
    };
    &units(come) - &units(stay)
}

/// What lies below something that became a directory, or is none any more, is committed with that or stays with it.
fn with_replaced(items: &[ReviewItem], path: &VaultPath) -> Option<Choice> {
    let item = items.iter().find(|item| item.replaces_all_below(path))?;
    Some(match item.outcome(Wanted::Accepted) {
        PieceOutcome::After => Choice::Take,
        PieceOutcome::Before | PieceOutcome::Mixed(_) => Choice::Leave,
    })
}

/// What was decided about each path; `None` for nothing.
fn decided(items: &[ReviewItem]) -> BTreeMap<VaultPath, Option<Choice>> {
    let mut decided = BTreeMap::new();
    for item in items {
        let choice = match item.outcome(Wanted::Accepted) {
            PieceOutcome::After => Some(Choice::Take),
            PieceOutcome::Before => None,
            PieceOutcome::Mixed(mixed) => partly(item, mixed),
        };
        if let Some((from, _)) = &item.change.moved {
            let follows = choice.as_ref().map(|_| Choice::Take);
            decided.insert(from.clone(), follows);
        }
        decided.insert(item.workspace_path().clone(), choice);
    }
    decided
}

/// Lines of a file that was moved are committed with the move or not at all.
fn partly(item: &ReviewItem, mixed: Mixed) -> Option<Choice> {
    if !mixed.moved {
        return None;
    }
    let mode = item.change.before.as_ref().map(|before| before.meta.mode).filter(|_| !mixed.mode);
    let content = match (mixed.content, &item.text) {
        (Some(content), _) => content,
        (None, Some(text)) => text.whole_after().to_vec(),
        (None, None) => return Some(Choice::Take),
    };
    Some(match mode {
        Some(mode) => Choice::File { content, mode },
        None => Choice::Content(content),
    })
}

/// Whether the workspace has exactly these bytes.
fn has(vault: &Vault, change: &Change, bytes: &[u8]) -> Result<bool> {
    Ok(match change.after.as_deref().map(|entry: &Entry| &entry.body) {
        Some(Body::File { size, blob }) if *size == bytes.len() as u64 => {
            vault.objects()?.blob(blob)? == bytes
        }
        _ => false,
    })
}
