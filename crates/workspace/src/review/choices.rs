//! From decisions to what a commit brings home.

use std::collections::BTreeMap;

use offshoot_vault::diff::{self, Change};
use offshoot_vault::{Body, Entry, Vault, VaultPath};

use super::{Mixed, Outcome, ReviewItem, Wanted};
use crate::error::Result;
use crate::home::{Choice, SelectionStates};

/// What a commit brings home: what was accepted or edited, and nothing else. The workspace is as it is now, after what was
/// dropped is gone.
pub(super) fn choices(
    vault: &Vault,
    states: &SelectionStates,
    items: &[ReviewItem],
) -> Result<BTreeMap<VaultPath, Choice>> {
    let decided = decided(items);
    let mut choices = BTreeMap::new();
    for change in diff::compare(vault.objects()?, &states.base, &states.workspace)? {
        // Directories come with what is in them.
        let choice = match decided.get(&change.path) {
            Some(Some(Choice::Content(bytes))) if has(vault, &change, bytes)? => Choice::Take,
            Some(Some(choice)) => choice.clone(),
            None if let Some(choice) = with_replaced(items, &change.path) => choice,
            _ if change.entry().directory().is_some() => continue,
            _ => Choice::Leave,
        };
        choices.insert(change.path, choice);
    }
    Ok(choices)
}

/// What lies below something that became a directory, or is none any more, comes home with that or stays with it.
fn with_replaced(items: &[ReviewItem], path: &VaultPath) -> Option<Choice> {
    let item = items.iter().find(|item| item.replaces_all_below(path))?;
    Some(match item.outcome(Wanted::Accepted) {
        Outcome::After => Choice::Take,
        Outcome::Before | Outcome::Mixed(_) => Choice::Leave,
    })
}

/// What was decided about each path; `None` for nothing.
fn decided(items: &[ReviewItem]) -> BTreeMap<VaultPath, Option<Choice>> {
    let mut decided = BTreeMap::new();
    for item in items {
        let choice = match item.outcome(Wanted::Accepted) {
            Outcome::After => Some(Choice::Take),
            Outcome::Before => None,
            Outcome::Mixed(mixed) => partly(item, mixed),
        };
        if let Some((from, _)) = &item.change.moved {
            let follows = choice.as_ref().map(|_| Choice::Take);
            decided.insert(from.clone(), follows);
        }
        decided.insert(item.change.path.clone(), choice);
    }
    decided
}

/// Lines of a file that was moved come home with the move or not at all.
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
