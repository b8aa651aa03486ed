//! Ignored files that both sides have: each side keeps its own.

use std::collections::BTreeSet;

use offshoot_vault::{Entry, Meta, Mtime, RootId, Tree, TreeEditor, Vault, VaultPath};

use super::build::store;
use super::{Held, HeldReason, Selected};
use crate::error::Result;

impl Selected {
    /// A state of the folders as the workspace sees it: ignored files that stay in the workspace are as the workspace came by them, whatever
    /// the folder made of its own. So they stay what they are there, and nobody has to decide about build output.
    pub(in crate::home) fn without_ignored(&self, vault: &Vault, after: &RootId) -> Result<RootId> {
        let objects = vault.objects()?;
        let (offered, now) = (Tree::open(objects, &self.root)?, Tree::open(objects, after)?);
        let mut editor = TreeEditor::open(objects, after, Mtime::now())?;
        let mut directories = BTreeSet::new();
        let is_ignored =
            |held: &&Held| matches!(held.reason, HeldReason::Ignored | HeldReason::Excluded);
        for held in self.held.iter().filter(is_ignored) {
            let path = &held.change.path;
            let (was, here) = (offered.get(path)?, now.get(path)?);
            let sides = [was.as_ref(), here.as_ref(), held.change.after.as_deref()];
            let is_directory = |entry: &&Entry| entry.directory().is_some();
            if was == here || sides.into_iter().flatten().any(|entry| is_directory(&entry)) {
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
        let mut editor = TreeEditor::open(objects, &store(vault, editor)?, Mtime::now())?;
        for path in &directories {
            let (Some(entry), Some(was)) = (editor.get(path)?, now.get(path)?) else { continue };
            editor.put(path, Entry { meta: was.meta, ..entry })?;
        }
        store(vault, editor)
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
