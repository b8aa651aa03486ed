//! The third pass: make the tree.

use std::collections::HashMap;

use rustix::fs::Stat;

use super::ImportReport;
use super::cache::CacheEntry;
use super::plan::Plan;
use super::read::FileContent;
use super::scan::{Scanned, ScannedBody, ScannedDir, ScannedEntry, inode};
use crate::disk::join;
use crate::entry::{Body, DirRef, Entry, Meta, Xattr};
use crate::hash::{ContentId, RootId};
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
}

struct Builder<'a> {
    plan: &'a Plan<'a>,
    read: HashMap<Vec<u8>, FileContent>,
    batch: Batch,
    report: ImportReport,
    cache: Vec<CacheEntry>,
}

pub(super) fn build(
    scanned: &Scanned,
    plan: &Plan<'_>,
    read: HashMap<Vec<u8>, FileContent>,
) -> Built {
    let mut builder = Builder {
        plan,
        read,
        batch: Batch::default(),
        report: ImportReport::default(),
        cache: Vec::new(),
    };
    // Every directory comes after its parent in the list, so from the end all that one needs is there.
    let mut built: Vec<Option<DirRef>> = vec![None; scanned.dirs.len()];
    for (at, dir) in scanned.dirs.iter().enumerate().rev().filter(|(_, dir)| !dir.absent) {
        built[at] = Some(builder.directory(scanned, dir, &built));
    }
    let dir = built[0].unwrap_or_else(|| builder.batch.directory(&[]));
    let meta = meta(&scanned.dirs[0].stat, scanned.dirs[0].xattrs.clone());
    let top = Entry { name: Vec::new(), meta, group: None, body: Body::Directory(dir) };
    let root = builder.batch.root(&top);
    builder.report.bytes = dir.bytes;
    builder.report.ignored = scanned.ignored;
    builder.report.skipped = scanned.skipped.clone();
    let Builder { batch, report, cache, .. } = builder;
    Built { root, content: dir.content, top, batch, report, cache }
}

impl Builder<'_> {
    fn directory(
        &mut self,
        scanned: &Scanned,
        dir: &ScannedDir,
        built: &[Option<DirRef>],
    ) -> DirRef {
        let mut entries = Vec::with_capacity(dir.entries.len());
        for child in &dir.entries {
            entries.extend(match child.body {
                ScannedBody::Directory(at) => {
                    built[at].map(|below| self.subdirectory(child, &scanned.dirs[at], below))
                }
                _ => self.leaf(join(&dir.path, &child.name), child),
            });
        }
        self.batch.directory(&entries)
    }

    fn subdirectory(&mut self, child: &ScannedEntry, dir: &ScannedDir, below: DirRef) -> Entry {
        self.report.directories += 1;
        let meta = meta(&dir.stat, dir.xattrs.clone());
        Entry { name: child.name.clone(), meta, group: None, body: Body::Directory(below) }
    }

    fn leaf(&mut self, path: Vec<u8>, child: &ScannedEntry) -> Option<Entry> {
        let group = self.plan.groups.get(&inode(&child.stat)).copied();
        let body = match &child.body {
            ScannedBody::File => return self.file(path, child, group),
            ScannedBody::Directory(_) => return None,
            ScannedBody::Symlink(target) => {
                self.report.symlinks += 1;
                Body::Symlink { target: target.clone() }
            }
            ScannedBody::Fifo => {
                self.report.fifos += 1;
                Body::Fifo
            }
        };
        let meta = meta(&child.stat, Vec::new());
        Some(Entry { name: child.name.clone(), meta, group, body })
    }

    fn file(&mut self, path: Vec<u8>, child: &ScannedEntry, group: Option<u64>) -> Option<Entry> {
        // A file that was neither known nor read is in the report.
        let content = self.read.remove(&path).or_else(|| {
            let known = self.plan.known(&path, &child.stat);
            known.map(|known| known.content(child.stat))
        })?;
        self.report.files += 1;
        self.report.unchanged += u64::from(content.cached);
        let entry = Entry {
            name: child.name.clone(),
            meta: meta(&content.stat, content.xattrs.clone()),
            group,
            body: Body::File { size: content.size, blob: content.blob },
        };
        self.cache.push(CacheEntry::new(path, &content));
        Some(entry)
    }
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
