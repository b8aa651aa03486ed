//! What git stores by its hash, and what it needs to find it: only ever added.

use std::collections::BTreeSet;

use offshoot_vault::{EntryKind, VaultPath};

use super::Taking;
use super::role::{Role, role};
use crate::error::Result;

impl Taking<'_, '_> {
    /// Adds what the other side has and the target has not.
    pub(super) fn objects(&mut self, repository: &VaultPath) -> Result<()> {
        let depth = repository.names().len();
        for change in self.toward {
            let Some(after) = change.after.as_deref().filter(|_| change.before.is_none()) else {
                continue;
            };
            let is_object = change.path.is_within(repository)
                && role(&change.path.names()[depth..]) == Role::Object;
            if is_object && after.kind() == EntryKind::File {
                self.edit.put(&change.path, after.clone(), &[self.sides.other.tree])?;
            }
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
        if here != was {
            return self.lines(&path);
        }
        match sides.other.tree.get(&path)? {
            Some(entry) => self.edit.put(&path, entry, &[sides.other.tree]).map(drop),
            None => self.edit.remove(&path),
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
