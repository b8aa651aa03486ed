//! Commits of submodules: `git submodule update` checks out what the repository around them names, at the path that it names.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use offshoot_tree::VaultPath;

use super::super::store::Store;
use super::{Brought, Look, Surroundings};
use crate::error::Result;
use crate::git::repository::{State, common, gitfile, is_repository};
use crate::git::working_tree::below;

/// Submodules in submodules further down are not looked at.
const DEEPEST: usize = 8;
/// More repositories of submodules are not looked at.
const MOST: usize = 10_000;

/// A repository of a submodule, on the host and in the workspace.
pub(super) type ModuleStores<'a> = (VaultPath, [Store<'a>; 2]);

impl<'a> Brought<'a> {
    /// Whether a commit of the submodule at a path brings what counts there. Which repository it is of is up to `.gitmodules`, which may say
    /// something else tomorrow: each that has the commit is looked at. One that no repository here has is fetched first, on the host.
    pub(super) fn is_in_module(
        &self,
        (path, full): (&VaultPath, &VaultPath),
        commit: &[u8],
    ) -> Result<bool> {
        let Surroundings { folder, workspace, depth, judge, .. } = self.around;
        let mut places = BTreeSet::from([common(&self.at).join(b"modules").concat(path)]);
        for state in [folder, workspace] {
            places.insert(repository_of(state, full)?);
        }
        for (at, [host, workspace]) in self.module_stores()? {
            if host.has(commit)? || workspace.has(commit)? {
                places.insert(at.clone());
            }
        }
        let (mut is_read, mut may_be_there) = (false, false);
        for at in places {
            if !is_repository(folder.tree, &at)? && !is_repository(workspace.tree, &at)? {
                continue;
            }
            let module = self.module(&at, full)?;
            let Some(tree) = module.tree_of(commit)? else {
                may_be_there |= module.is_there(commit)?;
                continue;
            };
            is_read = true;
            let is_in = match folder.working_tree(&at)?.as_ref() == Some(full) {
                _ if depth >= DEEPEST => true,
                true => module.look(commit, None)?,
                false => matches!(module.compare(&tree, &[], false)?, Look::Found),
            };
            if is_in {
                return Ok(true);
            }
        }
        // At or above a directory that something on the host obeys, any file may be one of those.
        Ok(!is_read && (may_be_there || judge.counts(full, true)))
    }

    /// A repository of a submodule whose files would be at a path. What the host has at another path is new there.
    fn module(&self, at: &VaultPath, full: &VaultPath) -> Result<Rc<Self>> {
        let key = (at.clone(), full.clone());
        if let Some(known) = self.modules.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let Surroundings { folder, depth, .. } = self.around;
        let around = Surroundings { host: folder, depth: depth + 1, ..self.around };
        let mut module = Brought::new(around, at, Some(full.clone()))?;
        if folder.working_tree(at)?.as_ref() != Some(full) {
            module.indexes = OnceCell::from(Vec::new());
        }
        let module = Rc::new(module);
        self.modules.borrow_mut().insert(key, Rc::clone(&module));
        Ok(module)
    }

    /// Everything below `modules/`.
    fn module_stores(&self) -> Result<&[ModuleStores<'a>]> {
        if let Some(known) = self.module_stores.get() {
            return Ok(known);
        }
        let Surroundings { folder, workspace, .. } = self.around;
        let mut places = BTreeSet::new();
        for state in [folder, workspace] {
            for at in [&self.at, &common(&self.at)] {
                add_modules(state, &at.join(b"modules"), &mut places)?;
            }
        }
        let stores = |at: VaultPath| {
            let stores = [folder, workspace].map(|state| Store::new(state, &at));
            (at, stores)
        };
        Ok(self.module_stores.get_or_init(|| places.into_iter().map(stores).collect()))
    }
}

/// Adds the repositories of submodules, whose names may have slashes.
fn add_modules(state: State<'_>, below: &VaultPath, found: &mut BTreeSet<VaultPath>) -> Result<()> {
    let mut pending = vec![below.clone()];
    while let Some(directory) = pending.pop() {
        let entry = state.tree.get(&directory)?;
        let Some(dir) = entry.as_ref().and_then(|entry| entry.directory()) else { continue };
        for entry in state.tree.list(dir)?.iter().filter(|entry| entry.directory().is_some()) {
            let path = directory.join(&entry.name);
            match is_repository(state.tree, &path)? {
                true => drop(found.insert(path)),
                false if pending.len() < MOST => pending.push(path),
                false => {}
            }
        }
    }
    Ok(())
}

/// The repository of the working tree of a submodule.
fn repository_of(state: State<'_>, folder: &VaultPath) -> Result<VaultPath> {
    let own = folder.join(b".git");
    let text = state.file(&own)?;
    let target = text.as_deref().and_then(gitfile).and_then(|it| std::str::from_utf8(it).ok());
    Ok(target.and_then(|target| below(folder, target)).unwrap_or(own))
}
