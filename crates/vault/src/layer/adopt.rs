//! Adopting what somebody else wrote: a directory in overlayfs format becomes a layer and a root.
//!
//! Content is adopted where it was written: files are hashed in place and no byte is copied. The walk sees what was
//! written and nothing else, so its cost does not depend on the size of the tree below.

mod scan;

use std::collections::{BTreeMap, HashMap};
use std::os::fd::AsFd;

use offshoot_store::StackRow;
use rayon::prelude::*;
use rustix::fs::{OFlags, Stat};

use self::scan::{Kind, Owner, UpperDir, UpperEntry, inode};
use super::upper::Upper;
use crate::disk::{self, join};
use crate::entry::{Body, DirRef, Entry, Meta};
use crate::error::{Result, io_error};
use crate::hash::{BlobId, ContentId, RootId};
use crate::import::{Skipped, group_of};
use crate::materialize::{hash_file, mtime_of};
use crate::objects::{Batch, Place};
use crate::transact::Transaction;
use crate::vault::Vault;

/// What was adopted: stored and durable, but not yet part of any history.
#[derive(Clone, Debug)]
pub struct Adopted {
    /// The state of files that the layer shows above its base.
    pub root: RootId,
    /// The content of that state.
    pub content: ContentId,
    /// Sockets, devices and attributes that were written and are not kept.
    pub skipped: Vec<Skipped>,
    stack: Option<StackRow>,
}

impl Adopted {
    /// Records how to show the root; belongs into the transaction that first mentions it.
    pub fn record(&self, tx: &mut Transaction<'_, '_>) -> Result<()> {
        match &self.stack {
            Some(stack) => tx.set_stack(stack),
            None => Ok(()),
        }
    }
}

impl Vault {
    /// Makes a layer of what was written, and the root that it shows above its base. Nobody may write any more.
    pub fn adopt(&self, upper: Upper) -> Result<Adopted> {
        let Upper { stage, base } = upper;
        let (objects, dir) = (self.objects()?, stage.fs_dir());
        let top = objects.root(&base)?;
        let (dirs, skipped) = scan::scan(&dir)?;
        let files = hash_files(&dir, &dirs)?;
        for file in files.values() {
            stage.count(file.size);
        }
        let mut builder =
            Builder { vault: self, dirs: &dirs, files: &files, batch: Batch::default() };
        let (root, content) = builder.build(&top)?;
        let mut batch = builder.batch;
        let layer = stage.seal(Some(root))?;
        self.record_layer(&layer)?;
        for (path, file) in files {
            batch.blob(file.blob, &Place::Layer { layer: layer.id, path });
        }
        objects.store(&batch)?;
        let mut stack = self.recorded_stack(&base)?;
        if let Some(layers) = &mut stack {
            layers.insert(0, layer.id);
        }
        let stack = stack.map(|layers| StackRow { root: root.0, layers });
        Ok(Adopted { root, content, skipped, stack })
    }
}

/// The bytes of one file.
struct Hashed {
    blob: BlobId,
    size: u64,
}

fn hash_files(dir: &std::path::Path, dirs: &[UpperDir]) -> Result<HashMap<Vec<u8>, Hashed>> {
    let top = disk::open_dir(dir).map_err(io_error("open", dir))?;
    let all = dirs.iter().flat_map(|dir| dir.entries.iter().map(move |entry| (dir, entry)));
    let files: Vec<(&UpperDir, &UpperEntry)> =
        all.filter(|(_, entry)| matches!(entry.kind, Kind::File(_))).collect();
    let hash = |(folder, entry): &(&UpperDir, &UpperEntry)| {
        let path = join(&folder.path, &entry.name);
        let opened = disk::open_below(top.as_fd(), &path, OFlags::RDONLY);
        let hashed = opened.map_err(std::io::Error::from).and_then(|fd| {
            let file = std::fs::File::from(fd);
            let blob = hash_file(&file)?;
            Ok(Hashed { blob, size: file.metadata()?.len() })
        });
        let hashed = hashed.map_err(io_error("read", &dir.join(disk::bytes_path(&path))))?;
        Ok((path, hashed))
    };
    files.par_iter().map(hash).collect()
}

/// Lays what was written over the tree below.
struct Builder<'a> {
    vault: &'a Vault,
    dirs: &'a [UpperDir],
    files: &'a HashMap<Vec<u8>, Hashed>,
    batch: Batch,
}

impl Builder<'_> {
    fn build(&mut self, top: &Entry) -> Result<(RootId, ContentId)> {
        let below = self.directories_below(top)?;
        let groups = self.groups();
        let mut built: Vec<Option<DirRef>> = vec![None; self.dirs.len()];
        // Every directory comes after its parent, so from the end all that one needs is there.
        for at in (0..self.dirs.len()).rev() {
            built[at] = Some(self.directory(at, below[at].as_ref(), &built, &groups)?);
        }
        let dir = built[0].unwrap_or_else(|| self.batch.directory(&[]));
        let meta = self.meta(&self.dirs[0].stat, self.dirs[0].xattrs.clone(), Some(top));
        let top = Entry { name: Vec::new(), meta, group: None, body: Body::Directory(dir) };
        Ok((self.batch.root(&top), dir.content))
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
                    let found = self.vault.objects()?.entry(parent, &entry.name)?;
                    below[*child] = found.as_ref().and_then(Entry::directory).copied();
                }
            }
        }
        Ok(below)
    }

    /// The group of each inode that was written under several names.
    fn groups(&self) -> HashMap<(u64, u64), u64> {
        let mut names: HashMap<(u64, u64), Vec<Vec<u8>>> = HashMap::new();
        for dir in self.dirs {
            for entry in &dir.entries {
                if let Kind::File(stat) | Kind::Symlink(stat, _) | Kind::Fifo(stat) = &entry.kind
                    && stat.st_nlink > 1
                {
                    names.entry(inode(stat)).or_default().push(join(&dir.path, &entry.name));
                }
            }
        }
        let several = names.into_iter().filter(|(_, paths)| paths.len() > 1);
        several.filter_map(|(inode, paths)| Some((inode, group_of(paths.iter().min()?)))).collect()
    }

    fn directory(
        &mut self,
        at: usize,
        below: Option<&DirRef>,
        built: &[Option<DirRef>],
        groups: &HashMap<(u64, u64), u64>,
    ) -> Result<DirRef> {
        let dir = &self.dirs[at];
        let old = match below {
            Some(below) => self.vault.objects()?.entries(below)?,
            None => Vec::new(),
        };
        let mut entries: BTreeMap<Vec<u8>, Entry> =
            old.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        for written in &dir.entries {
            let old = entries.remove(&written.name);
            let entry = self.entry(dir, written, old.as_ref(), built, groups);
            entries.extend(entry.map(|entry| (written.name.clone(), entry)));
        }
        let entries: Vec<Entry> = entries.into_values().collect();
        Ok(self.batch.directory(&entries))
    }

    /// What a written name makes of the one below it; nothing where it is a deletion.
    fn entry(
        &self,
        dir: &UpperDir,
        written: &UpperEntry,
        old: Option<&Entry>,
        built: &[Option<DirRef>],
        groups: &HashMap<(u64, u64), u64>,
    ) -> Option<Entry> {
        let (stat, xattrs, body) = match &written.kind {
            Kind::Whiteout => return None,
            Kind::Directory(child) => {
                let child_dir = &self.dirs[*child];
                let body = Body::Directory(built[*child]?);
                (&child_dir.stat, child_dir.xattrs.clone(), body)
            }
            Kind::File(stat) => {
                let file = self.files.get(&join(&dir.path, &written.name))?;
                let body = Body::File { size: file.size, blob: file.blob };
                (stat, written.xattrs.clone(), body)
            }
            Kind::Symlink(stat, target) => {
                (stat, Vec::new(), Body::Symlink { target: target.clone() })
            }
            Kind::Fifo(stat) => (stat, Vec::new(), Body::Fifo),
        };
        let group = groups.get(&inode(stat)).copied();
        let group = group.filter(|_| !matches!(body, Body::Directory(_)));
        let meta = self.meta(stat, xattrs, old);
        let entry = Entry { name: written.name.clone(), meta, group, body };
        // Copied up and left as it was: still the same file, links and all.
        match old {
            Some(old) if same_but_for_group(old, &entry) => Some(old.clone()),
            _ => Some(entry),
        }
    }

    /// Layers belong to the vault's user on disk, so an owner is news only where it is another.
    fn meta(&self, stat: &Stat, xattrs: Vec<crate::entry::Xattr>, old: Option<&Entry>) -> Meta {
        let own = Owner::of(&self.dirs[0].stat);
        let written = Owner::of(stat);
        let recorded = old.map(|old| Owner { uid: old.meta.uid, gid: old.meta.gid });
        let owner = recorded.filter(|_| written == own).unwrap_or(written);
        Meta {
            mode: (stat.st_mode & 0o7777) as u16,
            uid: owner.uid,
            gid: owner.gid,
            mtime: mtime_of(stat),
            xattrs,
        }
    }
}

fn same_but_for_group(old: &Entry, new: &Entry) -> bool {
    new.group.is_none() && old.meta == new.meta && old.body == new.body
}
