//! Which paths of a root are hard links: remembered by root, so that nobody has to walk a tree for them twice.

use std::collections::{BTreeSet, HashMap};

use crate::codec::{Input, put_bytes};
use crate::diff;
use crate::disk::{join, split_last};
use crate::entry::{DirRef, Entry};
use crate::error::{Result, VaultError};
use crate::hash::RootId;
use crate::objects::Objects;
use crate::vault::Vault;

/// A list that is no longer than this is written down again rather than referred to.
const REFERENCE: usize = 256;

/// The paths of a root that carry a link group, below its top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links(BTreeSet<Vec<u8>>);

impl Links {
    /// Says whether a path carries a group.
    pub(crate) fn set(&mut self, path: Vec<u8>, carries: bool) {
        if carries {
            self.0.insert(path);
        } else {
            self.0.remove(&path);
        }
    }

    /// Forgets everything below a directory.
    pub(crate) fn clear_below(&mut self, directory: &[u8]) {
        let first = join(directory, b"");
        let below = self.0.range(first.clone()..).take_while(|path| path.starts_with(&first));
        for path in below.cloned().collect::<Vec<_>>() {
            self.0.remove(&path);
        }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.0.iter()
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.0.iter().for_each(|path| put_bytes(&mut out, path));
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Input::new(bytes);
        let mut paths = BTreeSet::new();
        while input.end().is_err() {
            paths.insert(input.bytes().ok()?.to_vec());
        }
        Some(Self(paths))
    }
}

impl FromIterator<Vec<u8>> for Links {
    fn from_iter<T: IntoIterator<Item = Vec<u8>>>(paths: T) -> Self {
        Self(paths.into_iter().collect())
    }
}

impl Vault {
    /// The paths of a root, below its top, that carry a link group. Where they are not known yet they are found by the
    /// difference to the first of `near` whose are, or by a walk through the whole tree, and remembered.
    pub fn links(&self, root: &RootId, near: &[RootId]) -> Result<Vec<Vec<u8>>> {
        Ok(self.linked_paths(root, near)?.0.into_iter().collect())
    }

    pub(crate) fn linked_paths(&self, root: &RootId, near: &[RootId]) -> Result<Links> {
        if let Some(links) = self.recorded_links(root)? {
            return Ok(links);
        }
        let links = self.find_links(root, near)?;
        // What cannot be remembered is found again the next time.
        if !self.is_read_only() {
            self.enter()?;
            let encoded = links.encode();
            self.catalog()
                .write(|writer| Ok::<(), VaultError>(writer.set_links(&root.0, &encoded)?))?;
        }
        Ok(links)
    }

    /// Finds them without looking for the root itself in what is remembered.
    pub(crate) fn find_links(&self, root: &RootId, near: &[RootId]) -> Result<Links> {
        for near in near {
            // What is remembered may outlive the root, as a list that others refer to.
            if let Some(mut links) = self.recorded_links(near)?
                && self.objects()?.has_root(near)?
            {
                for change in diff::compare(self.objects()?, near, root)? {
                    let carries = change.after.is_some_and(|entry| entry.group.is_some());
                    links.set(change.path.names().join(&b'/'), carries);
                }
                return Ok(links);
            }
        }
        walk(self.objects()?, root)
    }

    /// What to remember of a root that came from `base`: where it has the same links, only that.
    pub(crate) fn links_record(
        &self,
        base: &RootId,
        before: &Links,
        now: &Links,
    ) -> Result<Vec<u8>> {
        let list = now.encode();
        if before != now || list.len() <= REFERENCE {
            return Ok(list);
        }
        let recorded = self.read(|reader| Ok(reader.links(&base.0)?))?;
        Ok(match recorded.as_deref().map(Record::decode) {
            Some(Some(Record::SameAs(other))) => Record::same_as(&other),
            Some(Some(Record::List(_))) => Record::same_as(base),
            _ => list,
        })
    }

    fn recorded_links(&self, root: &RootId) -> Result<Option<Links>> {
        let record = |root: &RootId| -> Result<Option<Record>> {
            let bytes = self.read(|reader| Ok(reader.links(&root.0)?))?;
            Ok(bytes.as_deref().and_then(Record::decode))
        };
        let found = match record(root)? {
            Some(Record::SameAs(other)) => record(&other)?,
            found => found,
        };
        Ok(match found {
            Some(Record::List(links)) => Some(links),
            _ => None,
        })
    }
}

/// What the catalog holds of one root.
pub(crate) enum Record {
    List(Links),
    /// The links of another root, which has a list.
    SameAs(RootId),
}

impl Record {
    /// No path is empty, so an empty one marks that a root follows.
    fn same_as(root: &RootId) -> Vec<u8> {
        [&[0], root.0.as_slice()].concat()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first() {
            Some((0, root)) => Some(Self::SameAs(RootId(root.try_into().ok()?))),
            _ => Links::decode(bytes).map(Self::List),
        }
    }
}

fn walk(objects: &Objects, root: &RootId) -> Result<Links> {
    let top = objects.root(root)?;
    let mut pending: Vec<(Vec<u8>, DirRef)> =
        top.directory().map(|dir| (Vec::new(), *dir)).into_iter().collect();
    let mut links = Links::default();
    while let Some((path, dir)) = pending.pop() {
        for entry in objects.entries(&dir)? {
            let path = join(&path, &entry.name);
            match entry.directory() {
                Some(dir) => pending.push((path, *dir)),
                None if entry.group.is_some() => links.set(path, true),
                None => {}
            }
        }
    }
    Ok(links)
}

/// Looks up many paths of one root, reading each directory once.
pub(crate) struct Lookup<'a> {
    objects: &'a Objects,
    top: Entry,
    /// The entries of the directories on the way so far; none where there is no directory.
    seen: HashMap<Vec<u8>, Vec<Entry>>,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(objects: &'a Objects, root: &RootId) -> Result<Self> {
        Ok(Self { objects, top: objects.root(root)?, seen: HashMap::new() })
    }

    /// The entry at a path, if there is one.
    pub(crate) fn get(&mut self, path: &[u8]) -> Result<Option<Entry>> {
        if path.is_empty() {
            return Ok(Some(self.top.clone()));
        }
        let (folder, name) = split_last(path);
        self.read_way(folder)?;
        Ok(self.find(folder, name).cloned())
    }

    /// Reads the directories on the way to one, and that one.
    fn read_way(&mut self, folder: &[u8]) -> Result<()> {
        if self.seen.contains_key(folder) {
            return Ok(());
        }
        let ends = folder.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in [0].into_iter().chain(ends).chain([folder.len()]) {
            let way = &folder[..end];
            if self.seen.contains_key(way) {
                continue;
            }
            let (parent, name) = split_last(way);
            let found = if way.is_empty() { Some(&self.top) } else { self.find(parent, name) };
            let entries = match found.and_then(Entry::directory) {
                Some(dir) => self.objects.entries(dir)?,
                None => Vec::new(),
            };
            self.seen.insert(way.to_vec(), entries);
        }
        Ok(())
    }

    fn find(&self, folder: &[u8], name: &[u8]) -> Option<&Entry> {
        let entries = self.seen.get(folder)?;
        let at = entries.binary_search_by(|entry| entry.name.as_slice().cmp(name)).ok()?;
        Some(&entries[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(paths: &[&str]) -> Links {
        paths.iter().map(|path| path.as_bytes().to_vec()).collect()
    }

    #[test]
    fn lists_round_trip_and_others_are_refused() {
        for paths in [&[][..], &["a"], &["a", "a/b", "\u{fc}"]] {
            let links = links(paths);
            assert_eq!(Links::decode(&links.encode()), Some(links));
        }
        assert_eq!(Links::decode(b"\x05ab"), None);
    }

    #[test]
    fn a_directory_is_cleared_and_its_neighbours_are_not() {
        let mut found = links(&["a", "a-b", "a/b", "a/b/c", "a0", "b/a"]);
        found.clear_below(b"a");
        assert_eq!(found, links(&["a", "a-b", "a0", "b/a"]));
        found.clear_below(b"");
        assert_eq!(found, links(&[]), "everything is below the top");
    }
}
