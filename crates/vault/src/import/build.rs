//! The third pass: make the tree.

use std::collections::HashMap;

use rayon::prelude::*;
use rustix::fs::Stat;

use super::ImportReport;
use super::cache::CacheEntry;
use super::plan::Plan;
use super::read::FileContent;
use super::scan::{Scanned, ScannedBody, ScannedDir, ScannedEntry, inode};
use crate::disk::join;
use crate::entry::{Body, DirRef, Entry, Meta, Xattr};
use crate::hash::{ContentId, RootId};
use crate::links::Links;
use crate::materialize::mtime_of;
use crate::objects::Batch;

/// A tree, ready to be stored.
pub(super) struct Built {
    pub(super) root: RootId,
    pub(super) content: ContentId,
    pub(super) top: Entry,
    pub(super) batch: Batch,
    pub(super) report: ImportReport,
    pub(super) cache: Vec<CacheEntry>,
    /// The paths that carry a link group.
    pub(super) links: Links,
}

struct Builder<'a> {
    scanned: &'a Scanned,
    plan: &'a Plan<'a>,
    read: HashMap<Vec<u8>, FileContent>,
}

/// What one directory, or several, gave.
#[derive(Default)]
struct Part {
    batch: Batch,
    report: ImportReport,
    cache: Vec<CacheEntry>,
    links: Vec<Vec<u8>>,
}

impl Part {
    fn add(&mut self, mut other: Self) {
        self.batch.append(&mut other.batch);
        self.cache.append(&mut other.cache);
        self.links.append(&mut other.links);
        let (sum, part) = (&mut self.report, other.report);
        sum.files += part.files;
        sum.directories += part.directories;
        sum.symlinks += part.symlinks;
        sum.fifos += part.fifos;
        sum.unchanged += part.unchanged;
    }
}

pub(super) fn build(
    scanned: &Scanned,
    plan: &Plan<'_>,
    read: HashMap<Vec<u8>, FileContent>,
) -> Built {
    let builder = Builder { scanned, plan, read };
    let mut all = Part::default();
    let mut built: Vec<Option<DirRef>> = vec![None; scanned.dirs.len()];
    // From the deepest level up, so that all that a directory needs is there; within a level in parallel.
    for level in scanned.levels.iter().rev() {
        let parts: Vec<(Option<DirRef>, Part)> =
            level.clone().into_par_iter().map(|at| builder.directory(at, &built)).collect();
        for (at, (dir, part)) in level.clone().zip(parts) {
            built[at] = dir;
            all.add(part);
        }
    }
    let Part { mut batch, mut report, cache, links } = all;
    let dir = built[0].unwrap_or_else(|| batch.directory(&[]));
    let meta = meta(&scanned.dirs[0].stat, scanned.dirs[0].xattrs.clone());
    let top = Entry::new(meta, Body::Directory(dir));
    let root = batch.root(&top);
    report.bytes = dir.bytes;
    report.ignored = scanned.ignored;
    report.skipped = scanned.skipped.clone();
    let links = links.into_iter().collect();
    Built { root, content: dir.content, top, batch, report, cache, links }
}

impl Builder<'_> {
    /// Builds one directory; nothing where it could not be read.
    fn directory(&self, at: usize, built: &[Option<DirRef>]) -> (Option<DirRef>, Part) {
        let mut part = Part::default();
        let dir = &self.scanned.dirs[at];
        if dir.absent {
            return (None, part);
        }
        let mut entries = Vec::with_capacity(dir.entries.len());
        for child in &dir.entries {
            entries.extend(match child.body {
                ScannedBody::Directory(at) => built[at].map(|below| {
                    part.report.directories += 1;
                    subdirectory(child, &self.scanned.dirs[at], below)
                }),
                _ => self.leaf(join(&dir.path, &child.name), child, &mut part),
            });
        }
        (Some(part.batch.directory(&entries)), part)
    }

    fn leaf(&self, path: Vec<u8>, child: &ScannedEntry, part: &mut Part) -> Option<Entry> {
        let group = self.plan.groups.get(&inode(&child.stat)).copied();
        let body = match &child.body {
            ScannedBody::File => return self.file(path, child, group, part),
            ScannedBody::Directory(_) => return None,
            ScannedBody::Symlink(target) => {
                part.report.symlinks += 1;
                Body::Symlink { target: target.clone() }
            }
            ScannedBody::Fifo => {
                part.report.fifos += 1;
                Body::Fifo
            }
        };
        let meta = meta(&child.stat, Vec::new());
        part.links.extend(group.map(|_| path));
        Some(Entry { name: child.name.clone(), meta, group, body, conflict: None })
    }

    fn file(
        &self,
        path: Vec<u8>,
        child: &ScannedEntry,
        group: Option<u64>,
        part: &mut Part,
    ) -> Option<Entry> {
        // A file that was neither known nor read is in the report.
        let content = self.read.get(&path).cloned().or_else(|| {
            let known = self.plan.known(&path, &child.stat);
            known.map(|known| known.content(child.stat))
        })?;
        part.report.files += 1;
        part.report.unchanged += u64::from(content.cached);
        let entry = Entry {
            name: child.name.clone(),
            meta: meta(&content.stat, content.xattrs.clone()),
            group,
            body: Body::File { size: content.size, blob: content.blob },
            conflict: None,
        };
        part.links.extend(group.map(|_| path.clone()));
        part.cache.push(CacheEntry::new(path, &content));
        Some(entry)
    }
}

fn subdirectory(child: &ScannedEntry, dir: &ScannedDir, below: DirRef) -> Entry {
    let meta = meta(&dir.stat, dir.xattrs.clone());
    Entry { name: child.name.clone(), ..Entry::new(meta, Body::Directory(below)) }
}

fn meta(stat: &Stat, xattrs: Vec<Xattr>) -> Meta {
    Meta {
        mode: (stat.st_mode & 0o7777) as u16,
        uid: stat.st_uid,
        gid: stat.st_gid,
        mtime: mtime_of(stat),
        xattrs,
    }
}
