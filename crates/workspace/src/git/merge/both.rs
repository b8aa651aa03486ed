//! The objects of a repository on both sides of a merge.

use std::collections::BTreeSet;

use super::ancestry::headers;
use super::store::{Kind, Store, hex};
use crate::error::Result;
use crate::git::repository::Refs;

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
    /// What the other side's packs lead to may be missing.
    pub(super) follows_packs: bool,
    /// What the target's refs are.
    pub(super) known: BTreeSet<Vec<u8>>,
    /// The other side's refs.
    pub(super) refs_there: Refs,
    /// Commits of the other side whose parents it does not have, and knows that.
    pub(super) shallow: BTreeSet<Vec<u8>>,
}

impl Both<'_> {
    /// Whether either side has an object; nothing at all is always there.
    pub(super) fn have(&self, id: &[u8]) -> Result<bool> {
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

    /// An object that is missing from what a ref leads to. What the target has it has with all that belongs to it, and so do packs unless objects
    /// were held back: otherwise only what the other side has in files of its own is followed.
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
            let read = match followed {
                true if self.follows_packs => self.other.read(&id)?,
                true => self.other.read_file(&id)?,
                false => None,
            };
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

/// The start of an id, for people.
pub(super) fn short(id: &[u8]) -> String {
    String::from_utf8_lossy(&id[..id.len().min(12)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_followed_and_submodules_are_not() {
        let id = |byte: u8| vec![byte; 20];
        let bytes = [b"100644 a\0".as_slice(), &id(1), b"160000 m\0", &id(2), b"40000 t\0", &id(3)]
            .concat();
        assert_eq!(entries(&bytes, 20), [(hex(&id(1)), false), (hex(&id(3)), true)]);
        assert!(entries(b"100644 a\0short", 20).is_empty());
    }
}
