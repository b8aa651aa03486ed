//! The further working trees of a repository: where they lie, and the refs that each has for itself.

use std::collections::BTreeSet;

use offshoot_tree::VaultPath;
use offshoot_vault::bound_path;

use super::super::report::GitEvent;
use super::super::role::{Role, role};
use super::super::taking::{Taking, UnclearRefs};
use super::ref_files::text;
use crate::error::Result;
use crate::git::repository::{Refs, State, is_own_ref, resolve};
use crate::side_label::HEAD_LABEL;

impl Taking<'_, '_> {
    /// The further working trees that any state has.
    pub(super) fn worktrees(&self, repository: &VaultPath) -> Result<Vec<VaultPath>> {
        let sides = self.sides;
        let above = repository.join(b"worktrees");
        let mut names: BTreeSet<Vec<u8>> = BTreeSet::new();
        for state in [sides.base, sides.target, sides.other] {
            let entry = state.tree.get(&above)?;
            if let Some(dir) = entry.as_ref().and_then(|entry| entry.directory()) {
                names.extend(state.tree.list(dir)?.into_iter().map(|entry| entry.name));
            }
        }
        Ok(names.into_iter().map(|name| above.join(&name)).collect())
    }

    /// Whether a further working tree of the folder's repository lies outside of it: its files do not reach the folder, so what is checked out
    /// there cannot.
    pub(super) fn is_elsewhere(&self, repository: &VaultPath, at: &VaultPath) -> Result<bool> {
        // Of a git directory that lies outside itself, what belongs to other checkouts was held back, or chosen, before.
        if self.held.ignored.contains(at) {
            return Ok(true);
        }
        let is_bound = repository.parent() == Some(bound_path());
        if self.unclear != UnclearRefs::Apart || self.target_label != HEAD_LABEL || is_bound {
            return Ok(false);
        }
        Ok(self.sides.target.worktree_folder(repository, at)?.is_none())
    }

    /// The files of a further working tree's metadata, and what becomes of it in the target.
    pub(super) fn worktree(&mut self, repository: &VaultPath, at: &VaultPath) -> Result<Linked> {
        let sides = self.sides;
        let was = sides.base.tree.get(at)?;
        let (here, there) = (sides.target.tree.get(at)?, sides.other.tree.get(at)?);
        match (here, there) {
            (None, Some(there)) => {
                // One that the target took away stays away.
                if was.is_none() {
                    self.edit.put(at, there, &[sides.other.tree])?;
                }
                Ok(Linked::Other)
            }
            (Some(_), None) => {
                let checkout = self.checkout_of(at)?;
                let (base, target) = (&checkout.base, &checkout.target);
                let refs = |state: &State<'_>| state.own_refs(repository, at);
                let same_refs = refs(&sides.base)? == refs(&sides.target)?;
                if was.is_some() && target.is_same(base) && !target.busy && same_refs {
                    self.edit.remove(at)?;
                    return Ok(Linked::Gone);
                }
                Ok(Linked::Stays)
            }
            (Some(_), Some(_)) => {
                let depth = at.names().len();
                let own = self.theirs.iter().filter(|change| {
                    change.path.names().len() > depth && change.path.is_within(at)
                });
                let own: Vec<_> = own.cloned().collect();
                for change in &own {
                    let inside = &change.path.names()[depth..];
                    let is_ref = role(inside) == Role::Ref && !is_own_ref(inside);
                    if role(inside) == Role::Plain || is_ref {
                        self.file(at, change)?;
                    }
                }
                Ok(Linked::Both)
            }
            (None, None) => Ok(Linked::Other),
        }
    }

    /// Names what goes with a further working tree: its HEAD, its own refs, and the commits that only their logs lead to.
    pub(super) fn tell_gone(
        &mut self,
        repository: &VaultPath,
        at: &VaultPath,
        after: &Refs,
    ) -> Result<()> {
        let target = self.sides.target;
        let mut gone = target.own_refs(repository, at)?;
        if let Some(commit) = resolve(&target.refs(at)?, b"HEAD") {
            gone.insert(self.name_of_head(repository, at).into_bytes(), commit);
        }
        for (name, was) in gone {
            self.note(repository, GitEvent::Deleted, text(&name), Some(&was), None);
            self.tell_log(repository, &name, &was, after)?;
        }
        Ok(())
    }
}

/// What becomes of a further working tree in the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Linked {
    /// Both sides have it.
    Both,
    /// Only the target has it, and keeps it.
    Stays,
    /// It goes.
    Gone,
    /// The target had none.
    Other,
}

/// The refs of a repository, with those that these further working trees have for themselves.
pub(super) fn refs_with_own(
    state: &State<'_>,
    repository: &VaultPath,
    linked: &[VaultPath],
) -> Result<Refs> {
    let mut refs = state.refs(repository)?;
    for at in linked {
        refs.extend(state.own_refs(repository, at)?);
    }
    Ok(refs)
}
