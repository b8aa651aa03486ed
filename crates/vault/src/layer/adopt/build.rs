//! Laying what was written over the tree below.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::Read;

use offshoot_host::disk::join;
use offshoot_host::{Mtime, Xattr};
use offshoot_tree::conflicts::still_open;
use offshoot_tree::links::Links;
use offshoot_tree::{Batch, Body, ContentId, DirRef, Entry, Meta, Objects, RootId};
use rustix::fs::{OFlags, Stat};

use super::content::Hashed;
use super::groups::Groups;
use super::lower::Lower;
use crate::error::{Result, io_error};
use crate::layer::access::Reach;
use crate::layer::written::{Kind, Owner, UpperDir, UpperEntry, inode};

/// The tree that results, and what of the writing it did not take.
pub(super) struct Built {
    pub(super) root: RootId,
    pub(super) content: ContentId,
    pub(super) batch: Batch,
    /// What became of each name of each directory, in the order of the lists.
    pub(super) fates: Vec<Vec<Fate>>,
    /// The paths that carry a link group.
    pub(super) links: Links,
    /// Files whose bytes are not what is recorded and were not written: what lies below is damaged. The record stays.
    pub(super) damaged: Vec<Vec<u8>>,
}

/// What became of a name that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is part of the difference.
    Kept,
    /// It makes no difference: without it the same would be seen.
    Same,
    /// It is not kept and nothing is below it.
    Gone,
    /// It is not kept and hides something below it.
    Hides,
}

/// Builds the tree of `base` with what was written.
pub(super) struct Builder<'a> {
    pub(super) objects: &'a Objects,
    /// Where it was written.
    pub(super) reach: &'a Reach<'a>,
    pub(super) dirs: &'a [UpperDir],
    pub(super) files: &'a HashMap<Vec<u8>, Hashed>,
    /// Who owns the vault on disk.
    pub(super) own: Owner,
    /// Names that were there before anybody wrote.
    pub(super) placed: HashSet<&'a [u8]>,
    /// What lies below on disk.
    pub(super) lower: &'a Lower,
}

/// What is being built.
struct Work {
    /// The directory that each lies over.
    below: Vec<Option<DirRef>>,
    /// Those that are built, from the end of the list.
    built: Vec<Option<DirRef>>,
    groups: Groups,
    links: Links,
    damaged: Vec<Vec<u8>>,
}

impl Builder<'_> {
    /// `links` are the paths of the base that carry a link group.
    pub(super) fn build(&self, base: &RootId, links: &Links) -> Result<Built> {
        let top = &self.objects.root(base)?;
        let below = self.directories_below(top)?;
        let links = self.remaining_links(links, &below);
        let groups = Groups::find(self.objects, base, self.dirs, &links, &self.placed)?;
        let built = vec![None; self.dirs.len()];
        let mut work = Work { below, built, groups, links, damaged: Vec::new() };
        let mut batch = Batch::default();
        let mut fates: Vec<Vec<Fate>> = vec![Vec::new(); self.dirs.len()];
        // Every directory comes after its parent, so from the end all that one needs is there.
        for at in (0..self.dirs.len()).rev() {
            let (entries, found) = self.directory(at, &mut work)?;
            fates[at] = found;
            work.built[at] = Some(batch.directory(&entries));
        }
        self.keep_whole_groups(&mut fates);
        self.keep_filled_directories(&mut fates);
        let dir = work.built[0].unwrap_or_else(|| batch.directory(&[]));
        let meta = self.meta(&self.dirs[0].stat, self.dirs[0].xattrs.clone(), Some(top));
        // Who looks after the top directory cannot take another one in its place.
        let top = Entry {
            conflict: top.conflict.clone(),
            ..Entry::new(meta, Body::Directory(dir.into()))
        };
        let (root, content) = (batch.root(&top), dir.content);
        let Work { links, damaged, .. } = work;
        Ok(Built { root, content, batch, fates, links, damaged })
    }

    /// For each directory that was written, the one it lies over.
    fn directories_below(&self, top: &Entry) -> Result<Vec<Option<DirRef>>> {
        let mut below: Vec<Option<DirRef>> = vec![None; self.dirs.len()];
        below[0] = top.directory().copied().filter(|_| !self.dirs[0].opaque);
        for (at, dir) in self.dirs.iter().enumerate() {
            for entry in &dir.entries {
                let (Kind::Directory(child), Some(parent)) = (&entry.kind, &below[at]) else {
                    continue;
                };
                if !self.dirs[*child].opaque {
                    let found = self.objects.entry(parent, &entry.name)?;
                    below[*child] = found.as_ref().and_then(Entry::directory).copied();
                }
            }
        }
        Ok(below)
    }

    /// The paths of the base that carry a link group and that nothing was written over.
    fn remaining_links(&self, links: &Links, below: &[Option<DirRef>]) -> Links {
        let mut links = links.clone();
        if links == Links::default() {
            return links;
        }
        for dir in self.dirs {
            for entry in dir.entries.iter().filter(|entry| !matches!(entry.kind, Kind::Untouched)) {
                let path = join(&dir.path, &entry.name);
                let merged = matches!(entry.kind, Kind::Directory(child) if below[child].is_some());
                if !merged {
                    links.clear_below(&path);
                }
                links.set(path, false);
            }
        }
        links
    }

    fn directory(&self, at: usize, work: &mut Work) -> Result<(Vec<Entry>, Vec<Fate>)> {
        let dir = &self.dirs[at];
        let old = match &work.below[at] {
            Some(below) => self.objects.entries(below)?,
            None => Vec::new(),
        };
        let mut entries: BTreeMap<Vec<u8>, Entry> =
            old.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        let mut fates = Vec::with_capacity(dir.entries.len());
        for written in &dir.entries {
            let old = entries.remove(&written.name);
            let new = self.entry(dir, written, old.as_ref(), work)?;
            if new.as_ref().is_some_and(|entry| entry.group.is_some()) {
                work.links.set(join(&dir.path, &written.name), true);
            }
            fates.push(match written.kind {
                Kind::Refused if old.is_some() => Fate::Hides,
                Kind::Refused => Fate::Gone,
                // One that hides what is below is part of the difference, even if it holds the same.
                Kind::Directory(child) if work.below[child].is_none() => Fate::Kept,
                _ if old == new => Fate::Same,
                _ => Fate::Kept,
            });
            entries.extend(new.map(|entry| (written.name.clone(), entry)));
        }
        Ok((entries.into_values().collect(), fates))
    }

    /// What a written name makes of the one below it; nothing where it is a deletion.
    fn entry(
        &self,
        dir: &UpperDir,
        written: &UpperEntry,
        old: Option<&Entry>,
        work: &mut Work,
    ) -> Result<Option<Entry>> {
        let path = join(&dir.path, &written.name);
        let (stat, xattrs, body) = match &written.kind {
            Kind::Whiteout | Kind::Refused => return Ok(None),
            Kind::Untouched => return Ok(old.cloned()),
            Kind::Directory(child) => {
                let child_dir = &self.dirs[*child];
                let Some(built) = work.built[*child] else { return Ok(None) };
                let body = Body::Directory(built.into());
                (&child_dir.stat, child_dir.xattrs.clone(), body)
            }
            Kind::File(stat) => {
                let Some(file) = self.files.get(&path) else { return Ok(None) };
                let body = Body::File { size: file.size, blob: file.blob };
                let body = match self.damaged(&path, file, old) {
                    Some(recorded) => {
                        work.damaged.push(path.clone());
                        recorded
                    }
                    None => body,
                };
                (stat, written.xattrs.clone(), body)
            }
            Kind::Symlink(stat, target) => {
                (stat, Vec::new(), Body::Symlink { target: target.clone() })
            }
            Kind::Fifo(stat) => (stat, Vec::new(), Body::Fifo),
        };
        let group = written.stat().and_then(|stat| work.groups.of(stat));
        let meta = self.meta(stat, xattrs, old);
        let conflict = match old {
            Some(old) => still_open(old, &body, |_| self.read(&path))?,
            None => None,
        };
        let entry = Entry { name: written.name.clone(), meta, group, body, conflict };
        Ok(match old {
            Some(old) if same_but_for_group(old, &entry) => {
                // Copied up and left as it was: still the same file, links and all. A name that was there with its links
                // and has none now is on its own; its file in the layers below still counts them.
                let split = self.placed.contains(path.as_slice());
                let group = old.group.filter(|_| !split);
                Some(Entry { group, ..entry })
            }
            _ => Some(entry),
        })
    }

    /// What is recorded of a file that has other bytes which nobody wrote: those that lie below it.
    fn damaged(&self, path: &[u8], file: &Hashed, old: Option<&Entry>) -> Option<Body> {
        let recorded = &old?.body;
        if !matches!(recorded, Body::File { blob, .. } if *blob != file.blob) {
            return None;
        }
        let written = File::from(self.reach.open(path, OFlags::RDONLY).ok()?.fd);
        self.lower.has_same(path, &written, file.size).then(|| recorded.clone())
    }

    /// The bytes of a file that was written.
    fn read(&self, path: &[u8]) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let opened = self.reach.open(path, OFlags::RDONLY);
        let read = opened.and_then(|opened| File::from(opened.fd).read_to_end(&mut bytes));
        read.map_err(io_error("read", &self.reach.host(path)))?;
        Ok(bytes)
    }

    /// Layers belong to the vault's user on disk, so an owner is news only where it is another.
    fn meta(&self, stat: &Stat, xattrs: Vec<Xattr>, old: Option<&Entry>) -> Meta {
        let written = Owner::of(stat);
        let recorded = old.map(|old| Owner { uid: old.meta.uid, gid: old.meta.gid });
        let owner = recorded.filter(|_| written == self.own).unwrap_or(written);
        Meta {
            mode: (stat.st_mode & 0o7777) as u16,
            uid: owner.uid,
            gid: owner.gid,
            mtime: Mtime::of(stat),
            xattrs,
        }
    }

    /// A name that makes no difference is still needed where another name of its inode does make one.
    fn keep_whole_groups(&self, fates: &mut [Vec<Fate>]) {
        let mut needed: HashMap<(u64, u64), bool> = HashMap::new();
        let linked = |dir: &UpperDir, at: usize| dir.entries[at].linked().map(inode);
        for (dir, fates) in self.dirs.iter().zip(&*fates) {
            for (at, fate) in fates.iter().enumerate() {
                if let Some(inode) = linked(dir, at) {
                    *needed.entry(inode).or_default() |= *fate != Fate::Same;
                }
            }
        }
        for (dir, fates) in self.dirs.iter().zip(fates) {
            for (at, fate) in fates.iter_mut().enumerate() {
                let inode = linked(dir, at);
                if inode.and_then(|inode| needed.get(&inode)).is_some_and(|needed| *needed) {
                    *fate = Fate::Kept;
                }
            }
        }
    }

    /// A directory can only go with everything in it.
    fn keep_filled_directories(&self, fates: &mut [Vec<Fate>]) {
        for at in (0..self.dirs.len()).rev() {
            for (place, entry) in self.dirs[at].entries.iter().enumerate() {
                if let Kind::Directory(child) = entry.kind
                    && fates[child].iter().any(|fate| !matches!(fate, Fate::Same | Fate::Gone))
                {
                    fates[at][place] = Fate::Kept;
                }
            }
        }
    }
}

fn same_but_for_group(old: &Entry, new: &Entry) -> bool {
    new.group.is_none() && old.meta == new.meta && old.body == new.body
}
