//! The first pass: list and stat everything, in parallel.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};

use super::ignore::{FILE as IGNORE_FILE, Ignores};
use super::{ImportOptions, SkipReason, Skipped};
use crate::disk;
use crate::entry::Xattr;
use crate::error::{Result, io_error};
use crate::materialize::join;

/// Paths by device and inode.
pub(super) type Links = HashMap<(u64, u64), Vec<Vec<u8>>>;

/// Everything below a directory, as `stat` saw it.
pub(super) struct Scanned {
    pub(super) top: ScannedDir,
    pub(super) stat: Stat,
    pub(super) skipped: Vec<Skipped>,
    pub(super) ignored: u64,
    /// The names of each inode that has more than one in the tree, in byte order.
    pub(super) links: Links,
}

#[derive(Default)]
pub(super) struct ScannedDir {
    pub(super) xattrs: Vec<Xattr>,
    /// Sorted by name.
    pub(super) entries: Vec<ScannedEntry>,
}

pub(super) struct ScannedEntry {
    pub(super) name: Vec<u8>,
    pub(super) stat: Stat,
    pub(super) body: ScannedBody,
}

pub(super) enum ScannedBody {
    File,
    Directory(ScannedDir),
    Symlink(Vec<u8>),
    Fifo,
}

/// What the workers share.
struct Scanner<'a> {
    options: &'a ImportOptions,
    /// Directories that are never entered, by device and inode.
    never: Vec<(u64, u64)>,
    skipped: Mutex<Vec<Skipped>>,
    links: Mutex<Links>,
    ignored: AtomicU64,
    found: AtomicU64,
}

pub(super) fn scan(source: &Path, options: &ImportOptions) -> Result<Scanned> {
    let fd = disk::open_dir(source).map_err(io_error("open", source))?;
    let stat = fs::fstat(&fd).map_err(io_error("stat", source))?;
    let never = options.never.iter().filter_map(|dir| fs::stat(dir).ok()).map(|s| inode(&s));
    let scanner = Scanner {
        options,
        never: never.collect(),
        skipped: Mutex::default(),
        links: Mutex::default(),
        ignored: AtomicU64::new(0),
        found: AtomicU64::new(0),
    };
    let listed = scanner.directory(fd.as_fd(), b"", &Ignores::default());
    let top = listed.map_err(io_error("read", source))?;
    let mut links = scanner.links.into_inner().expect("workers do not panic");
    links.retain(|_, paths| paths.len() > 1);
    links.values_mut().for_each(|paths| paths.sort_unstable());
    Ok(Scanned {
        top,
        stat,
        skipped: scanner.skipped.into_inner().expect("workers do not panic"),
        ignored: scanner.ignored.into_inner(),
        links,
    })
}

pub(super) fn inode(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

impl Scanner<'_> {
    fn directory(
        &self,
        fd: BorrowedFd<'_>,
        path: &[u8],
        ignores: &Ignores,
    ) -> io::Result<ScannedDir> {
        let names = disk::names(fd)?;
        let ignores = match names.binary_search_by(|name| name.as_slice().cmp(IGNORE_FILE)) {
            Ok(_) => self.read_ignores(fd, path, ignores),
            Err(_) => ignores.clone(),
        };
        let (xattrs, others) = disk::xattrs(fd)?;
        if !others.is_empty() {
            self.note(path, SkipReason::Attributes(others));
        }
        let entries: Vec<ScannedEntry> = names
            .into_par_iter()
            .with_min_len(64)
            .filter_map(|name| self.entry(fd, path, name, &ignores))
            .collect();
        if let Some(progress) = &self.options.progress {
            let added = entries.len() as u64;
            progress.found(self.found.fetch_add(added, Ordering::Relaxed) + added);
        }
        Ok(ScannedDir { xattrs, entries })
    }

    fn entry(
        &self,
        dir: BorrowedFd<'_>,
        parent: &[u8],
        name: Vec<u8>,
        ignores: &Ignores,
    ) -> Option<ScannedEntry> {
        let path = join(parent, &name);
        let stat = match fs::statat(dir, disk::bytes_path(&name), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            // Gone since the listing: as if it had never been there.
            Err(rustix::io::Errno::NOENT) => return None,
            Err(error) => return self.unreadable(&path, error.into()),
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if ignores.excludes(&path, kind == FileType::Directory) {
            self.ignored.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let body = match kind {
            FileType::RegularFile => ScannedBody::File,
            FileType::Directory => self.subdirectory(dir, &path, &name, &stat, ignores)?,
            FileType::Symlink => match fs::readlinkat(dir, disk::bytes_path(&name), Vec::new()) {
                Ok(target) => ScannedBody::Symlink(target.into_bytes()),
                Err(error) => return self.unreadable(&path, error.into()),
            },
            FileType::Fifo => ScannedBody::Fifo,
            FileType::Socket => return self.skip(&path, SkipReason::Socket),
            _ => return self.skip(&path, SkipReason::Device),
        };
        if stat.st_nlink > 1 && kind != FileType::Directory {
            let mut links = self.links.lock().expect("workers do not panic");
            links.entry(inode(&stat)).or_default().push(path);
        }
        Some(ScannedEntry { name, stat, body })
    }

    fn subdirectory(
        &self,
        dir: BorrowedFd<'_>,
        path: &[u8],
        name: &[u8],
        stat: &Stat,
        ignores: &Ignores,
    ) -> Option<ScannedBody> {
        if self.never.contains(&inode(stat)) {
            return self.skip(path, SkipReason::Home);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = fs::openat(dir, disk::bytes_path(name), flags, Mode::empty());
        let listed = opened
            .map_err(io::Error::from)
            .and_then(|fd| self.directory(fd.as_fd(), path, ignores));
        match listed {
            Ok(listed) => Some(ScannedBody::Directory(listed)),
            Err(error) => self.unreadable(path, error),
        }
    }

    fn read_ignores(&self, dir: BorrowedFd<'_>, path: &[u8], outer: &Ignores) -> Ignores {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let read = disk::open_below(dir, IGNORE_FILE, flags).and_then(|fd| {
            let mut text = Vec::new();
            io::Read::read_to_end(&mut std::fs::File::from(fd), &mut text)?;
            Ok(text)
        });
        match read {
            Ok(text) => outer.with(path, &text),
            Err(error) => {
                let why = SkipReason::Unreadable(error.to_string());
                self.note(&join(path, IGNORE_FILE), why);
                outer.clone()
            }
        }
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
