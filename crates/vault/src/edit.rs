//! Changing a tree without a mount: load what is touched, share the rest.

use std::collections::BTreeMap;

use crate::entry::{Body, DirRef, Entry, Meta, Mtime};
use crate::error::{Result, VaultError};
use crate::hash::RootId;
use crate::objects::{Batch, Objects};
use crate::path::VaultPath;

/// A tree being changed. Only directories on the way to a change are loaded.
#[derive(Debug)]
pub struct TreeEditor<'a> {
    objects: &'a Objects,
    top: Entry,
    /// The loaded part of the top directory.
    loaded: Loaded,
    /// The time given to directories whose names change.
    now: Mtime,
}

#[derive(Debug, Default)]
struct Loaded {
    /// Every entry of the directory.
    entries: BTreeMap<Vec<u8>, Entry>,
    /// Those of its directories that are loaded themselves; their entries here are out of date.
    directories: BTreeMap<Vec<u8>, Loaded>,
}

impl<'a> TreeEditor<'a> {
    /// Starts from a root; directories that gain or lose names get the time `now`.
    pub fn open(objects: &'a Objects, root: &RootId, now: Mtime) -> Result<Self> {
        let top = objects.root(root)?;
        let loaded = match top.directory() {
            Some(dir) => Loaded::of(objects, dir)?,
            None => Loaded::default(),
        };
        Ok(Self { objects, top, loaded, now })
    }

    /// The entry at a path as it stands now. Of a directory that was changed the metadata are; [`Self::is_empty`] says
    /// whether anything is in it, and its hashes and sums come with [`Self::finish`].
    pub fn get(&mut self, path: &VaultPath) -> Result<Option<Entry>> {
        let Some((name, parents)) = path.names().split_last() else {
            return Ok(Some(self.top.clone()));
        };
        let objects = self.objects;
        match self.loaded.descend(objects, parents)? {
            Some(directory) => Ok(directory.entries.get(name).cloned()),
            None => Ok(None),
        }
    }

    /// Whether there is a directory at the path with nothing in it, as it stands now.
    pub fn is_empty(&mut self, path: &VaultPath) -> Result<bool> {
        let objects = self.objects;
        let found = self.loaded.descend(objects, path.names())?;
        Ok(found.is_some_and(|directory| directory.entries.is_empty()))
    }

    /// Puts an entry at a path, in place of what is there; the parent must be a directory. At the top only a directory
    /// can be put, and everything is replaced.
    pub fn put(&mut self, path: &VaultPath, mut entry: Entry) -> Result<()> {
        if let (true, Some(dir)) = (path.is_top(), entry.directory()) {
            self.loaded = Loaded::of(self.objects, dir)?;
            self.top = Entry { name: Vec::new(), group: None, ..entry };
            return Ok(());
        }
        let (name, now) = (last_name(path)?, self.now);
        entry.name = name.to_vec();
        let (directory, meta) = self.parent(path)?;
        directory.directories.remove(name);
        if directory.entries.insert(name.to_vec(), entry).is_none() {
            meta.mtime = now;
        }
        Ok(())
    }

    /// Takes the entry at a path out of the tree.
    pub fn remove(&mut self, path: &VaultPath) -> Result<Entry> {
        let (name, now) = (path.name().ok_or(VaultError::TopDirectory)?, self.now);
        let objects = self.objects;
        let (directory, meta) = self.parent(path)?;
        let Some(mut entry) = directory.entries.remove(name) else {
            return Err(VaultError::NoEntry { path: path.to_string() });
        };
        meta.mtime = now;
        if let Some(loaded) = directory.directories.remove(name) {
            // What moves on elsewhere must be what was edited, so it is built now.
            let mut batch = Batch::default();
            entry.body = Body::Directory(loaded.build(&mut batch));
            objects.store(&batch)?;
        }
        Ok(entry)
    }

    /// Makes a directory, and its parents where they are missing; an existing directory is left as it is.
    pub fn make_directories(&mut self, path: &VaultPath, meta: &Meta) -> Result<()> {
        for depth in 1..=path.names().len() {
            let part = VaultPath::parse(&path.names()[..depth].join(&b'/'))?;
            match self.get(&part)? {
                Some(entry) if entry.directory().is_some() => {}
                Some(_) => return Err(VaultError::NotADirectory { path: part.to_string() }),
                None => self.put(&part, self.empty_directory(meta.clone())?)?,
            }
        }
        Ok(())
    }

    /// A directory with nothing in it.
    pub fn empty_directory(&self, meta: Meta) -> Result<Entry> {
        let mut batch = Batch::default();
        let dir = batch.directory(&[]);
        self.objects.store(&batch)?;
        Ok(Entry::new(meta, Body::Directory(dir)))
    }

    /// Builds the changed nodes into `batch` and gives the new root with its top entry.
    pub fn finish(mut self, batch: &mut Batch) -> (RootId, Entry) {
        self.top.body = Body::Directory(self.loaded.build(batch));
        (batch.root(&self.top), self.top)
    }

    fn parent(&mut self, path: &VaultPath) -> Result<(&mut Loaded, &mut Meta)> {
        let parents = path.names().split_last().map_or(&[][..], |(_, parents)| parents);
        let objects = self.objects;
        let Some((last, before)) = parents.split_last() else {
            return Ok((&mut self.loaded, &mut self.top.meta));
        };
        let text = || parent_text(path, parents.len());
        let missing = || VaultError::NoEntry { path: text() };
        let not_a_directory = || VaultError::NotADirectory { path: text() };
        let holder = self.loaded.descend(objects, before)?.ok_or_else(missing)?;
        if !holder.load(objects, last)? {
            let is_there = holder.entries.contains_key(last);
            return Err(if is_there { not_a_directory() } else { missing() });
        }
        let Loaded { entries, directories } = holder;
        match (directories.get_mut(last), entries.get_mut(last)) {
            (Some(loaded), Some(entry)) => Ok((loaded, &mut entry.meta)),
            _ => Err(not_a_directory()),
        }
    }
}

impl Loaded {
    fn of(objects: &Objects, dir: &DirRef) -> Result<Self> {
        let entries = objects.entries(dir)?;
        let entries = entries.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        Ok(Self { entries, directories: BTreeMap::new() })
    }

    /// Loads a directory in this one; `false` where the name is not a directory.
    fn load(&mut self, objects: &Objects, name: &[u8]) -> Result<bool> {
        if self.directories.contains_key(name) {
            return Ok(true);
        }
        let Some(dir) = self.entries.get(name).and_then(Entry::directory) else {
            return Ok(false);
        };
        self.directories.insert(name.to_vec(), Self::of(objects, dir)?);
        Ok(true)
    }

    fn descend(&mut self, objects: &Objects, names: &[Vec<u8>]) -> Result<Option<&mut Self>> {
        let mut at = self;
        for name in names {
            if !at.load(objects, name)? {
                return Ok(None);
            }
            match at.directories.get_mut(name) {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    fn build(mut self, batch: &mut Batch) -> DirRef {
        for (name, directory) in std::mem::take(&mut self.directories) {
            let dir = directory.build(batch);
            if let Some(entry) = self.entries.get_mut(&name) {
                entry.body = Body::Directory(dir);
            }
        }
        let entries: Vec<Entry> = self.entries.into_values().collect();
        batch.directory(&entries)
    }
}

fn last_name(path: &VaultPath) -> Result<&[u8]> {
    path.name().ok_or_else(|| VaultError::EntryExists { path: path.to_string() })
}

fn parent_text(path: &VaultPath, depth: usize) -> String {
    let names = &path.names()[..depth];
    VaultPath::parse(&names.join(&b'/')).map_or_else(|_| String::new(), |path| path.to_string())
}
