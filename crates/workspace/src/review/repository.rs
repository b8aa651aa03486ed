//! Dropping what was done in a git directory: all of it goes back to what the base has, and nothing that git stores by its hash is taken
//! away.

use std::collections::BTreeSet;

use offshoot_tree::{Entry, Tree, TreeEditor, VaultPath};

use super::apply::{make_parents, take_away};
use super::listed::Listed;
use super::{ReviewDecision, ReviewItem};
use crate::error::Result;
use crate::git::{git_directory, object_holder};

/// A git directory that goes back, with the objects that only the workspace has: directories come before what is in them.
pub(super) struct Dropped {
    at: VaultPath,
    objects: Vec<(VaultPath, Entry)>,
}

impl Dropped {
    /// Of a workspace that nothing was taken out of yet.
    pub(super) fn of(editor: &mut TreeEditor<'_>, base: &Tree<'_>, at: &VaultPath) -> Result<Self> {
        let mut found = Vec::new();
        if let Some(now) = editor.get(at)?
            && let Some(dir) = now.directory()
        {
            base.walk(at, dir, &mut |path, entry| {
                found.extend(
                    object_holder(path).map(|holder| (holder, path.clone(), entry.clone())),
                );
                Ok(())
            })?;
        }
        let mut objects = Vec::new();
        for (holder, path, entry) in found {
            // Those of a repository that is new, such as a submodule's, go with it.
            let is_kept = base.get(&holder)?.is_some_and(|entry| entry.directory().is_some());
            if is_kept && base.get(&path)?.is_none() {
                objects.push((path, entry));
            }
        }
        Ok(Self { at: at.clone(), objects })
    }

    /// Puts back what the base has, with these objects.
    pub(super) fn put_back(self, editor: &mut TreeEditor<'_>, base: &Tree<'_>) -> Result<()> {
        let Some(was) = base.get(&self.at)? else {
            return match editor.get(&self.at)? {
                Some(_) => take_away(editor, base, &self.at),
                None => Ok(()),
            };
        };
        make_parents(editor, base, &self.at)?;
        editor.put(&self.at, was)?;
        for (path, entry) in self.objects {
            let entry = match entry.directory() {
                Some(_) => editor.empty_directory(entry.meta)?,
                None => entry,
            };
            make_parents(editor, base, &path)?;
            editor.put(&path, entry)?;
        }
        Ok(())
    }
}

/// The git directories that something was dropped of.
pub(super) fn dropped(items: &[ReviewItem]) -> BTreeSet<VaultPath> {
    let is_dropped = |item: &&ReviewItem| {
        item.pieces.iter().any(|piece| piece.decision == ReviewDecision::Dropped)
    };
    items.iter().filter(is_dropped).filter_map(|item| git_directory(&item.change.path)).collect()
}

/// Leaves out git directories in which there is nothing to decide about: objects that came without anything that leads to them stay whatever
/// is decided.
pub(super) fn leave_out_mere_objects(items: &mut Vec<Listed>) {
    let is_more = |item: &&Listed| {
        let is_new = item.change.before.is_none() && item.held.is_none();
        !(is_new && object_holder(&item.change.path).is_some())
    };
    let more: BTreeSet<VaultPath> =
        items.iter().filter(is_more).filter_map(|item| git_directory(&item.change.path)).collect();
    items.retain(|item| git_directory(&item.change.path).is_none_or(|at| more.contains(&at)));
}
