//! The first pass: list and stat everything, in parallel.
//!
//! Directories are taken level by level and opened by their paths from the top, so that neither descriptors nor the
//! stack go with the depth of a tree, which is up to whoever made it.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use offshoot_host::disk::join;
use offshoot_host::mounts::pseudo_below;
use offshoot_host::workers::share;
use offshoot_host::{Xattr, disk};
use offshoot_tree::VaultPath;
use rayon::prelude::*;
use rustix::fs::{self, AtFlags, FileType, OFlags, Stat};

use super::ignore::{self, FILE as IGNORE_FILE, IgnoreFileError, Ignores};
use super::options::ImportOptions;
use super::report::{SkipReason, Skipped};
use crate::error::{Result, VaultError, io_error};
use crate::journal::is_staging;
use crate::refs::{BOUND, OWN};

/// A directory of more entries than this is looked at by several workers.
const LOOKS: usize = 2048;

/// Names by device and inode.
pub(super) type Links = HashMap<(u64, u64), LinkedNames>;

/// The names of one inode.
#[derive(Default)]
pub(super) struct LinkedNames {
    /// It is a file, whose bytes have to be read.
    pub(super) of_file: bool,
    /// In byte order.
    pub(super) paths: Vec<Vec<u8>>,
}

/// Everything below a directory, as `stat` saw it.
pub(super) struct Scanned {
    /// The top first, every directory after its parent.
    pub(super) dirs: Vec<ScannedDir>,
    /// Which of them are equally deep, from the top down.
    pub(super) levels: Vec<Range<usize>>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) ignored: u64,
    /// The names of each inode that has more than one in the tree.
    pub(super) links: Links,
}

pub(super) struct ScannedDir {
    pub(super) path: Vec<u8>,
    pub(super) stat: Stat,
    pub(super) xattrs: Vec<Xattr>,
    /// Sorted by name.
    pub(super) entries: Vec<ScannedEntry>,
    /// It could not be read and is in the report.
    pub(super) absent: bool,
}

pub(super) struct ScannedEntry {
    pub(super) name: Vec<u8>,
    pub(super) stat: Stat,
    pub(super) body: ScannedBody,
}

pub(super) enum ScannedBody {
    File,
    /// A directory by its place in the list.
    Directory(usize),
    Symlink(Vec<u8>),
    Fifo,
}

impl Scanned {
    /// Whether something came in: a directory only if it could be read.
    pub(super) fn is_there(&self, entry: &ScannedEntry) -> bool {
        match entry.body {
            ScannedBody::Directory(at) => !self.dirs[at].absent,
            _ => true,
        }
    }
}

/// A directory that is yet to be listed.
struct Pending {
    path: Vec<u8>,
    stat: Stat,
    ignores: Ignores,
}

/// What the workers share.
struct Scanner<'a> {
    options: &'a ImportOptions,
    top: OwnedFd,
    /// The top is that of a vault's tree, where the place of further folders is not its own.
    is_first: bool,
    /// The top is a git directory that lies outside of the first folder.
    is_git_directory: bool,
    /// Directories that are never entered, by device and inode.
    never: Vec<(u64, u64)>,
    /// File systems that show the kernel, which are not entered either.
    pseudo: Vec<(u64, u64)>,
    skipped: Mutex<Vec<Skipped>>,
    /// Directories whose ignore files cannot be relied upon.
    refused: Mutex<BTreeMap<Vec<u8>, IgnoreFileError>>,
    links: Mutex<Links>,
    ignored: AtomicU64,
    found: AtomicU64,
}

/// Looks at all that is below a directory; `at` is where it lies in the vault's tree if the vault is bound to it.
pub(super) fn scan(
    source: &Path,
    at: Option<&VaultPath>,
    options: &ImportOptions,
) -> Result<Scanned> {
    let top = disk::open_dir(source).map_err(io_error("open", source))?;
    let stat = fs::fstat(&top).map_err(io_error("stat", source))?;
    let never = options.never.iter().filter_map(|dir| fs::stat(dir).ok()).map(|s| inode(&s));
    let pseudo = pseudo_below(source).into_iter();
    let pseudo = pseudo.filter_map(|mount| fs::stat(&mount.path).ok()).map(|s| inode(&s));
    let scanner = Scanner {
        options,
        top,
        is_first: at.is_some_and(VaultPath::is_top),
        is_git_directory: at.and_then(VaultPath::name).is_some_and(|name| name.ends_with(b".git")),
        never: never.collect(),
        pseudo: pseudo.collect(),
        skipped: Mutex::default(),
        refused: Mutex::default(),
        links: Mutex::default(),
        ignored: AtomicU64::new(0),
        found: AtomicU64::new(0),
    };
    let first = Pending { path: Vec::new(), stat, ignores: Ignores::default() };
    // Without its top there is nothing to import at all.
    let (top, below) = scanner.list(&first).map_err(io_error("read", source))?;
    scanner.check_ignores(source)?;
    let (dirs, levels) = scanner.levels(source, top, below)?;
    let mut links = scanner.links.into_inner().expect("workers do not panic");
    links.retain(|_, names| names.paths.len() > 1);
    links.values_mut().for_each(|names| names.paths.sort_unstable());
    let skipped = scanner.skipped.into_inner().expect("workers do not panic");
    Ok(Scanned { dirs, levels, skipped, ignored: scanner.ignored.into_inner(), links })
}

pub(super) fn inode(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

impl Scanner<'_> {
    /// Lists everything below the top, level by level.
    fn levels(
        &self,
        source: &Path,
        top: ScannedDir,
        mut pending: Vec<Pending>,
    ) -> Result<(Vec<ScannedDir>, Vec<Range<usize>>)> {
        let mut dirs = vec![top];
        let mut levels = Vec::from([Range { start: 0, end: 1 }]);
        while !pending.is_empty() {
            let start = dirs.len();
            let level = levels.last().cloned().unwrap_or_default();
            number_directories(&mut dirs[level], start);
            let listed: Vec<_> = share(&pending).map(|dir| self.list_or_skip(dir)).collect();
            self.check_ignores(source)?;
            pending = Vec::new();
            for (dir, mut below) in listed {
                dirs.push(dir);
                pending.append(&mut below);
            }
            levels.push(start..dirs.len());
        }
        Ok((dirs, levels))
    }

    /// Fails if an ignore file could not be relied upon: without it nobody knows what must stay out.
    fn check_ignores(&self, source: &Path) -> Result<()> {
        let mut refused = self.refused.lock().expect("workers do not panic");
        match refused.pop_first() {
            Some((directory, why)) => {
                let path = source.join(disk::bytes_path(&join(&directory, IGNORE_FILE)));
                Err(VaultError::IgnoreFile { path, why })
            }
            None => Ok(()),
        }
    }

    fn list_or_skip(&self, pending: &Pending) -> (ScannedDir, Vec<Pending>) {
        self.list(pending).unwrap_or_else(|error| {
            // Gone since its parent was listed: as if it had never been there.
            if error.kind() != io::ErrorKind::NotFound {
                self.note(&pending.path, SkipReason::Unreadable(error.to_string()));
            }
            let (path, stat) = (pending.path.clone(), pending.stat);
            let (xattrs, entries) = (Vec::new(), Vec::new());
            (ScannedDir { path, stat, xattrs, entries, absent: true }, Vec::new())
        })
    }

    /// Lists one directory; its directories are left for the next level, in the order of its entries.
    fn list(&self, pending: &Pending) -> io::Result<(ScannedDir, Vec<Pending>)> {
        let path = pending.path.as_slice();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let fd = disk::open_below(self.top.as_fd(), path, flags)?;
        let mut stat = fs::fstat(&fd)?;
        let names = disk::names(fd.as_fd())?;
        let ignores = match names.binary_search_by(|name| name.as_slice().cmp(IGNORE_FILE)) {
            Ok(_) if !self.options.everything => {
                self.read_ignores(fd.as_fd(), path, &pending.ignores)
            }
            _ => pending.ignores.clone(),
        };
        let (xattrs, others) = disk::xattrs(fd.as_fd())?;
        if others.iter().any(|name| name == disk::ACL) {
            disk::narrow(fd.as_fd(), &mut stat);
        }
        if !others.is_empty() {
            self.note(path, SkipReason::Attributes(others));
        }
        let look = |name| self.entry(fd.as_fd(), path, name, &ignores);
        let entries: Vec<ScannedEntry> =
            share(names).with_min_len(LOOKS).filter_map(look).collect();
        let folders = entries.iter().filter(|it| matches!(it.body, ScannedBody::Directory(_)));
        let pending = |entry: &ScannedEntry| {
            let path = join(path, &entry.name);
            Pending { path, stat: entry.stat, ignores: ignores.clone() }
        };
        let below = folders.map(pending).collect();
        if let Some(progress) = &self.options.progress {
            let added = entries.len() as u64;
            progress.found(self.found.fetch_add(added, Ordering::Relaxed) + added);
        }
        let dir = ScannedDir { path: path.to_vec(), stat, xattrs, entries, absent: false };
        Ok((dir, below))
    }

    fn entry(
        &self,
        dir: BorrowedFd<'_>,
        parent: &[u8],
        name: Vec<u8>,
        ignores: &Ignores,
    ) -> Option<ScannedEntry> {
        let path = || join(parent, &name);
        let stat = match fs::statat(dir, disk::bytes_path(&name), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            // Gone since the listing: as if it had never been there.
            Err(rustix::io::Errno::NOENT) => return None,
            Err(error) => return self.unreadable(&path(), error.into()),
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if !ignores.is_empty() && ignores.excludes(&path(), kind == FileType::Directory) {
            self.ignored.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        if self.is_first && is_reserved(parent, &name) {
            return self.skip(&path(), SkipReason::Reserved);
        }
        if kind == FileType::RegularFile && self.is_git_lock(parent, &name) {
            // It says that a git is at work here now; in a copy it would keep every git away for ever.
            return None;
        }
        if kind == FileType::Directory && is_staging(&name) {
            // Neither what an apply brings nor what it took out is part of the folder.
            return None;
        }
        let body = match kind {
            FileType::RegularFile => ScannedBody::File,
            FileType::Directory if self.never.contains(&inode(&stat)) => {
                return self.skip(&path(), SkipReason::Home);
            }
            FileType::Directory if self.pseudo.contains(&inode(&stat)) => {
                return self.skip(&path(), SkipReason::Pseudo);
            }
            FileType::Directory => ScannedBody::Directory(0),
            FileType::Symlink => match fs::readlinkat(dir, disk::bytes_path(&name), Vec::new()) {
                Ok(target) => ScannedBody::Symlink(target.into_bytes()),
                Err(rustix::io::Errno::NOENT) => return None,
                Err(error) => return self.unreadable(&path(), error.into()),
            },
            FileType::Fifo => ScannedBody::Fifo,
            FileType::Socket => return self.skip(&path(), SkipReason::Socket),
            _ => return self.skip(&path(), SkipReason::Device),
        };
        if stat.st_nlink > 1 && kind != FileType::Directory {
            let mut links = self.links.lock().expect("workers do not panic");
            let names = links.entry(inode(&stat)).or_default();
            names.of_file = kind == FileType::RegularFile;
            names.paths.push(path());
        }
        Some(ScannedEntry { name, stat, body })
    }

    /// Whether a file is a lock of git: it lies in a git directory and is named like one.
    fn is_git_lock(&self, parent: &[u8], name: &[u8]) -> bool {
        let is_git = |part: &[u8]| part.eq_ignore_ascii_case(b".git");
        name.ends_with(b".lock")
            && (self.is_git_directory || parent.split(|byte| *byte == b'/').any(is_git))
    }

    fn read_ignores(&self, dir: BorrowedFd<'_>, path: &[u8], outer: &Ignores) -> Ignores {
        let read = || match ignore::read(dir)? {
            Some(text) => outer.with(path, &text),
            None => Ok(outer.clone()),
        };
        read().unwrap_or_else(|why| {
            self.refused.lock().expect("workers do not panic").insert(path.to_vec(), why);
            outer.clone()
        })
    }

    fn unreadable<T>(&self, path: &[u8], error: io::Error) -> Option<T> {
        self.skip(path, SkipReason::Unreadable(error.to_string()))
    }

    fn skip<T>(&self, path: &[u8], why: SkipReason) -> Option<T> {
        self.note(path, why);
        None
    }

    fn note(&self, path: &[u8], why: SkipReason) {
        let skipped = Skipped { path: path.to_vec(), why };
        self.skipped.lock().expect("workers do not panic").push(skipped);
    }
}

/// Whether this is where the tree of a vault holds its further folders.
fn is_reserved(parent: &[u8], name: &[u8]) -> bool {
    parent == OWN && name == BOUND
}

/// Gives the directories in a level the places that the next level starts at, in order.
fn number_directories(level: &mut [ScannedDir], mut next: usize) {
    for entry in level.iter_mut().flat_map(|dir| &mut dir.entries) {
        if let ScannedBody::Directory(at) = &mut entry.body {
            *at = next;
            next += 1;
        }
    }
}
