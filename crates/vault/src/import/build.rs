//! The third pass: make the tree.

use std::collections::HashMap;

use offshoot_host::disk::join;
use offshoot_host::workers::share;
use offshoot_host::{Mtime, Xattr};
use offshoot_tree::links::Links;
use offshoot_tree::{Batch, Body, ContentId, DirRef, Entry, Meta, RootId};
use rayon::prelude::*;
use rustix::fs::Stat;

use super::cache::Rows;
use super::content::FileContent;
use super::plan::Plan;
use super::report::ImportReport;
use super::scan::{Scanned, ScannedBody, ScannedDir, ScannedEntry, inode};

/// A tree, ready to be stored.
pub(super) struct Built {
    pub(super) root: RootId,
    pub(super) content: ContentId,
    pub(super) top: Entry,
    pub(super) batch: Batch,
    pub(super) report: ImportReport,
    /// What to remember of its files.
    pub(super) rows: Rows,
    /// The paths that carry a link group.
    pub(super) links: Links,
}

struct Builder<'a> {
    scanned: &'a Scanned,
    plan: &'a Plan<'a>,
    read: HashMap<Vec<u8>, FileContent>,
    /// When the import began, if its files are to be remembered.
    remember: Option<Mtime>,
}

/// What one directory, or several, gave.
#[derive(Default)]
struct Part {
    batch: Batch,
    report: ImportReport,
    rows: Rows,
    links: Vec<Vec<u8>>,
}

impl Part {
    fn add(&mut self, mut other: Self) {
        self.batch.append(&mut other.batch);
        self.rows.append(&other.rows);
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
    remember: Option<Mtime>,
) -> Built {
    let builder = Builder { scanned, plan, read, remember };
    let mut all = Part::default();
    let mut built: Vec<Option<DirRef>> = vec![None; scanned.dirs.len()];
    // From the deepest level up, so that all that a directory needs is there; within a level in parallel.
    for level in scanned.levels.iter().rev() {
        let parts: Vec<(Option<DirRef>, Part)> =
            share(level.clone()).map(|at| builder.directory(at, &built)).collect();
        for (at, (dir, part)) in level.clone().zip(parts) {
            built[at] = dir;
            all.add(part);
        }
    }
    let Part { mut batch, mut report, rows, links } = all;
    let dir = built[0].unwrap_or_else(|| batch.directory(&[]));
    let meta = meta(&scanned.dirs[0].stat, scanned.dirs[0].xattrs.clone());
    let top = Entry::new(meta, Body::Directory(dir.into()));
    let root = batch.root(&top);
    report.bytes = dir.bytes;
    report.ignored = scanned.ignored;
    report.skipped = scanned.skipped.clone();
    let links = links.into_iter().collect();
    Built { root, content: dir.content, top, batch, report, rows, links }
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
        for (place, child) in dir.entries.iter().enumerate() {
            entries.extend(match child.body {
                ScannedBody::Directory(at) => built[at].map(|below| {
                    part.report.directories += 1;
                    subdirectory(child, &self.scanned.dirs[at], below)
                }),
                ScannedBody::File => self.file((at, place), child, &mut part),
                _ => Some(self.leaf(&dir.path, child, &mut part)),
            });
        }
        (Some(part.batch.directory(&entries)), part)
    }

    /// Everything but files and directories.
    fn leaf(&self, folder: &[u8], child: &ScannedEntry, part: &mut Part) -> Entry {
        let body = match &child.body {
            ScannedBody::Symlink(target) => {
                part.report.symlinks += 1;
                Body::Symlink { target: target.clone() }
            }
            _ => {
                part.report.fifos += 1;
                Body::Fifo
            }
        };
        let (name, meta) = (child.name.clone(), meta(&child.stat, Vec::new()));
        let group = self.group(child);
        part.links.extend(group.map(|_| join(folder, &child.name)));
        Entry { name, meta, group, body, conflict: None }
    }

    /// A file, by the places of its directory and in it.
    fn file(
        &self,
        (dir, place): (usize, usize),
        child: &ScannedEntry,
        part: &mut Part,
    ) -> Option<Entry> {
        let path = || join(&self.scanned.dirs[dir].path, &child.name);
        // A file that was neither known nor read is in the report.
        let content = match self.plan.known(dir, place) {
            Some(known) => known.content(child.stat),
            None => self.read.get(&path()).cloned()?,
        };
        part.report.files += 1;
        part.report.unchanged += u64::from(content.cached);
        let group = self.group(child);
        part.links.extend(group.map(|_| path()));
        if let Some(started) = self.remember {
            part.rows.add(&path(), &content, started);
        }
        Some(Entry {
            name: child.name.clone(),
            meta: meta(&content.stat, content.xattrs),
            group,
            body: Body::File { size: content.size, blob: content.blob },
            conflict: None,
        })
    }

    fn group(&self, child: &ScannedEntry) -> Option<u64> {
        // Most trees have no hard links at all.
        let groups = Some(&self.plan.groups).filter(|groups| !groups.is_empty());
        groups.and_then(|groups| groups.get(&inode(&child.stat)).copied())
    }
}

fn subdirectory(child: &ScannedEntry, dir: &ScannedDir, below: DirRef) -> Entry {
    let meta = meta(&dir.stat, dir.xattrs.clone());
    Entry { name: child.name.clone(), ..Entry::new(meta, Body::Directory(below.into())) }
}

fn meta(stat: &Stat, xattrs: Vec<Xattr>) -> Meta {
    Meta {
        mode: (stat.st_mode & 0o7777) as u16,
        uid: stat.st_uid,
        gid: stat.st_gid,
        mtime: Mtime::of(stat),
        xattrs,
    }
}
