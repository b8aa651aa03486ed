//! Changes that would make the host run something by itself, as soon as anybody uses git there.

mod by_name;
mod held_refs;
mod hidden;
mod look;
mod part;
mod remembered;
mod shadows;
mod stores;

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::diff::Change;
use offshoot_tree::{Entry, Objects, Tree, VaultPath};
use offshoot_vault::Binding;

use super::merge::{Judge, Staged};
use super::names::{git_directory, is_name, within_repository};
use super::nested::{Look, Nested};
use super::pack_check::PackChecker;
use super::repository::{State, is_repository};
use super::submodule::Submodules;
use crate::error::Result;
use by_name::in_repository;
pub use by_name::{Planted, planted};
pub(super) use by_name::{addresses, sensitive};
pub(crate) use by_name::{is_new_pipe, matters, steps};
use held_refs::HeldRefs;
use hidden::{hides_files, plain_index};
use look::{Was, is_module_part, leads_elsewhere, look, shadows_ref};
use stores::Stores;

/// Finds everything that a set of changes plants, also directories that git would take for a repository whatever they are called.
#[derive(Clone, Debug, Default)]
pub struct Planting {
    /// Directories that look like a repository after the changes, and what they were before.
    repositories: BTreeMap<VaultPath, Was>,
    /// Repositories called `.git` that are gone.
    gone: BTreeSet<VaultPath>,
    submodules: Submodules,
    /// Steps that were finished, or given up: git has nothing to go on with, so that they are gone plants nothing.
    finished: BTreeSet<VaultPath>,
    /// Files that git would take for refs, before those that people know by the same names.
    refs: BTreeSet<VaultPath>,
    /// Refs that do not move with the rest.
    held_refs: HeldRefs,
    /// Lists of files that git is told to overlook.
    hides: BTreeSet<VaultPath>,
    /// Indexes that git would believe what is not so, with what they are without that.
    plain: BTreeMap<VaultPath, (Vec<u8>, Planted)>,
    stores: Stores,
    nested: Nested,
}

impl Planting {
    /// Looks at the directories that something changed in; `main` is what the folders are. `judge` tells which files something on the host
    /// runs or obeys. Without `packs_by` nobody can look at packs.
    pub fn of(
        changes: &[Change],
        objects: &Objects,
        [before, after, main]: [&Tree<'_>; 3],
        bindings: &[Binding],
        judge: &dyn Judge,
        packs_by: Option<&PackChecker<'_>>,
    ) -> Result<Self> {
        let state = |tree| State { objects, tree };
        let (old, new) = (state(before), state(after));
        let mut looked: BTreeMap<VaultPath, Option<Was>> = BTreeMap::new();
        for change in changes {
            let mut directory = change.path.parent();
            while let Some(path) = directory {
                if looked.contains_key(&path) {
                    break;
                }
                directory = path.parent();
                let found = look(&path, [old, new, state(main)])?;
                looked.insert(path, found);
            }
        }
        let mut repositories: BTreeMap<VaultPath, Was> =
            looked.into_iter().filter_map(|(path, was)| Some((path, was?))).collect();
        let stores = Stores::of(changes, new, state(main), packs_by)?;
        let is_plain = |path: &&VaultPath| is_module(path) && !stores.broken().contains(*path);
        let modules = repositories.keys().filter(is_plain).cloned().collect();
        let held_refs = HeldRefs::of(changes, [old, new, state(main)], judge)?;
        let tainted = held_refs.new_repositories();
        let submodules = Submodules::of(changes, (&modules, tainted), new, bindings)?;
        repositories.retain(|path, _| !submodules.plain.contains(path));
        for change in changes {
            if let Some(path) = leads_elsewhere(change)
                && !is_repository(before, &path)?
                && is_repository(after, &path)?
            {
                repositories.insert(path, Was::Other);
            }
        }
        let mut gone = BTreeSet::new();
        let heads = changes.iter().filter(|change| change.path.name() == Some(b"HEAD"));
        for change in heads.filter(|change| change.after.is_none()) {
            let Some(repository) = git_directory(&change.path) else { continue };
            let is_its_own = change.path.parent().as_ref() == Some(&repository);
            if is_its_own && after.get(&repository)?.is_none() {
                gone.insert(repository);
            }
        }
        let mut finished = BTreeSet::new();
        for change in changes.iter().filter(|change| change.after.is_none()) {
            if let Some(steps) = steps(&change.path)
                && after.get(&steps)?.is_none()
            {
                finished.insert(steps);
            }
        }
        let look = Look { before: old, after: new, main: state(main), bindings };
        let nested = look.nested(changes, &submodules)?;
        let mut refs = BTreeSet::new();
        for change in changes {
            if shadows_ref(change, new)? {
                refs.insert(change.path.clone());
            }
        }
        let (mut hides, mut plain) = (BTreeSet::new(), BTreeMap::new());
        for change in changes {
            if hides_files(change, state(main), new)? {
                hides.insert(change.path.clone());
            }
            if let Some(index) = plain_index(change, state(main), new)? {
                plain.insert(change.path.clone(), index);
            }
        }
        Ok(Self {
            repositories,
            gone,
            submodules,
            finished,
            refs,
            held_refs,
            hides,
            plain,
            stores,
            nested,
        })
    }

    /// The checkouts whose commits have files that something on the host runs or obeys.
    pub fn held_checkouts(&self) -> &BTreeSet<VaultPath> {
        self.held_refs.checkouts()
    }

    /// What indexes have of files that something on the host runs or obeys.
    pub fn staged(&self) -> &Staged {
        self.held_refs.staged()
    }

    /// What a file says without what is planted in it, and what that is; nothing where nothing is. Lists of packed refs, logs and indexes are
    /// committed without it.
    pub fn without_planted(&self, path: &VaultPath) -> Option<(&[u8], Planted)> {
        let index = || self.plain.get(path).map(|(bytes, planted)| (bytes.as_slice(), *planted));
        self.held_refs.text(path).or_else(index)
    }

    /// What a change to a path plants.
    pub fn planted(
        &self,
        path: &VaultPath,
        before: Option<&Entry>,
        after: Option<&Entry>,
    ) -> Option<Planted> {
        if is_new_pipe(before, after) && within_repository(path).is_some() {
            return Some(Planted::Pipe);
        }
        if let Some(why) = self.stores.why(path) {
            return Some(why);
        }
        if self.stores.broken().iter().any(|it| path.is_within(it)) && matters(before, after) {
            return Some(Planted::Dependent);
        }
        let is_cache = || self.stores.is_cache(path).then_some(Planted::Cache);
        self.obeyed(path, before, after).or_else(is_cache)
    }

    /// The same but for what is in the stores of repositories.
    fn obeyed(
        &self,
        path: &VaultPath,
        before: Option<&Entry>,
        after: Option<&Entry>,
    ) -> Option<Planted> {
        if self.gone.iter().any(|repository| path.is_within(repository)) {
            return Some(Planted::Gone);
        }
        if let Some(why) = self.nested.holds(path) {
            return Some(why);
        }
        let is_finished = self.finished.iter().any(|steps| path.is_within(steps));
        if is_finished || self.nested.lets(path) || self.held_refs.is_same(path) {
            return None;
        }
        if self.refs.contains(path) && matters(before, after) {
            return Some(Planted::Redirect);
        }
        if let Some(why) = self.held_refs.why(path) {
            return Some(why);
        }
        if self.hides.contains(path) {
            return Some(Planted::Hidden);
        }
        let named = planted(path, before, after).filter(|_| !self.submodules.lets(path));
        let found = named.or_else(|| self.in_found(path, before, after));
        let mut tainted = self.held_refs.new_repositories().iter();
        match found {
            None | Some(Planted::Repository) if tainted.any(|at| path.is_within(at)) => {
                Some(Planted::TrustedRepository)
            }
            found => found,
        }
    }

    fn in_found(
        &self,
        path: &VaultPath,
        before: Option<&Entry>,
        after: Option<&Entry>,
    ) -> Option<Planted> {
        self.repositories.iter().find_map(|(repository, was)| {
            if !path.is_within(repository) {
                return None;
            }
            let inside = &path.names()[repository.names().len()..];
            match was {
                Was::Nothing => Some(Planted::Repository),
                Was::Other => Some(Planted::Dependent),
                _ if inside.is_empty() || !matters(before, after) => None,
                Was::Repository => in_repository(inside, after),
                Was::Directory => makes_repository(&inside[0]).then_some(Planted::Repository),
            }
        })
    }
}

fn is_module(path: &VaultPath) -> bool {
    within_repository(path).is_some_and(is_module_part)
}

/// The names without which a directory is no repository, or that matter only to one.
fn makes_repository(name: &[u8]) -> bool {
    let names = ["HEAD", "commondir", "objects", "refs", "config", "config.worktree", "hooks"];
    names.iter().any(|wanted| is_name(name, wanted))
}

#[cfg(test)]
mod tests;
