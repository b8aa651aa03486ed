//! Commits whose files were taken back in the target, and so in the workspace that follows it: their branch stays back with them.

use std::collections::BTreeSet;

use offshoot_tree::{Body, Entry, VaultPath};
use offshoot_vault::bound_path;

use super::super::ancestry::includes;
use super::super::own_name::own_branches;
use super::super::refs::{Name, kept_from};
use super::super::store::{Kind, Store};
use super::super::taking::{Taking, UnclearRefs};
use super::Checkouts;
use crate::error::Result;
use crate::git::repository::{Refs, State};

impl Taking<'_, '_> {
    /// The branch that is checked out in the target, where it keeps commits of the other side apart that came from it, and a file of them
    /// is as the branch has it on both sides: moving the branch would make that look like a change that somebody made.
    pub(super) fn taken_back(
        &self,
        repository: &VaultPath,
        checkout: &Checkouts,
        refs: &Refs,
    ) -> Result<BTreeSet<Name>> {
        let none = BTreeSet::new();
        let Checkouts { target, other, .. } = checkout;
        let (Some(branch), Some(here), Some(there)) =
            (target.branch(), &target.commit, &other.commit)
        else {
            return Ok(none);
        };
        if self.unclear != UnclearRefs::Apart || other.branch().as_ref() != Some(&branch) {
            return Ok(none);
        }
        let own = own_branches(self.label);
        let is_apart = |name: &[u8]| {
            name.starts_with(&own) && kept_from(refs, name).is_some_and(|(from, _)| *from == branch)
        };
        let store = Store::new(self.sides.other, repository);
        let mut apart = false;
        for (_, kept) in refs.iter().filter(|(name, kept)| is_apart(name) && *kept != here) {
            apart |= includes(&store, kept, here)? && includes(&store, there, kept)?;
        }
        if !apart {
            return Ok(none);
        }
        let top = match repository.parent() {
            Some(parent) if parent != bound_path() => parent,
            _ => VaultPath::top(),
        };
        let store = Store::new(self.sides.target, repository);
        for (path, object) in target.other_files(other) {
            let Ok(path) = VaultPath::parse(&path) else { continue };
            let path = top.concat(&path);
            let own = self.sides.target.tree.get(&path)?;
            let theirs = self.sides.other.tree.get(&path)?;
            let is_same = match (&own, &theirs) {
                (Some(own), Some(theirs)) => own.body == theirs.body,
                (own, theirs) => own.is_none() && theirs.is_none(),
            };
            if is_same && is_object(self.sides.target, &store, own.as_ref(), object.as_deref())? {
                return Ok([branch].into());
            }
        }
        Ok(none)
    }
}

/// Whether a file is what an object of git says, or there is neither.
fn is_object(
    state: State<'_>,
    store: &Store<'_>,
    file: Option<&Entry>,
    object: Option<&[u8]>,
) -> Result<bool> {
    let (Some(file), Some(object)) = (file, object) else {
        return Ok(file.is_none() && object.is_none());
    };
    let content = match &file.body {
        Body::File { blob, .. } => state.objects.blob(blob)?,
        Body::Symlink { target } => target.clone(),
        _ => return Ok(false),
    };
    Ok(store.read(object)? == Some((Kind::Blob, content)))
}
