//! Reading a directory in overlayfs format.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{self, AtFlags, FileType, OFlags, Stat};

use crate::disk::{self, join};
use crate::entry::Xattr;
use crate::error::{Result, io_error};
use crate::import::{SkipReason, Skipped};

const OVERLAY: &[u8] = b"user.overlay.";
const OPAQUE: &[u8] = b"user.overlay.opaque";

/// A directory that was written.
pub(super) struct UpperDir {
    pub(super) path: Vec<u8>,
    pub(super) stat: Stat,
    pub(super) xattrs: Vec<Xattr>,
    /// It hides what is below.
    pub(super) opaque: bool,
    pub(super) entries: Vec<UpperEntry>,
}

/// A name that was written.
pub(super) struct UpperEntry {
    pub(super) name: Vec<u8>,
    pub(super) kind: Kind,
    pub(super) xattrs: Vec<Xattr>,
}

pub(super) enum Kind {
    /// The name is deleted.
    Whiteout,
    /// A directory, by its place in the list.
    Directory(usize),
    File(Stat),
    Symlink(Stat, Vec<u8>),
    Fifo(Stat),
}

/// Who owns something on disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Owner {
    pub(super) fn of(stat: &Stat) -> Self {
        Self { uid: stat.st_uid, gid: stat.st_gid }
    }
}

pub(super) fn inode(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

/// Lists everything below a directory, every directory after its parent.
pub(super) fn scan(dir: &Path) -> Result<(Vec<UpperDir>, Vec<Skipped>)> {
    let mut scanner = Scanner { dirs: Vec::new(), skipped: Vec::new() };
    scanner.run(dir).map_err(io_error("read", dir))?;
    Ok((scanner.dirs, scanner.skipped))
}

struct Scanner {
    dirs: Vec<UpperDir>,
    skipped: Vec<Skipped>,
}

impl Scanner {
    fn run(&mut self, dir: &Path) -> io::Result<()> {
        let top = disk::open_dir(dir)?;
        self.add(Vec::new(), fs::fstat(&top)?);
        let mut at = 0;
        while at < self.dirs.len() {
            let path = self.dirs[at].path.clone();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let fd = disk::open_below(top.as_fd(), &path, flags)?;
            let (xattrs, opaque) = self.xattrs(fd.as_fd(), &path)?;
            (self.dirs[at].xattrs, self.dirs[at].opaque) = (xattrs, opaque);
            for name in disk::names(fd.as_fd())? {
                let entry = self.entry(fd.as_fd(), &path, name)?;
                self.dirs[at].entries.extend(entry);
            }
            at += 1;
        }
        Ok(())
    }

    fn add(&mut self, path: Vec<u8>, stat: Stat) -> usize {
        let (xattrs, entries) = (Vec::new(), Vec::new());
        self.dirs.push(UpperDir { path, stat, xattrs, opaque: false, entries });
        self.dirs.len() - 1
    }

    fn entry(
        &mut self,
        dir: std::os::fd::BorrowedFd<'_>,
        parent: &[u8],
        name: Vec<u8>,
    ) -> io::Result<Option<UpperEntry>> {
        let path = join(parent, &name);
        let stat = fs::statat(dir, disk::bytes_path(&name), AtFlags::SYMLINK_NOFOLLOW)?;
        let mut xattrs = Vec::new();
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Kind::Directory(self.add(path, stat)),
            FileType::RegularFile => {
                let fd = disk::open_below(dir, &name, OFlags::RDONLY)?;
                (xattrs, _) = self.xattrs(fd.as_fd(), &path)?;
                Kind::File(stat)
            }
            FileType::Symlink => {
                let target = fs::readlinkat(dir, disk::bytes_path(&name), Vec::new())?;
                Kind::Symlink(stat, target.into_bytes())
            }
            FileType::Fifo => Kind::Fifo(stat),
            FileType::CharacterDevice if stat.st_rdev == 0 => Kind::Whiteout,
            FileType::Socket => return Ok(self.skip(path, SkipReason::Socket)),
            _ => return Ok(self.skip(path, SkipReason::Device)),
        };
        Ok(Some(UpperEntry { name, kind, xattrs }))
    }

    /// The attributes as a program inside would see them, and whether overlayfs marked the directory as opaque.
    fn xattrs(
        &mut self,
        fd: std::os::fd::BorrowedFd<'_>,
        path: &[u8],
    ) -> io::Result<(Vec<Xattr>, bool)> {
        let (found, others) = disk::xattrs(fd)?;
        if !others.is_empty() {
            self.skip(path.to_vec(), SkipReason::Attributes(others));
        }
        let opaque = found.iter().any(|(name, value)| name == OPAQUE && value == b"y");
        let mut kept: Vec<Xattr> = found.into_iter().filter_map(unescape).collect();
        kept.sort_unstable();
        Ok((kept, opaque))
    }

    fn skip(&mut self, path: Vec<u8>, why: SkipReason) -> Option<UpperEntry> {
        self.skipped.push(Skipped { path, why });
        None
    }
}

/// An attribute as it was before it went into a layer; nothing where it is overlayfs's own.
fn unescape((name, value): Xattr) -> Option<Xattr> {
    match name.strip_prefix(OVERLAY) {
        None => Some((name, value)),
        Some(rest) => {
            let nested = rest.strip_prefix(b"overlay.")?;
            Some(([OVERLAY, nested].concat(), value))
        }
    }
}
