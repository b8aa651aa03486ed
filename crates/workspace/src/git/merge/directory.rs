//! A git directory, part by part.

mod checkouts;
mod format;
pub(super) mod ref_files;
mod stash;
mod taken_back;
mod way_on;
mod worktree;

pub(super) use checkouts::Checkouts;
use format::Formats;

use std::collections::BTreeSet;

use offshoot_tree::diff::{Change, ChangeKind};
use offshoot_tree::{EntryKind, VaultPath};

use super::report::{BROKEN, CHANGED_SINCE, DELETED, GitEvent};
use super::role::{Role, role};
use super::taking::{Sides, Taking, UnclearRefs};
use super::whole::{beside, same};
use crate::error::Result;
use crate::git::error::GitError;
use crate::git::names::within_repository;
use crate::git::repository::{is_repository, path_of};
use crate::side_label::HEAD_LABEL;

/// Files that git writes by itself. All others people change by hand, so they are told where the target's stays.
const BY_GIT: [&[u8]; 10] = [
    b"COMMIT_EDITMSG",
    b"FETCH_HEAD",
    b"ORIG_HEAD",
    b"SQUASH_MSG",
    b"TAG_EDITMSG",
    b"gc.log",
    b"gitk.cache",
    b"lfs",
    b"objects",
    b"rr-cache",
];

impl Taking<'_, '_> {
    /// What a git directory of the target takes from the other side.
    pub(super) fn git_directory(&mut self, path: &VaultPath) -> Result<()> {
        let sides = self.sides;
        let was = sides.base.tree.get(path)?;
        let (here, there) = (sides.target.tree.get(path)?, sides.other.tree.get(path)?);
        match (here, there) {
            (Some(here), None) if self.unclear == UnclearRefs::Stay => {
                // All of it came with what is taken back, and nobody used it since.
                if same(Some(&here), was.as_ref()) {
                    self.edit.remove(path)?;
                    return self.remove_emptied(path);
                }
                self.directory_kept(path, CHANGED_SINCE);
                Ok(())
            }
            // What one side deleted with all its commits stays for who has it.
            (Some(_), None) => {
                self.directory_kept(path, DELETED);
                Ok(())
            }
            (None, Some(there)) => {
                let changed = !same(was.as_ref(), Some(&there));
                if was.is_none() || (changed && self.unclear != UnclearRefs::Stay) {
                    self.edit.put(path, there, &[sides.other.tree])?;
                }
                Ok(())
            }
            (Some(_), Some(_)) if self.is_broken(path)? => {
                self.directory_kept(path, BROKEN);
                Ok(())
            }
            (Some(_), Some(_)) => self.repository(path),
            (None, None) => Ok(()),
        }
    }

    /// Takes away the directories that were made to hold a repository of a submodule that is gone.
    fn remove_emptied(&mut self, path: &VaultPath) -> Result<()> {
        let mut above = path.parent();
        while let Some(directory) = above.filter(|above| within_repository(above).is_some()) {
            if self.sides.other.tree.get(&directory)?.is_some()
                || !self.edit.is_empty(&directory)?
            {
                break;
            }
            self.edit.remove(&directory)?;
            above = directory.parent();
        }
        Ok(())
    }

    /// Whether the other side has only remains of the target's repository. What would make git run or obey something stays there, also where
    /// the workspace deleted all of it.
    fn is_broken(&self, path: &VaultPath) -> Result<bool> {
        let Sides { target, other, .. } = self.sides;
        Ok(self.unclear != UnclearRefs::Stay
            && is_repository(target.tree, path)?
            && !is_repository(other.tree, path)?)
    }

    /// What a repository takes that both have, with those of its modules.
    fn repository(&mut self, path: &VaultPath) -> Result<()> {
        let modules = self.modules(path)?;
        let depth = path.names().len();
        let is_own = |change: &&Change| {
            change.path.is_within(path)
                && change.path.names().len() > depth
                && !modules.iter().any(|module| change.path.is_within(module))
        };
        let theirs: Vec<&Change> = self.theirs.iter().filter(is_own).collect();
        if !theirs.is_empty() {
            self.parts(path, &theirs)?;
        }
        for module in modules {
            self.git_directory(&module)?;
        }
        Ok(())
    }

    /// What a repository takes of these changes.
    fn parts(&mut self, path: &VaultPath, theirs: &[&Change]) -> Result<()> {
        let formats = self.formats(path)?;
        if formats == Formats::Apart {
            return self.another_format(path);
        }
        self.objects(path)?;
        self.shallow(path)?;
        for change in theirs {
            match role(&change.path.names()[path.names().len()..]) {
                Role::Plain | Role::Module => self.file(path, change)?,
                _ => {}
            }
        }
        match formats {
            Formats::Other => self.take_refs(path),
            _ if self.sides.target.format(path)?.has_reftable() => self.reftable(path),
            _ => self.refs_and_checkouts(path),
        }
    }

    /// The repositories of submodules in which something is different.
    fn modules(&self, repository: &VaultPath) -> Result<BTreeSet<VaultPath>> {
        let sides = self.sides;
        let depth = repository.names().len();
        let mut found: BTreeSet<VaultPath> = BTreeSet::new();
        for change in self.theirs.iter().filter(|change| change.path.is_within(repository)) {
            let names = change.path.names();
            // A further working tree has modules of its own.
            let depth = match (role(&names[depth..]), names.get(depth + 2)) {
                (Role::Module, _) => depth,
                (Role::Worktree, Some(name)) if name == b"modules" => depth + 2,
                _ => continue,
            };
            // The name of a module may have slashes, and it may have modules itself: the outermost one is decided first.
            for end in depth + 2..=names.len() {
                let path = path_of(&names[..end]);
                if found.contains(&path) {
                    break;
                }
                let trees = [sides.base.tree, sides.target.tree, sides.other.tree];
                let mut is_one = false;
                for tree in trees {
                    is_one |= is_repository(tree, &path)?;
                }
                if is_one {
                    found.insert(path);
                    break;
                }
            }
        }
        Ok(found)
    }

    /// A file that is taken whole: the other side's where only that changed it since both had the same.
    pub(super) fn file(&mut self, repository: &VaultPath, change: &Change) -> Result<()> {
        if change.kind() == ChangeKind::Metadata {
            return Ok(());
        }
        // Only a fetch on the host says what was fetched there.
        if change.path.name() == Some(b"FETCH_HEAD") && self.target_label == HEAD_LABEL {
            return Ok(());
        }
        let here = self.sides.target.tree.get(&change.path)?;
        let (was, there) = (change.before.as_deref(), change.after.as_deref());
        if let Some(there) = there.filter(|entry| entry.kind() == EntryKind::Directory) {
            // Directories come with what is in them.
            if here.is_none() && there.directory().is_some_and(|dir| dir.entries == 0) {
                self.edit.put(&change.path, there.clone(), &[self.sides.other.tree])?;
            }
            return Ok(());
        }
        let is_directory = |entry: Option<&offshoot_tree::Entry>| {
            entry.is_some_and(|entry| entry.kind() == EntryKind::Directory)
        };
        if is_directory(was) && there.is_none() || same(here.as_ref(), there) {
            return Ok(());
        }
        if self.has_seen(&change.path, here.as_ref(), was)? {
            return match there {
                Some(there) => {
                    self.edit.put(&change.path, there.clone(), &[self.sides.other.tree]).map(drop)
                }
                None => self.edit.remove(&change.path),
            };
        }
        let inside = &change.path.names()[repository.names().len()..];
        let name = String::from_utf8_lossy(&inside.join(&b'/')).into_owned();
        if !BY_GIT.contains(&inside[0].as_slice()) {
            self.note(repository, GitEvent::FileStayed, name, None, None);
        }
        Ok(())
    }

    /// Refs in a format that is not read here: all of them with the checkout, or none.
    fn reftable(&mut self, repository: &VaultPath) -> Result<()> {
        let sides = self.sides;
        let path = repository.join(b"reftable");
        let was = sides.base.tree.get(&path)?;
        let (here, there) = (sides.target.tree.get(&path)?, sides.other.tree.get(&path)?);
        let checkouts = self.checkout_of(repository)?;
        let moved = !same(there.as_ref(), was.as_ref());
        let staged = !checkouts.other.has_same_index(&checkouts.base);
        if !moved && !staged {
            return Ok(());
        }
        let at_rest = !checkouts.target.busy && !checkouts.other.busy;
        let free = self.has_seen(&path, here.as_ref(), was.as_ref())?
            && !(self.unclear == UnclearRefs::Apart && self.is_kept_there(&path)?)
            && checkouts.target.has_same_index(&checkouts.base)
            && at_rest;
        if free {
            return self.take_refs(repository);
        }
        if !moved {
            let why = "they were changed there as well, or something is in progress";
            let event = GitEvent::CheckoutStayed(why.to_owned());
            self.note(repository, event, "HEAD".to_owned(), None, None);
            return Ok(());
        }
        match self.unclear {
            UnclearRefs::Stay => {
                self.directory_kept(repository, CHANGED_SINCE);
                Ok(())
            }
            UnclearRefs::Follow => {
                let Some(there) = there else { return Ok(()) };
                let kept = beside(&path, self.label, 1);
                self.edit.put(&kept, there, &[sides.other.tree]).map(drop)
            }
            UnclearRefs::Apart => {
                let why = "its refs are in the reftable format and cannot be moved one by one";
                let (repository, why) = (repository.clone(), why.to_owned());
                Err(GitError::BothChanged { repository, why }.into())
            }
        }
    }

    /// Makes a path what it is on the other side.
    pub(super) fn take_as_it_is(&mut self, path: &VaultPath) -> Result<()> {
        match self.sides.other.tree.get(path)? {
            Some(entry) => self.edit.put(path, entry, &[self.sides.other.tree]).map(drop),
            None => self.edit.remove(path),
        }
    }
}
