//! Writing refs, their logs, and those of the other side that are kept apart.

use std::collections::BTreeSet;

use offshoot_tree::{Meta, VaultPath};

use super::super::ancestry::includes;
use super::super::logs;
use super::super::own_name::own_name;
use super::super::refs::{RefPlan, STASH, Stays, without_packed};
use super::super::report::GitEvent;
use super::super::store::Store;
use super::super::taking::{Taking, UnclearRefs};
use crate::error::Result;
use crate::git::repository::{Refs, path_of};

/// Why a ref was moved, in its log.
const WHY: &str = "offshoot: moved with the workspace's files";

impl Taking<'_, '_> {
    /// Carries a plan out. Gives the target's refs as they are then.
    pub(super) fn ref_files(
        &mut self,
        repository: &VaultPath,
        plan: &RefPlan,
        (base, target): (&Refs, &Refs),
        stash_gone: bool,
    ) -> Result<Refs> {
        self.delete_refs(repository, plan, stash_gone)?;
        for (name, value) in &plan.set {
            let was = target.get(name).map(Vec::as_slice);
            self.set_ref(repository, name, value, was)?;
            if self.unclear == UnclearRefs::Stay {
                self.note(repository, GitEvent::Moved, text(name), was, Some(value));
            }
        }
        let mut after = plan.after.clone();
        self.tell_moves(repository, plan, (base, target), &mut after)?;
        for (name, stays) in &plan.stays {
            let here = target.get(name).map(Vec::as_slice);
            let value = match stays {
                Stays::Both(value) | Stays::InUse(value, _) => value.as_deref(),
                Stays::NoRoom(_, value) => Some(value.as_slice()),
            };
            match (self.unclear, value) {
                (UnclearRefs::Apart | UnclearRefs::Follow, Some(value)) => {
                    let was = base.get(name).map(Vec::as_slice);
                    let own = self.free_name(repository, &after, name, value, was)?;
                    self.write_apart(repository, name, &own, value)?;
                    after.insert(own.clone(), value.to_vec());
                    let event = match stays {
                        Stays::Both(_) => GitEvent::KeptApart(text(&own)),
                        Stays::InUse(_, why) => GitEvent::CheckedOut(text(&own), *why),
                        Stays::NoRoom(beside, _) => GitEvent::NoRoom(text(beside), text(&own)),
                    };
                    self.note(repository, event, text(name), here, Some(value));
                }
                (UnclearRefs::Apart | UnclearRefs::Follow, None) => {
                    let why = "it was deleted there, and is checked out here".to_owned();
                    self.note(repository, GitEvent::NotBrought(why), text(name), here, None);
                }
                (UnclearRefs::Stay, _) => {
                    self.note(repository, GitEvent::Stayed, text(name), here, value);
                }
            }
        }
        Ok(after)
    }

    /// Keeps a commit of the other side that has no ref in the target.
    pub(super) fn keep_apart(
        &mut self,
        repository: &VaultPath,
        name: &[u8],
        value: &[u8],
        refs: &Refs,
        here: Option<&[u8]>,
    ) -> Result<()> {
        let own = self.free_name(repository, refs, name, value, None)?;
        self.write_apart(repository, name, &own, value)?;
        self.note(repository, GitEvent::KeptApart(text(&own)), text(name), here, Some(value));
        Ok(())
    }

    /// A name for a ref of the other side. One that has what this ref was before, or came from, is its own already, unless a checkout uses it.
    fn free_name(
        &self,
        repository: &VaultPath,
        taken: &Refs,
        name: &[u8],
        value: &[u8],
        was: Option<&[u8]>,
    ) -> Result<Vec<u8>> {
        let store = Store::new(self.sides.other, repository);
        let came_from = |there: &[u8]| includes(&store, value, there).unwrap_or(false);
        let in_use = self.in_use(repository)?;
        Ok(own_name(taken, self.label, name, value, &|own, there| {
            !in_use.contains(own) && (Some(there) == was || came_from(there))
        }))
    }

    /// The refs that checkouts of the target need where they are.
    fn in_use(&self, repository: &VaultPath) -> Result<BTreeSet<Vec<u8>>> {
        let mut found = BTreeSet::new();
        for at in [vec![repository.clone()], self.worktrees(repository)?].concat() {
            found.extend(self.sides.target.in_use(&at)?.into_keys());
        }
        Ok(found)
    }

    /// Writes a ref of the other side under a name of its own, with what its log says since the base.
    pub(super) fn write_apart(
        &mut self,
        repository: &VaultPath,
        name: &[u8],
        own: &[u8],
        value: &[u8],
    ) -> Result<()> {
        self.write_ref(repository, own, value)?;
        let sides = self.sides;
        let (from, to) = (log_path(repository, name), log_path(repository, own));
        let was = sides.base.file(&from)?.unwrap_or_default();
        let there = sides.other.file(&from)?.unwrap_or_default();
        let new = self.sound_lines(repository, &was, &there)?;
        let here = sides.target.file(&to)?.unwrap_or_default();
        let mut all = logs::joined(&[], &here, &new);
        if !all.is_empty() && logs::last_value(&all) != Some(value) {
            let last = logs::last_value(&all).map(<[u8]>::to_vec);
            all.extend(logs::line(last.as_deref(), value, WHY));
        }
        if all.is_empty() { Ok(()) } else { self.write_log(&to, &all) }
    }

    fn delete_refs(
        &mut self,
        repository: &VaultPath,
        plan: &RefPlan,
        stash_gone: bool,
    ) -> Result<()> {
        let mut gone = plan.deleted.clone();
        if stash_gone {
            gone.insert(STASH.to_vec(), Vec::new());
        }
        gone.extend(plan.merged.clone());
        for name in plan.deleted.keys().chain(plan.merged.keys()) {
            self.edit.remove(&ref_path(repository, name))?;
            self.edit.remove(&log_path(repository, name))?;
        }
        let path = repository.join(b"packed-refs");
        let (packed, entry) = (self.sides.target.file(&path)?, self.sides.target.tree.get(&path)?);
        if let (Some(packed), Some(entry)) = (packed, entry) {
            let kept = without_packed(&packed, &gone);
            if kept != packed {
                self.edit.write(&path, &kept, &entry.meta, &[self.sides.target.tree])?;
            }
        }
        Ok(())
    }

    fn set_ref(
        &mut self,
        repository: &VaultPath,
        name: &[u8],
        value: &[u8],
        was: Option<&[u8]>,
    ) -> Result<()> {
        let path = ref_path(repository, name);
        let loose = self.sides.other.tree.get(&path)?.filter(|entry| entry.directory().is_none());
        match loose {
            Some(entry) => {
                self.make_room(&path)?;
                self.edit.put(&path, entry, &[self.sides.other.tree])?;
            }
            None => self.write_ref(repository, name, value)?,
        }
        self.log(&log_path(repository, name), was, Some(value))
    }

    pub(in super::super) fn write_ref(
        &mut self,
        repository: &VaultPath,
        name: &[u8],
        value: &[u8],
    ) -> Result<()> {
        let path = ref_path(repository, name);
        self.make_room(&path)?;
        let meta = self.meta(repository)?;
        let bytes = [value, b"\n"].concat();
        self.edit.write(&path, &bytes, &meta, &[self.sides.other.tree]).map(drop)
    }

    /// Takes away what is left of directories that no ref is in any more.
    fn make_room(&mut self, path: &VaultPath) -> Result<()> {
        if self.edit.is_directory(path)? { self.edit.remove(path) } else { Ok(()) }
    }

    /// The rights and the owner of the repository's files.
    fn meta(&self, repository: &VaultPath) -> Result<Meta> {
        let head = repository.join(b"HEAD");
        let entry = match self.sides.target.tree.get(&head)? {
            Some(entry) => Some(entry),
            None => self.sides.other.tree.get(&head)?,
        };
        Ok(entry.map(|entry| entry.meta).unwrap_or_default())
    }

    /// Adds to a log what the other side did, and that the ref is where it is.
    pub(super) fn log(
        &mut self,
        path: &VaultPath,
        was: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<()> {
        let sides = self.sides;
        let read = |state: &crate::git::repository::State<'_>| state.file(path);
        let (base, target) = (read(&sides.base)?, read(&sides.target)?);
        let other = read(&sides.other)?;
        if target.is_none() && other.is_none() {
            return Ok(());
        }
        let here = target.clone().unwrap_or_default();
        let repository = path.names().iter().position(|name| name == b"logs");
        let repository = repository.map(|at| path_of(&path.names()[..at])).unwrap_or_default();
        let other = self.sound_lines(&repository, &here, &other.unwrap_or_default())?;
        let mut all = logs::joined(&base.unwrap_or_default(), &here, &other);
        if let Some(value) = value.filter(|value| logs::last_value(&all) != Some(*value)) {
            let from = logs::last_value(&all).map(<[u8]>::to_vec).or(was.map(<[u8]>::to_vec));
            all.extend(logs::line(from.as_deref(), value, WHY));
        }
        if Some(&all) == target.as_ref() { Ok(()) } else { self.write_log(path, &all) }
    }

    /// Writes a log. Where the name is another log's directory, or the other way round, there is none.
    pub(super) fn write_log(&mut self, path: &VaultPath, bytes: &[u8]) -> Result<()> {
        if self.edit.is_directory(path)? {
            return Ok(());
        }
        let sides = self.sides;
        // The very same log is taken as it is, with its time.
        if sides.other.file(path)?.as_deref() == Some(bytes) {
            return self.take_as_it_is(path);
        }
        let like = match sides.target.tree.get(path)? {
            Some(entry) => entry.meta,
            None => match path.names().iter().position(|name| name == b"logs") {
                Some(at) => self.meta(&path_of(&path.names()[..at]))?,
                None => Meta::default(),
            },
        };
        self.edit.write(path, bytes, &like, &[sides.target.tree, sides.other.tree]).map(drop)
    }
}

pub(in super::super) fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

pub(in super::super) fn ref_path(repository: &VaultPath, name: &[u8]) -> VaultPath {
    name.split(|byte| *byte == b'/').fold(repository.clone(), |path, name| path.join(name))
}

/// Where the log of a ref is. That of a further working tree's own ref, `worktrees/NAME/...`, lies in that one's directory.
pub(in super::super) fn log_path(repository: &VaultPath, name: &[u8]) -> VaultPath {
    let names: Vec<&[u8]> = name.splitn(3, |byte| *byte == b'/').collect();
    match names[..] {
        [kind @ b"worktrees", linked, name] => {
            ref_path(&repository.join(kind).join(linked).join(b"logs"), name)
        }
        _ => ref_path(&repository.join(b"logs"), name),
    }
}
