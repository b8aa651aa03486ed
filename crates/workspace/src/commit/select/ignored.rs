//! Ignored files that both sides have: each side keeps its own.

use std::collections::{BTreeSet, HashSet};

use offshoot_host::Mtime;
use offshoot_tree::diff;
use offshoot_tree::diff::Change;
use offshoot_tree::{Entry, Meta, RootId, Tree, TreeEditor, VaultPath};
use offshoot_vault::Vault;

use super::held::{Held, HeldReason};
use super::held_back::held_back;
use super::selected::Selected;
use super::selection::{Selection, Tracked};
use super::states::SelectionStates;
use crate::edited_tree::store_edited;
use crate::error::Result;
use crate::git::git_directory;
use crate::mtimes::is_time_alone;

/// The main line as a workspace sees it that takes it in: see [`Selected::without_ignored`].
pub(in crate::commit) fn seen_by_workspace(
    vault: &Vault,
    states: &SelectionStates,
    tracked: Tracked<'_>,
) -> Result<RootId> {
    let (objects, SelectionStates { base, workspace, main }) = (vault.objects()?, *states);
    let theirs = diff::compare(objects, &base, &main)?;
    let theirs: HashSet<&VaultPath> = theirs.iter().map(|change| &change.path).collect();
    let mut changes = diff::compare(objects, &base, &workspace)?;
    changes.retain(|change| !is_time_alone(change));
    let is_file = |change: &&Change| change.entry().directory().is_none();
    if !changes.iter().filter(is_file).any(|change| theirs.contains(&change.path)) {
        return Ok(main);
    }
    let selection = Selection { tracked, ..Selection::default() };
    let selection = selection.in_folders(&vault.bindings()?);
    let held = held_back(vault, states, &selection, &changes)?;
    let (staged, unmatched, parts_of_git) = (Vec::new(), Vec::new(), Vec::new());
    let (root, held_checkouts) = (base, BTreeSet::new());
    let selected = Selected { root, held, staged, held_checkouts, unmatched, parts_of_git };
    selected.without_ignored(vault, &main)
}

impl Selected {
    /// A state of the folders as the workspace sees it: ignored files that stay in the workspace are as the workspace came by them, whatever
    /// the folder made of its own. So they stay what they are there, and nobody has to decide about build output.
    pub(in crate::commit) fn without_ignored(
        &self,
        vault: &Vault,
        after: &RootId,
    ) -> Result<RootId> {
        let objects = vault.objects()?;
        let (offered, now) = (Tree::open(objects, &self.root)?, Tree::open(objects, after)?);
        let mut editor = TreeEditor::open(objects, after, Mtime::now())?;
        let mut directories = BTreeSet::new();
        let is_ignored =
            |held: &&Held| matches!(held.reason, HeldReason::Ignored | HeldReason::Excluded);
        let ignored: Vec<&Held> = self.held.iter().filter(is_ignored).collect();
        // A repository in an ignored folder stays with its files: parts of two states would be none.
        let by_rule = ignored.iter().filter(|held| held.reason == HeldReason::Ignored);
        let whole = by_rule.filter_map(|held| git_directory(&held.change.path)?.parent());
        let whole: BTreeSet<VaultPath> = whole.collect();
        let files = ignored.iter().map(|held| (&held.change.path, held.change.after.as_deref()));
        let files = files.filter(|(path, _)| !whole.contains(*path));
        for (path, there) in whole.iter().map(|folder| (folder, None)).chain(files) {
            if whole.iter().any(|folder| path != folder && path.is_within(folder)) {
                continue;
            }
            let (was, here) = (offered.get(path)?, now.get(path)?);
            let sides = [was.as_ref(), here.as_ref(), there];
            let is_directory = |entry: &&Entry| entry.directory().is_some();
            let mixed = sides.into_iter().flatten().any(|entry| is_directory(&entry));
            if was == here || (mixed && !whole.contains(path)) {
                continue;
            }
            let Some(parent) = path.parent().filter(|parent| can_hold(&now, parent)) else {
                continue;
            };
            match was {
                Some(was) => {
                    editor.make_directories(&parent, &Meta { mode: 0o755, ..Meta::default() })?;
                    editor.put(path, was)?;
                }
                None => drop(editor.remove(path)?),
            }
            directories.insert(parent);
        }
        if directories.is_empty() {
            return Ok(*after);
        }
        // What is not seen changes no time of a directory either.
        let mut editor = TreeEditor::open(objects, &store_edited(vault, editor)?, Mtime::now())?;
        for path in &directories {
            let (Some(entry), Some(was)) = (editor.get(path)?, now.get(path)?) else { continue };
            editor.put(path, Entry { meta: was.meta, ..entry })?;
        }
        store_edited(vault, editor)
    }
}

/// Whether nothing but directories is on the way to a path, as far as there is anything.
fn can_hold(tree: &Tree<'_>, directory: &VaultPath) -> bool {
    let mut at = Some(directory.clone());
    while let Some(path) = at {
        if let Ok(Some(entry)) = tree.get(&path) {
            return entry.directory().is_some();
        }
        at = path.parent();
    }
    false
}
