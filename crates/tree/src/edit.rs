//! Changing a tree without a mount: load what is touched, share the rest.

use std::collections::BTreeMap;

use offshoot_host::Mtime;

use crate::entry::{Body, DirRef, Entry, Meta};
use crate::error::{Result, TreeError};
use crate::hash::RootId;
use crate::node::edit::Changes;
use crate::objects::kept::KeptNodes;
use crate::objects::nodes::Nodes;
use crate::objects::{Batch, Objects};
use crate::path::VaultPath;

/// A tree being changed. Of the directories on the way to a change only what is asked for is read.
#[derive(Debug)]
pub struct TreeEditor<'a> {
    objects: &'a Objects,
    top: Entry,
    /// The top directory.
    loaded: Loaded,
    /// The time given to directories whose names change.
    now: Mtime,
    /// The same nodes are looked at for every name.
    _kept: KeptNodes<'a>,
}

/// A directory that something was asked about.
#[derive(Debug, Default)]
struct Loaded {
    /// What it was; nothing where it was empty.
    base: Option<DirRef>,
    /// What is different in it.
    changes: Changes,
    /// Those of its directories that are loaded themselves; their entries here are out of date.
    directories: BTreeMap<Vec<u8>, Loaded>,
}

impl<'a> TreeEditor<'a> {
    /// Starts from a root; directories that gain or lose names get the time `now`.
    pub fn open(objects: &'a Objects, root: &RootId, now: Mtime) -> Result<Self> {
        let top = objects.root(root)?;
        let loaded = Loaded::of(top.directory());
        Ok(Self { objects, top, loaded, now, _kept: objects.keep_nodes() })
    }

    /// The entry at a path as it stands now. Of a directory that was changed the metadata are; [`Self::is_empty`] says
    /// whether anything is in it, and its hashes and sums come with [`Self::finish`].
    pub fn get(&mut self, path: &VaultPath) -> Result<Option<Entry>> {
        let Some((name, parents)) = path.names().split_last() else {
            return Ok(Some(self.top.clone()));
        };
        let objects = self.objects;
        match self.loaded.descend(objects, parents)? {
            Some(directory) => directory.get(objects, name),
            None => Ok(None),
        }
    }

    /// Whether there is a directory at the path with nothing in it, as it stands now.
    pub fn is_empty(&mut self, path: &VaultPath) -> Result<bool> {
        let objects = self.objects;
        match self.loaded.descend(objects, path.names())? {
            Some(directory) => directory.is_empty(objects),
            None => Ok(false),
        }
    }

    /// Puts an entry at a path, in place of what is there; the parent must be a directory. At the top only a directory
    /// can be put, and everything is replaced.
    pub fn put(&mut self, path: &VaultPath, entry: Entry) -> Result<()> {
        self.insert(path, entry, Some(self.now))
    }

    /// Puts an entry where it has been all the time: its directory keeps its own time.
    pub fn put_back(&mut self, path: &VaultPath, entry: Entry) -> Result<()> {
        self.insert(path, entry, None)
    }

    fn insert(&mut self, path: &VaultPath, mut entry: Entry, now: Option<Mtime>) -> Result<()> {
        if let (true, Some(dir)) = (path.is_top(), entry.directory()) {
            self.loaded = Loaded::of(Some(dir));
            self.top = Entry { name: Vec::new(), group: None, ..entry };
            return Ok(());
        }
        let (name, objects) = (last_name(path)?, self.objects);
        entry.name = name.to_vec();
        let (directory, meta) = self.parent(path)?;
        if let (Some(now), None) = (now, directory.get(objects, name)?) {
            meta.mtime = now;
        }
        directory.directories.remove(name);
        directory.changes.insert(name.to_vec(), Some(entry));
        Ok(())
    }

    /// Takes the entry at a path out of the tree.
    pub fn remove(&mut self, path: &VaultPath) -> Result<Entry> {
        let (name, now) = (path.name().ok_or(TreeError::TopDirectory)?, self.now);
        let objects = self.objects;
        let (directory, meta) = self.parent(path)?;
        let Some(mut entry) = directory.get(objects, name)? else {
            return Err(TreeError::NoEntry { path: path.to_string() });
        };
        meta.mtime = now;
        directory.changes.insert(name.to_vec(), None);
        if let Some(loaded) = directory.directories.remove(name) {
            // What moves on elsewhere must be what was edited, so it is built now.
            let mut batch = Batch::default();
            entry.body = Body::Directory(loaded.build(objects, &mut batch)?.into());
            objects.store(&batch)?;
        }
        Ok(entry)
    }

    /// The entry at a path with all that was changed beneath it, to be put again here or elsewhere.
    pub fn current(&mut self, path: &VaultPath) -> Result<Option<Entry>> {
        let objects = self.objects;
        let Some((name, parents)) = path.names().split_last() else { return self.get(path) };
        let Some(directory) = self.loaded.descend(objects, parents)? else { return Ok(None) };
        let Some(mut entry) = directory.get(objects, name)? else { return Ok(None) };
        if let Some(loaded) = directory.directories.remove(name) {
            let mut batch = Batch::default();
            entry.body = Body::Directory(loaded.build(objects, &mut batch)?.into());
            objects.store(&batch)?;
            directory.changes.insert(name.clone(), Some(entry.clone()));
        }
        Ok(Some(entry))
    }

    /// Makes a directory, and its parents where they are missing; an existing directory is left as it is.
    pub fn make_directories(&mut self, path: &VaultPath, meta: &Meta) -> Result<()> {
        for depth in 1..=path.names().len() {
            let part = VaultPath::parse(&path.names()[..depth].join(&b'/'))?;
            match self.get(&part)? {
                Some(entry) if entry.directory().is_some() => {}
                Some(_) => return Err(TreeError::NotADirectory { path: part.to_string() }),
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
        Ok(Entry::new(meta, Body::Directory(dir.into())))
    }

    /// Builds the changed nodes into `batch` and gives the new root with its top entry.
    pub fn finish(mut self, batch: &mut Batch) -> Result<(RootId, Entry)> {
        self.top.body = Body::Directory(self.loaded.build(self.objects, batch)?.into());
        Ok((batch.root(&self.top), self.top))
    }

    fn parent(&mut self, path: &VaultPath) -> Result<(&mut Loaded, &mut Meta)> {
        let parents = path.names().split_last().map_or(&[][..], |(_, parents)| parents);
        let objects = self.objects;
        let Some((last, before)) = parents.split_last() else {
            return Ok((&mut self.loaded, &mut self.top.meta));
        };
        let text = || parent_text(path, parents.len());
        let missing = || TreeError::NoEntry { path: text() };
        let not_a_directory = || TreeError::NotADirectory { path: text() };
        let holder = self.loaded.descend(objects, before)?.ok_or_else(missing)?;
        if !holder.load(objects, last)? {
            let is_there = holder.get(objects, last)?.is_some();
            return Err(if is_there { not_a_directory() } else { missing() });
        }
        if !holder.changes.contains_key(last) {
            let entry = holder.get(objects, last)?;
            holder.changes.insert(last.clone(), entry);
        }
        let Loaded { changes, directories, .. } = holder;
        match (directories.get_mut(last), changes.get_mut(last)) {
            (Some(loaded), Some(Some(entry))) => Ok((loaded, &mut entry.meta)),
            _ => Err(not_a_directory()),
        }
    }
}

impl Loaded {
    fn of(dir: Option<&DirRef>) -> Self {
        Self { base: dir.copied(), ..Self::default() }
    }

    /// An entry as it stands; of a directory that is loaded its hashes are those from before.
    fn get(&self, objects: &Objects, name: &[u8]) -> Result<Option<Entry>> {
        match (self.changes.get(name), &self.base) {
            (Some(entry), _) => Ok(entry.clone()),
            (None, Some(dir)) => Nodes::of(objects).entry(dir, name),
            (None, None) => Ok(None),
        }
    }

    fn is_empty(&self, objects: &Objects) -> Result<bool> {
        if self.changes.values().any(Option::is_some) {
            return Ok(false);
        }
        let before = match self.base.filter(|dir| dir.entries > 0) {
            Some(dir) => objects.entries(&dir)?,
            None => Vec::new(),
        };
        Ok(before.iter().all(|entry| self.changes.contains_key(&entry.name)))
    }

    /// Loads a directory in this one; `false` where the name is not a directory.
    fn load(&mut self, objects: &Objects, name: &[u8]) -> Result<bool> {
        if self.directories.contains_key(name) {
            return Ok(true);
        }
        let entry = self.get(objects, name)?;
        let Some(dir) = entry.as_ref().and_then(Entry::directory) else {
            return Ok(false);
        };
        self.directories.insert(name.to_vec(), Self::of(Some(dir)));
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

    fn build(mut self, objects: &Objects, batch: &mut Batch) -> Result<DirRef> {
        for (name, directory) in std::mem::take(&mut self.directories) {
            let before = directory.base;
            let dir = directory.build(objects, batch)?;
            if before == Some(dir) {
                continue;
            }
            if let Some(mut entry) = self.get(objects, &name)? {
                entry.body = Body::Directory(dir.into());
                self.changes.insert(name, Some(entry));
            }
        }
        match self.base {
            Some(dir) if self.changes.is_empty() => Ok(dir),
            base => batch.edited_directory(&Nodes::of(objects), base.as_ref(), &self.changes),
        }
    }
}

fn last_name(path: &VaultPath) -> Result<&[u8]> {
    path.name().ok_or_else(|| TreeError::EntryExists { path: path.to_string() })
}

fn parent_text(path: &VaultPath, depth: usize) -> String {
    let names = &path.names()[..depth];
    VaultPath::parse(&names.join(&b'/')).map_or_else(|_| String::new(), |path| path.to_string())
}
