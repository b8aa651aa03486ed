//! What a repository lacks: a ref that leads nowhere would break the repository that it is brought to.

use std::collections::BTreeSet;
use std::rc::Rc;

use offshoot_tree::VaultPath;

use super::both::Both;
use super::flaw::flaw;
use super::logs::new_lines;
use super::lost::DELETED;
use super::report::GitEvent;
use super::store::Store;
use super::taking::Taking;
use crate::error::Result;
use crate::git::repository::{Refs, common};

impl<'a> Taking<'a, '_> {
    /// The objects of a repository on both sides.
    pub(super) fn both(&mut self, repository: &VaultPath) -> Result<Rc<Both<'a>>> {
        if let Some(both) = self.stores.get(repository) {
            return Ok(both.clone());
        }
        let sides = self.sides;
        let shallow = sides.other.file(&common(repository).join(b"shallow"))?.unwrap_or_default();
        let lines = shallow.split(|byte| *byte == b'\n').map(<[u8]>::to_vec);
        let other = Store::new(sides.other, repository);
        let both = Rc::new(Both {
            target: Store::new(sides.target, repository),
            damaged: self.damaged(&other)?,
            other,
            follows_packs: self.held.objects,
            known: sides.target.refs(repository)?.into_values().collect(),
            refs_there: sides.other.refs(repository)?,
            shallow: lines.collect(),
        });
        self.stores.insert(repository.clone(), both.clone());
        Ok(both)
    }

    /// What the other side added as objects and are none. What is committed has none of them: they were held back when it was selected.
    fn damaged(&self, other: &Store<'_>) -> Result<BTreeSet<Vec<u8>>> {
        let mut damaged = BTreeSet::new();
        if self.is_commit() {
            return Ok(damaged);
        }
        for change in self.toward.iter().filter(|change| change.before.is_none()) {
            if let Some(id) = other.id_at(&change.path)
                && other.is_damaged(&id)?
            {
                damaged.insert(id);
            }
        }
        Ok(damaged)
    }

    /// The other side's refs, without those that would break the target's repository: these count as not moved.
    pub(super) fn sound_refs(
        &mut self,
        repository: &VaultPath,
        (base, target): (&Refs, &Refs),
        other: Refs,
    ) -> Result<Refs> {
        let both = self.both(repository)?;
        let (mut sound, mut is_broken) = (Refs::new(), false);
        for (name, there) in other {
            let (was, here) = (base.get(&name), target.get(&name));
            // What is checked out is decided with its index.
            let is_new = Some(&there) != was && Some(&there) != here && name != b"HEAD";
            let fell_back = is_new && self.fell_back(repository, &name, &there)?;
            is_broken |= fell_back;
            let flaw = match is_new {
                true if fell_back => Some(DELETED.to_owned()),
                true => flaw(&both, &name, &there)?,
                false => None,
            };
            let Some(flaw) = flaw else {
                sound.insert(name, there);
                continue;
            };
            let text = String::from_utf8_lossy(&name).into_owned();
            let here = here.map(Vec::as_slice);
            self.note(repository, GitEvent::NotBrought(flaw), text, here, Some(&there));
            if let Some(was) = was {
                sound.insert(name, was.clone());
            }
        }
        self.restore_lost(repository, (base, target), &mut sound, is_broken)?;
        Ok(sound)
    }

    /// The lines of a log that name nothing which the target will not have, without those that it has.
    pub(super) fn sound_lines(
        &mut self,
        repository: &VaultPath,
        known: &[u8],
        log: &[u8],
    ) -> Result<Vec<u8>> {
        let both = self.both(repository)?;
        let new = new_lines(&[known], log);
        let mut sound = Vec::with_capacity(new.len());
        for line in new.split_inclusive(|byte| *byte == b'\n') {
            let mut words = line.split(|byte| *byte == b' ');
            let (from, to) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            if both.have(from)? && both.have(to)? {
                sound.extend_from_slice(line);
            }
        }
        Ok(sound)
    }
}
