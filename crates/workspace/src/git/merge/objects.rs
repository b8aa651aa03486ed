//! What git stores by its hash, and what it needs to find it: only ever added.

use std::collections::BTreeSet;

use offshoot_tree::{EntryKind, VaultPath};

use super::report::GitEvent;
use super::role::{Role, role};
use super::store::is_id;
use super::taking::Taking;
use crate::error::Result;
use crate::git::repository::State;

/// Why a list of commits without parents is not brought.
const HIDES: &str = "it would hide commits that the folder has";

impl Taking<'_, '_> {
    /// Adds what the other side has and the target has not. What is damaged there is not brought, and what is damaged in the target is mended.
    pub(super) fn objects(&mut self, repository: &VaultPath) -> Result<()> {
        let depth = repository.names().len();
        let both = self.both(repository)?;
        for change in self.toward {
            let Some(after) = change.after.as_deref() else { continue };
            let is_object = change.path.is_within(repository)
                && role(&change.path.names()[depth..]) == Role::Object;
            if !is_object || after.kind() != EntryKind::File {
                continue;
            }
            let id = both.other.id_at(&change.path);
            let is_taken = match (&change.before, &id) {
                (None, Some(id)) => !both.damaged.contains(id),
                (None, None) => true,
                (Some(before), Some(id)) => {
                    !before.same_content(after)
                        && both.target.is_damaged(id)?
                        && !both.other.is_damaged(id)?
                }
                (Some(_), None) => false,
            };
            if is_taken {
                self.edit.put(&change.path, after.clone(), &[self.sides.other.tree])?;
            }
        }
        if !both.damaged.is_empty() {
            let event = GitEvent::DamagedObjects(both.damaged.len() as u64);
            self.note(repository, event, "objects".to_owned(), None, None);
        }
        for name in [b"alternates".as_slice(), b"http-alternates"] {
            let path = repository.join(b"objects").join(b"info").join(name);
            self.lines(&path)?;
        }
        Ok(())
    }

    /// Commits whose parents are left out: the other side's list where only that changed it, without those that would hide what the folder
    /// has, and with those that the target cannot be without.
    pub(super) fn shallow(&mut self, repository: &VaultPath) -> Result<()> {
        let path = repository.join(b"shallow");
        let sides = self.sides;
        let text = |state: State<'_>| state.file(&path);
        let (was, here, there) = (text(sides.base)?, text(sides.target)?, text(sides.other)?);
        if there == was || there == here {
            return Ok(());
        }
        if !listed(&there.clone().unwrap_or_default()).iter().all(|line| is_id(line)) {
            let event = GitEvent::NotBrought("it is damaged".to_owned());
            self.note(repository, event, "shallow".to_owned(), None, None);
            return Ok(());
        }
        let keeps = here != was || self.is_commit();
        let [was, here, there] = [was, here, there].map(|text| listed(&text.unwrap_or_default()));
        let mut list = here.clone();
        let mut whys = Vec::new();
        let both = self.both(repository)?;
        for commit in there.difference(&here) {
            if keeps && both.has_parents(commit)? {
                whys.extend((!was.contains(commit)).then_some(HIDES.to_owned()));
            } else {
                list.insert(commit.clone());
            }
        }
        for commit in here.difference(&there).filter(|commit| was.contains(*commit)) {
            match both.lacks_parent(commit)? {
                Some(why) => whys.push(why),
                None => drop(list.remove(commit)),
            }
        }
        if let Some(why) = whys.into_iter().next() {
            self.note(repository, GitEvent::NotBrought(why), "shallow".to_owned(), None, None);
        }
        if list == here {
            return Ok(());
        }
        let (own, other) = (sides.target.tree.get(&path)?, sides.other.tree.get(&path)?);
        match other.or(own) {
            Some(entry) if list == there && !there.is_empty() => {
                self.edit.put(&path, entry, &[sides.other.tree]).map(drop)
            }
            Some(entry) if !list.is_empty() => {
                let text: Vec<u8> =
                    list.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect();
                self.edit.write(&path, &text, &entry.meta, &[sides.other.tree]).map(drop)
            }
            _ => self.edit.remove(&path),
        }
    }

    /// Adds the other side's lines to those of the target, where it changed them.
    fn lines(&mut self, path: &VaultPath) -> Result<()> {
        let sides = self.sides;
        let (here, there) = (sides.target.file(path)?, sides.other.file(path)?);
        let (Some(there), true) = (&there, there != sides.base.file(path)?) else { return Ok(()) };
        let here = here.unwrap_or_default();
        let known: BTreeSet<&[u8]> = here.split(|byte| *byte == b'\n').collect();
        let new = there.split(|byte| *byte == b'\n').filter(|line| !known.contains(line));
        let new: Vec<u8> = new.flat_map(|line| [line, b"\n"].concat()).collect();
        let Some(entry) = sides.other.tree.get(path)?.filter(|_| !new.is_empty()) else {
            return Ok(());
        };
        let mut all = here;
        if !all.is_empty() && !all.ends_with(b"\n") {
            all.push(b'\n');
        }
        all.extend(new);
        self.edit.write(path, &all, &entry.meta, &[sides.other.tree]).map(drop)
    }
}

/// The lines of a list.
fn listed(text: &[u8]) -> BTreeSet<Vec<u8>> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(<[u8]>::to_vec).collect()
}
