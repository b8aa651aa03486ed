//! Building the offered state: the base with what was decided to be committed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use offshoot_host::Mtime;
use offshoot_tree::diff::Change;
use offshoot_tree::{Entry, EntryKind, Meta, RootId, Tree, TreeEditor, VaultPath};
use offshoot_vault::Vault;

use super::attributes;
use super::decide::Decision;
use super::held::{Held, HeldReason};
use super::states::SelectionStates;
use crate::edited_tree::store_edited;
use crate::error::Result;

/// Applies the decisions to the base; `all` says that these are about everything that changed. Gives the new state and what stays behind.
pub(super) fn build(
    vault: &Vault,
    states: &SelectionStates,
    (changes, all): (Vec<Change>, bool),
    decisions: Vec<Decision>,
) -> Result<(RootId, Vec<Held>)> {
    if all && decisions.iter().all(|decision| *decision == Decision::Take) {
        // A directory in which files were only written anew has another time, and nothing else.
        let anything = changes.iter().any(|c| !both_directories(c) || changes_directory(c));
        return Ok((if anything { states.workspace } else { states.base }, Vec::new()));
    }
    let objects = vault.objects()?;
    let mut builder = Builder {
        vault,
        editor: TreeEditor::open(objects, &states.base, Mtime::now())?,
        workspace: Tree::open(objects, &states.workspace)?,
        decisions: BTreeMap::new(),
        held: BTreeMap::new(),
        renamed_in: BTreeSet::new(),
    };
    let mut by_path = BTreeMap::new();
    for (change, decision) in changes.into_iter().zip(decisions) {
        if let Decision::Hold(reason) | Decision::Instead(_, reason) = decision {
            builder.held.insert(change.path.clone(), reason);
        }
        builder.decisions.insert(change.path.clone(), decision);
        by_path.insert(change.path.clone(), change);
    }
    // What is in a directory goes before the directory, and comes after it.
    for change in by_path.values().rev().filter(|change| change.after.is_none()) {
        builder.remove(change)?;
    }
    for change in by_path.values().filter(|change| change.after.is_some()) {
        builder.put(change)?;
    }
    let (root, held) = builder.finish(by_path.values())?;
    let held = held.into_iter().filter_map(|(path, reason)| {
        let change = by_path.get(&path)?.clone();
        Some(Held { change, reason })
    });
    Ok((root, held.collect()))
}

struct Builder<'a> {
    vault: &'a Vault,
    editor: TreeEditor<'a>,
    workspace: Tree<'a>,
    decisions: BTreeMap<VaultPath, Decision>,
    held: BTreeMap<VaultPath, HeldReason>,
    /// Directories that gained or lost a name.
    renamed_in: BTreeSet<VaultPath>,
}

impl Builder<'_> {
    fn remove(&mut self, change: &Change) -> Result<()> {
        let path = &change.path;
        if self.decisions.get(path) != Some(&Decision::Take) {
            return Ok(());
        }
        let is_directory = change.entry().kind() == EntryKind::Directory;
        // Something in it stays, so it stays as well.
        if !is_directory || self.editor.is_empty(path)? {
            self.editor.remove(path)?;
            self.renamed_in.extend(path.parent());
        }
        Ok(())
    }

    fn put(&mut self, change: &Change) -> Result<()> {
        let (path, Some(after)) = (&change.path, &change.after) else { return Ok(()) };
        let entry = match self.decisions.get(path) {
            Some(Decision::Take) => Entry::clone(after),
            Some(Decision::Instead(entry, _)) => Entry::clone(entry),
            Some(Decision::Hold(_)) | None => return Ok(()),
        };
        if let Some(dir) = after.directory() {
            let was_directory = change.before.as_ref().is_some_and(|b| b.directory().is_some());
            // Directories come with what is in them, and their own metadata at the end.
            if was_directory || dir.entries > 0 {
                return Ok(());
            }
            let empty = self.editor.empty_directory(entry.meta)?;
            return self.place(path, empty);
        }
        if self.editor.get(path)?.is_some_and(|now| now.directory().is_some())
            && !self.editor.is_empty(path)?
        {
            // It was a directory, and something in it stays.
            let reason = self.held.iter().find(|(held, _)| held.is_within(path)).map(|(_, r)| *r);
            self.held.insert(path.clone(), reason.unwrap_or(HeldReason::NotAsked));
            return Ok(());
        }
        self.place(path, entry)
    }

    fn place(&mut self, path: &VaultPath, entry: Entry) -> Result<()> {
        if let Some(reason) = self.make_parents(path)? {
            self.held.insert(path.clone(), reason);
            return Ok(());
        }
        if self.editor.get(path)?.is_none() {
            self.renamed_in.extend(path.parent());
        }
        Ok(self.editor.put(path, entry)?)
    }

    /// Makes the directories that a path is in, as the workspace has them. Gives the reason where one may not be made.
    fn make_parents(&mut self, path: &VaultPath) -> Result<Option<HeldReason>> {
        let mut at = VaultPath::top();
        let parents = path.names().split_last().map_or(&[][..], |(_, parents)| parents);
        for name in parents {
            let inside = at.clone();
            at = at.join(name);
            let now = self.editor.get(&at)?;
            if now.as_ref().is_some_and(|entry| entry.directory().is_some()) {
                continue;
            }
            let held = self.held.get(&at).copied();
            if let (Some(_), Some(reason)) = (&now, held.filter(|r| *r != HeldReason::NotAsked)) {
                return Ok(Some(reason));
            }
            let meta = match self.decisions.get(&at) {
                Some(Decision::Instead(entry, _)) => entry.meta.clone(),
                _ => self.workspace.get(&at)?.map_or_else(Meta::default, |entry| {
                    attributes::allowed(&entry, None).unwrap_or(entry.meta)
                }),
            };
            let empty = self.editor.empty_directory(meta)?;
            if now.is_none() {
                self.renamed_in.insert(inside);
            }
            self.editor.put(&at, empty)?;
            // Only metadata stays of a directory that is made.
            self.held.retain(|held, reason| *held != at || reason.is_about_metadata());
        }
        Ok(None)
    }

    /// Stores what was built, and then gives directories the metadata that they have in the workspace.
    fn finish<'c>(
        self,
        changes: impl Iterator<Item = &'c Change>,
    ) -> Result<(RootId, BTreeMap<VaultPath, HeldReason>)> {
        let Self { vault, editor, workspace, decisions, held, mut renamed_in } = self;
        let root = store_edited(vault, editor)?;
        let taken: BTreeSet<VaultPath> = changes
            .filter(|change| !matches!(decisions.get(&change.path), None | Some(Decision::Hold(_))))
            .filter(|change| changes_directory(change))
            .map(|change| change.path.clone())
            .collect();
        renamed_in.extend(taken.iter().cloned());
        if renamed_in.is_empty() {
            return Ok((root, held));
        }
        let mut editor = TreeEditor::open(vault.objects()?, &root, Mtime::now())?;
        for path in &renamed_in {
            let (now, wanted) = (editor.get(path)?, workspace.get(path)?);
            let (Some(mut entry), Some(wanted)) = (now, wanted) else { continue };
            if entry.directory().is_none() || wanted.directory().is_none() {
                continue;
            }
            entry.meta = match decisions.get(path) {
                Some(Decision::Take) => wanted.meta,
                Some(Decision::Instead(instead, _)) => instead.meta.clone(),
                _ => Meta { mtime: wanted.meta.mtime, ..entry.meta },
            };
            editor.put(path, entry)?;
        }
        Ok((store_edited(vault, editor)?, held))
    }
}

/// Whether more than the time of a directory that stays one is changed.
fn changes_directory(change: &Change) -> bool {
    let (Some(before), Some(after)) = (&change.before, &change.after) else { return false };
    let timeless = Meta { mtime: before.meta.mtime, ..after.meta.clone() };
    both_directories(change) && timeless != before.meta
}

fn both_directories(change: &Change) -> bool {
    let is_directory =
        |entry: &Option<Arc<Entry>>| entry.as_ref().is_some_and(|e| e.directory().is_some());
    is_directory(&change.before) && is_directory(&change.after)
}
