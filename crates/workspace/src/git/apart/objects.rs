//! What git stores by its hash, and what it needs to find it: only ever added.

use std::collections::BTreeSet;

use offshoot_vault::{EntryKind, VaultPath};

use super::Taking;
use super::report::GitEvent;
use super::role::{Role, role};
use crate::error::Result;

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

    /// Commits whose parents are left out: the other side's list, or those of both.
    pub(super) fn shallow(&mut self, repository: &VaultPath) -> Result<()> {
        let path = repository.join(b"shallow");
        let sides = self.sides;
        let was = sides.base.file(&path)?;
        let (here, there) = (sides.target.file(&path)?, sides.other.file(&path)?);
        if there == was || there == here {
            return Ok(());
        }
        if here != was || self.cuts_off(repository, &here, &there)? {
            return self.lines(&path);
        }
        match sides.other.tree.get(&path)? {
            Some(entry) => self.edit.put(&path, entry, &[sides.other.tree]).map(drop),
            None => self.edit.remove(&path),
        }
    }

    /// Whether a commit that the other side no longer lists may lack a parent: git would take the history for damaged. That is told.
    fn cuts_off(
        &mut self,
        repository: &VaultPath,
        here: &Option<Vec<u8>>,
        there: &Option<Vec<u8>>,
    ) -> Result<bool> {
        let listed = |text: &Option<Vec<u8>>| -> BTreeSet<Vec<u8>> {
            let lines = text.iter().flat_map(|text| text.split(|byte| *byte == b'\n'));
            lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
        };
        let both = self.both(repository)?;
        for commit in listed(here).difference(&listed(there)) {
            let Some(why) = both.lacks_parent(commit)? else { continue };
            self.note(repository, GitEvent::NotBrought(why), "shallow".to_owned(), None, None);
            return Ok(true);
        }
        Ok(false)
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
