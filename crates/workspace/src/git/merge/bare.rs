//! Bare repositories of which one has all commits of the other.

use offshoot_tree::{Entry, VaultPath};

use super::ancestry::includes;
use super::role::{Role, role};
use super::store::Store;
use super::taking::Taking;
use super::whole::same;
use crate::error::Result;
use crate::git::repository::is_repository;

impl Taking<'_, '_> {
    /// Whether the other side's bare repository has every commit that the target's has, and the target changed nothing in it but commits.
    pub(super) fn contains(&self, path: &VaultPath) -> Result<bool> {
        let sides = self.sides;
        if !is_repository(sides.target.tree, path)? || !is_repository(sides.other.tree, path)? {
            return Ok(false);
        }
        let depth = path.names().len();
        for change in self.toward.iter().filter(|change| change.path.names().len() > depth) {
            let is_history = match role(&change.path.names()[depth..]) {
                Role::Object | Role::Ref | Role::Log | Role::Cache | Role::Passing => true,
                _ => change.before.as_ref().is_some_and(|entry| entry.directory().is_some()),
            };
            let was = sides.base.tree.get(&change.path)?;
            if !is_history && !same(change.before.as_deref(), was.as_ref()) {
                return Ok(false);
            }
        }
        let (here, there) = (sides.target.refs(path)?, sides.other.refs(path)?);
        let store = Store::new(sides.other, path);
        let is_commit = |value: &&Vec<u8>| !value.starts_with(b"ref:");
        for value in here.values().filter(is_commit) {
            let mut found = false;
            for tip in there.values().filter(is_commit) {
                found = found || includes(&store, tip, value)?;
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes the other side's bare repository, with the objects that only the target's has.
    pub(super) fn take_containing(&mut self, path: &VaultPath, entry: Entry) -> Result<()> {
        let sides = self.sides;
        self.edit.put(path, entry, &[sides.other.tree])?;
        let depth = path.names().len();
        let inside = self.toward.iter().filter(|change| change.path.names().len() > depth);
        for change in inside.filter(|change| change.after.is_none()) {
            let is_object = role(&change.path.names()[depth..]) == Role::Object;
            let own =
                change.before.as_deref().filter(|entry| is_object && entry.directory().is_none());
            if let Some(own) = own {
                self.edit.put(&change.path, own.clone(), &[sides.target.tree])?;
            }
        }
        Ok(())
    }
}
