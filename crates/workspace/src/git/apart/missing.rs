//! What a repository lacks: a ref that leads nowhere would break the repository that it is brought to.

use std::collections::BTreeSet;
use std::rc::Rc;

use offshoot_tree::VaultPath;

use super::Taking;
use super::ancestry::headers;
use super::directory::Checkouts;
use super::logs::new_lines;
use super::lost::DELETED;
use super::report::GitEvent;
use super::store::{Kind, Store, hex, is_id};
use crate::error::Result;
use crate::git::repository::{Refs, common, resolve};

/// More objects are not looked at.
const MOST: usize = 100_000;
/// How git writes the kind of a directory and that of a submodule.
const TREE: &[u8] = b"40000";
const SUBMODULE: &[u8] = b"160000";

/// The objects of both sides: all that the target will have.
pub(super) struct Both<'a> {
    pub(super) target: Store<'a>,
    pub(super) other: Store<'a>,
    /// Files of the other side that the target has none for, and that are not the objects which their names say.
    pub(super) damaged: BTreeSet<Vec<u8>>,
    /// What the target's refs are.
    known: BTreeSet<Vec<u8>>,
    /// The other side's refs.
    refs_there: Refs,
    /// Commits of the other side whose parents it does not have, and knows that.
    shallow: BTreeSet<Vec<u8>>,
}

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
            known: sides.target.refs(repository)?.into_values().collect(),
            refs_there: sides.other.refs(repository)?,
            shallow: lines.collect(),
        });
        self.stores.insert(repository.clone(), both.clone());
        Ok(both)
    }

    /// What the other side added as objects and are none.
    fn damaged(&self, other: &Store<'_>) -> Result<BTreeSet<Vec<u8>>> {
        let mut damaged = BTreeSet::new();
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

impl Both<'_> {
    /// Whether either side has an object; nothing at all is always there.
    fn have(&self, id: &[u8]) -> Result<bool> {
        let nothing = id.iter().all(|byte| *byte == b'0');
        Ok(nothing || self.known.contains(id) || self.target.has(id)? || self.other_has(id)?)
    }

    /// Whether the other side has an object that can be read.
    fn other_has(&self, id: &[u8]) -> Result<bool> {
        match self.damaged.contains(id) {
            true => self.other.is_packed(id),
            false => self.other.has(id),
        }
    }

    /// An object that is missing from what a ref leads to. What the target has it has with all that belongs to it, and so do packs: only
    /// what the other side has in files of its own is followed.
    pub(super) fn missing(&self, id: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut pending = vec![(id.to_vec(), true)];
        let mut seen = BTreeSet::new();
        while let Some((id, followed)) = pending.pop() {
            if seen.len() >= MOST || !seen.insert(id.clone()) {
                continue;
            }
            if self.known.contains(&id) || self.target.has(&id)? {
                continue;
            }
            if !self.other_has(&id)? {
                return Ok(Some(id));
            }
            let read = if followed { self.other.read_file(&id)? } else { None };
            if let Some((kind, bytes)) = read {
                pending.extend(self.leads_to(&id, kind, &bytes));
            }
        }
        Ok(None)
    }

    /// Whether the target has all parents of a commit, as far as that is known.
    pub(super) fn has_parents(&self, commit: &[u8]) -> Result<bool> {
        let Some(bytes) = self.read(commit)? else { return self.target.has(commit) };
        for parent in headers(&bytes, b"parent ") {
            if !self.target.has(&parent)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What a commit says, on whichever side it is.
    fn read(&self, commit: &[u8]) -> Result<Option<Vec<u8>>> {
        let read = match self.target.read(commit)? {
            Some(read) => Some(read),
            None => self.other.read(commit)?,
        };
        Ok(read.map(|(_, bytes)| bytes))
    }

    /// Why a commit may have a parent that neither side has; nothing where all of them are there, or it is not there itself.
    pub(super) fn lacks_parent(&self, commit: &[u8]) -> Result<Option<String>> {
        let Some(bytes) = self.read(commit)? else {
            let unread = self.have(commit)?;
            return Ok(unread.then(|| format!("the parents of {} are not known", short(commit))));
        };
        for parent in headers(&bytes, b"parent ") {
            if !self.have(&parent)? {
                let (parent, commit) = (short(&parent), short(commit));
                return Ok(Some(format!("{parent}, a parent of {commit}, is missing")));
            }
        }
        Ok(None)
    }

    /// The objects that one names, and whether those name others.
    fn leads_to(&self, id: &[u8], kind: Kind, bytes: &[u8]) -> Vec<(Vec<u8>, bool)> {
        let followed = |ids: Vec<Vec<u8>>| ids.into_iter().map(|id| (id, true));
        match kind {
            Kind::Commit => {
                let parents = match self.shallow.contains(id) {
                    true => Vec::new(),
                    false => headers(bytes, b"parent "),
                };
                followed(headers(bytes, b"tree ")).chain(followed(parents)).collect()
            }
            Kind::Tag => followed(headers(bytes, b"object ")).collect(),
            Kind::Tree => entries(bytes, id.len() / 2),
            Kind::Blob => Vec::new(),
        }
    }
}

/// The entries of a directory; files are named without being followed, and submodules are no part of the repository.
fn entries(mut bytes: &[u8], width: usize) -> Vec<(Vec<u8>, bool)> {
    let mut found = Vec::new();
    while let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        let mode = bytes[..end].split(|byte| *byte == b' ').next().unwrap_or_default();
        let Some(id) = bytes.get(end + 1..end + 1 + width) else { break };
        if mode != SUBMODULE {
            found.push((hex(id), mode == TREE));
        }
        bytes = &bytes[end + 1 + width..];
    }
    found
}

/// Why what the other side has checked out cannot be brought; nothing where it can.
pub(super) fn checkout_flaw(both: &Both<'_>, checkout: &Checkouts) -> Result<Option<String>> {
    let Some(head) = &checkout.other.head else { return Ok(None) };
    if let Some(flaw) = flaw(both, b"HEAD", head)? {
        return Ok(Some(flaw));
    }
    if let Some(flaw) = checkout.other.index_flaw(&checkout.base) {
        return Ok(Some(flaw));
    }
    for id in checkout.other.staged_since(&checkout.target) {
        if !both.have(&id)? {
            return Ok(Some(format!("object {} of its index is missing", short(&id))));
        }
    }
    Ok(None)
}

/// Why a ref of the other side cannot be brought; nothing where it can.
pub(super) fn flaw(both: &Both<'_>, name: &[u8], value: &[u8]) -> Result<Option<String>> {
    if !is_ref_name(name) {
        return Ok(Some("its name is not valid".to_owned()));
    }
    let Some(next) = value.strip_prefix(b"ref:").map(<[u8]>::trim_ascii) else {
        return id_flaw(both, value);
    };
    if !next.starts_with(b"refs/") {
        return Ok(Some("it is damaged".to_owned()));
    }
    let is_head = name == b"HEAD";
    match resolve(&both.refs_there, next) {
        // What a branch is that is checked out is decided with it.
        Some(_) if is_head => Ok(None),
        Some(value) => id_flaw(both, &value),
        // No commit was made yet.
        None if is_head && !both.refs_there.contains_key(next) => Ok(None),
        None => Ok(Some("it leads nowhere".to_owned())),
    }
}

fn id_flaw(both: &Both<'_>, value: &[u8]) -> Result<Option<String>> {
    if !is_id(value) {
        return Ok(Some("it is damaged".to_owned()));
    }
    Ok(both.missing(value)?.map(|id| format!("object {} is missing", short(&id))))
}

fn short(id: &[u8]) -> String {
    String::from_utf8_lossy(&id[..id.len().min(12)]).into_owned()
}

/// Whether git takes a name for one of a ref.
fn is_ref_name(name: &[u8]) -> bool {
    let parts: Vec<&[u8]> = name.split(|byte| *byte == b'/').collect();
    let part = |part: &&[u8]| {
        !part.is_empty()
            && !part.starts_with(b".")
            && !part.ends_with(b".lock")
            && !part.ends_with(b".")
    };
    let has = |text: &[u8]| name.windows(text.len()).any(|window| window == text);
    let is_bad = |byte: &u8| *byte < b' ' || *byte == 0x7f || b" ~^:?*[\\".contains(byte);
    // No git makes such a branch, since every command would take it for something else.
    let branch = name.strip_prefix(b"refs/heads/");
    let is_hidden = branch.is_some_and(|branch| branch == b"HEAD" || branch.starts_with(b"-"));
    let is_well_made = !has(b"..") && !has(b"@{") && !name.iter().any(is_bad);
    parts.iter().all(part) && is_well_made && !is_hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_git_takes() {
        for good in
            ["refs/heads/a", "refs/heads/a-b/c.d", "HEAD", "refs/stash", "refs/heads/\u{e4}"]
        {
            assert!(is_ref_name(good.as_bytes()), "{good}");
        }
        for bad in [
            "refs/heads/HEAD",
            "refs/heads/-a",
            "refs/heads/a.lock",
            "refs//a",
            "refs/.a",
            "refs/a..b",
            "refs/a b",
            "refs/a@{1}",
            "refs/a.",
        ] {
            assert!(!is_ref_name(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn directories_are_followed_and_submodules_are_not() {
        let id = |byte: u8| vec![byte; 20];
        let bytes = [b"100644 a\0".as_slice(), &id(1), b"160000 m\0", &id(2), b"40000 t\0", &id(3)]
            .concat();
        assert_eq!(entries(&bytes, 20), [(hex(&id(1)), false), (hex(&id(3)), true)]);
        assert!(entries(b"100644 a\0short", 20).is_empty());
    }
}
