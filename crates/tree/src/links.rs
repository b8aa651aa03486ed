//! Which paths of a root are hard links: remembered by root, so that nobody has to walk a tree for them twice.

use std::collections::{BTreeSet, HashMap};

use offshoot_host::disk::{join, split_last};

use crate::codec::{Decoder, put_bytes};
use crate::entry::{DirRef, Entry};
use crate::error::Result;
use crate::hash::RootId;
use crate::objects::Objects;

/// The paths of a root that carry a link group, below its top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links(BTreeSet<Vec<u8>>);

impl Links {
    /// Says whether a path carries a group.
    pub fn set(&mut self, path: Vec<u8>, carries: bool) {
        if carries {
            self.0.insert(path);
        } else {
            self.0.remove(&path);
        }
    }

    /// Forgets everything below a directory.
    pub fn clear_below(&mut self, directory: &[u8]) {
        let first = join(directory, b"");
        let below = self.0.range(first.clone()..).take_while(|path| path.starts_with(&first));
        for path in below.cloned().collect::<Vec<_>>() {
            self.0.remove(&path);
        }
    }

    /// The paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.0.iter()
    }

    /// The same as a list.
    pub fn into_paths(self) -> Vec<Vec<u8>> {
        self.0.into_iter().collect()
    }

    /// As a record holds them.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.0.iter().for_each(|path| put_bytes(&mut out, path));
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Decoder::new(bytes);
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

/// What the catalog holds of one root.
#[derive(Debug)]
pub enum LinkRecord {
    /// Its links.
    List(Links),
    /// The links of another root, which has a list.
    SameAs(RootId),
}

impl LinkRecord {
    /// No path is empty, so an empty one marks that a root follows.
    pub fn same_as(root: &RootId) -> Vec<u8> {
        [&[0], root.0.as_slice()].concat()
    }

    /// Reads a record; nothing where it is none.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first() {
            Some((0, root)) => Some(Self::SameAs(RootId(root.try_into().ok()?))),
            _ => Links::decode(bytes).map(Self::List),
        }
    }
}

/// Finds the links of a root by a walk through its whole tree.
pub fn walk(objects: &Objects, root: &RootId) -> Result<Links> {
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
#[derive(Debug)]
pub struct Lookup<'a> {
    objects: &'a Objects,
    top: Entry,
    /// The entries of the directories on the way so far; none where there is no directory.
    seen: HashMap<Vec<u8>, Vec<Entry>>,
}

impl<'a> Lookup<'a> {
    /// Starts at the top of a root.
    pub fn new(objects: &'a Objects, root: &RootId) -> Result<Self> {
        Ok(Self { objects, top: objects.root(root)?, seen: HashMap::new() })
    }

    /// The entry at a path, if there is one.
    pub fn get(&mut self, path: &[u8]) -> Result<Option<Entry>> {
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
