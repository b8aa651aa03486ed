//! Working trees below a folder that have a `.git` file: submodules and linked working trees. Each reaches the folder, stays, or goes as one whole.
//!
//! Without its `.git` file a working tree is plain files of the repository around it, and without its files it is a checkout with everything
//! deleted. So where the file stays, all that was done in the working tree stays with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use offshoot_host::disk::bytes_path;
use offshoot_tree::diff::Change;
use offshoot_tree::{Tree, VaultPath};
use offshoot_vault::Binding;

use super::git_file::{leads_to, on_host, resolved};
use super::merge::Checkout;
use super::names::{is_name, within_repository};
use super::planted::Planted;
use super::repository::{State, gitfile, is_repository};
use super::submodule::{Submodules, moved_to};
use crate::error::Result;

/// What becomes of the working trees that changes made, moved or took away.
#[derive(Clone, Debug, Default)]
pub(super) struct Nested {
    /// The working trees that stay as they are, and what the repositories around them keep of them.
    held: BTreeMap<VaultPath, Planted>,
    /// What goes or comes with a whole one, though its name says otherwise.
    free: BTreeSet<VaultPath>,
}

impl Nested {
    /// Whether a path can reach the folder though its name says otherwise.
    pub(super) fn lets(&self, path: &VaultPath) -> bool {
        self.free.iter().any(|free| path.is_within(free))
    }

    /// Why a path stays with the working tree that it is in.
    pub(super) fn holds(&self, path: &VaultPath) -> Option<Planted> {
        self.held.iter().find(|(at, _)| path.is_within(at)).map(|(_, why)| *why)
    }
}

/// The states that working trees are looked at in.
#[derive(Clone, Copy)]
pub(super) struct Look<'l> {
    pub(super) before: State<'l>,
    pub(super) after: State<'l>,
    /// The folders as they are.
    pub(super) main: State<'l>,
    pub(super) bindings: &'l [Binding],
}

/// A working tree, and the git directory that it leads to as far as that is in the vault.
struct WorkingTree {
    folder: VaultPath,
    repository: Option<VaultPath>,
}

impl Look<'_> {
    /// Looks at every `.git` file that leads elsewhere than before.
    pub(super) fn nested(&self, changes: &[Change], submodules: &Submodules) -> Result<Nested> {
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for change in changes.iter().filter(|change| self.is_pointer(change)) {
            let Some(folder) = change.path.parent() else { continue };
            let (was, is) = (self.leads(self.before, &folder)?, self.leads(self.after, &folder)?);
            if was == is && is.is_some() {
                continue;
            }
            let had_one = self.before.file(&change.path)?.is_some_and(|it| gitfile(&it).is_some());
            if had_one {
                gone.push(WorkingTree { folder: folder.clone(), repository: was });
            }
            if is.is_some() && !submodules.lets(&change.path) {
                new.push(WorkingTree { folder, repository: is });
            }
        }
        let mut nested = Nested::default();
        for tree in &gone {
            let to =
                new.iter().find(|it| it.repository.is_some() && it.repository == tree.repository);
            self.leave(tree, to, &mut nested)?;
        }
        for WorkingTree { folder, repository } in &new {
            let Some(repository) = repository else { continue };
            let came = nested.free.contains(&folder.join(b".git"));
            if !came
                && is_empty(self.before.tree, folder)?
                && is_repository(self.after.tree, repository)?
            {
                nested.held.insert(folder.clone(), Planted::Repository);
            }
        }
        Ok(nested)
    }

    /// Decides about a working tree that is gone from its place, and about the one that it became.
    fn leave(
        &self,
        tree: &WorkingTree,
        to: Option<&WorkingTree>,
        nested: &mut Nested,
    ) -> Result<()> {
        let WorkingTree { folder, repository } = tree;
        let pointer = folder.join(b".git");
        if self.main.file(&pointer)?.is_none() {
            // It is gone in the folder as well.
            if is_empty(self.after.tree, folder)? {
                nested.free.insert(pointer);
            }
            return Ok(());
        }
        let kept = self.record(repository.as_ref())?;
        let why = match () {
            () if self.is_newer(tree)? => Some(Planted::Newer),
            () if !is_empty(self.after.tree, folder)? => Some(Planted::Dependent),
            () => None,
        };
        let named = match (to, repository) {
            (Some(to), Some(repository)) if why.is_none() => {
                match self.names(&to.folder, repository)? {
                    Some(file) => vec![to.folder.join(b".git"), file],
                    None => {
                        nested.held.insert(folder.clone(), Planted::Dependent);
                        return Ok(());
                    }
                }
            }
            _ => Vec::new(),
        };
        match why {
            Some(why) => {
                nested.held.extend([folder.clone()].into_iter().chain(kept).map(|at| (at, why)))
            }
            None => nested.free.extend([pointer].into_iter().chain(kept).chain(named)),
        }
        Ok(())
    }

    /// What the repository around a linked working tree kept of it, where that is gone.
    fn record(&self, repository: Option<&VaultPath>) -> Result<Option<VaultPath>> {
        let Some(repository) = repository else { return Ok(None) };
        let is_record =
            matches!(within_repository(repository), Some([kind, _]) if is_name(kind, "worktrees"));
        let is_gone = is_record && self.after.tree.get(repository)?.is_none();
        Ok(is_gone.then(|| repository.clone()))
    }

    /// Whether somebody worked in the folder's one since: in its files, or in what is checked out and staged there.
    fn is_newer(&self, tree: &WorkingTree) -> Result<bool> {
        let entry = |state: State<'_>| state.tree.get(&tree.folder);
        let same = match (entry(self.before)?, entry(self.main)?) {
            (Some(was), Some(is)) => was.same_content(&is),
            (was, is) => was.is_none() && is.is_none(),
        };
        let Some(repository) = tree.repository.as_ref().filter(|_| same) else { return Ok(!same) };
        let was = Checkout::read(&self.before, repository)?;
        let is = Checkout::read(&self.main, repository)?;
        Ok(!was.is_same(&is) || !was.has_same_progress(&is))
    }

    /// The file of a git directory that names its working tree, where nothing else in it was changed and it names this one. Nobody must
    /// have changed it in the folder, or have something in the place of the working tree.
    fn names(&self, folder: &VaultPath, repository: &VaultPath) -> Result<Option<VaultPath>> {
        let is_record =
            matches!(within_repository(repository), Some([kind, _]) if is_name(kind, "worktrees"));
        let file = repository.join(if is_record { b"gitdir".as_slice() } else { b"config" });
        let was = self.before.file(&file)?;
        if self.main.file(&file)? != was || !is_empty(self.main.tree, folder)? {
            return Ok(None);
        }
        let (Some(was), Some(is)) = (was, self.after.file(&file)?) else { return Ok(None) };
        let (here, wanted) = (on_host(self.bindings, repository), on_host(self.bindings, folder));
        let (Some(here), Some(wanted)) = (here, wanted) else { return Ok(None) };
        let found = match is_record {
            true => resolved(&here, bytes_path(is.trim_ascii_end())) == Some(wanted.join(".git")),
            false => {
                moved_to(&was, &is).and_then(|to| resolved(&here, Path::new(&to))) == Some(wanted)
            }
        };
        Ok(found.then_some(file))
    }

    /// Whether a change is about the `.git` file of a working tree. Those of the vault's own folders lead to their own repositories.
    fn is_pointer(&self, change: &Change) -> bool {
        let is_named = within_repository(&change.path).is_some_and(<[_]>::is_empty);
        let is_file = [&change.before, &change.after].into_iter().flatten();
        let is_file = is_file.into_iter().any(|entry| entry.directory().is_none());
        let folder = change.path.parent().unwrap_or_default();
        let is_bound = folder.is_top() || self.bindings.iter().any(|it| it.at() == folder);
        is_named && is_file && !is_bound
    }

    fn leads(&self, state: State<'_>, folder: &VaultPath) -> Result<Option<VaultPath>> {
        leads_to(state, folder, self.bindings)
    }
}

/// Whether nothing is in a directory, or there is none.
fn is_empty(tree: &Tree<'_>, path: &VaultPath) -> Result<bool> {
    let entry = tree.get(path)?;
    let directory = entry.as_ref().map(|entry| entry.directory());
    Ok(directory.is_none_or(|directory| directory.is_some_and(|found| found.entries == 0)))
}
