//! Reading a directory in overlayfs format.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use offshoot_host::disk::join;
use offshoot_host::{Xattr, disk};
use rustix::fs::{self, FileType, OFlags, Stat};

use super::access::{Reach, attributes};
use crate::error::{Result, VaultError, io_error};
use crate::import::report::{SkipReason, Skipped};

/// No directory that a command wrote to may lie deeper.
pub const MOST_DEEP: usize = 512;
const OVERLAY: &[u8] = b"user.overlay.";
pub(super) const OPAQUE: &[u8] = b"user.overlay.opaque";

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

impl UpperEntry {
    /// What describes it, where it is something that can have several names.
    pub(super) fn stat(&self) -> Option<&Stat> {
        match &self.kind {
            Kind::File(stat) | Kind::Symlink(stat, _) | Kind::Fifo(stat) => Some(stat),
            _ => None,
        }
    }

    /// What describes it, where it has several.
    pub(super) fn linked(&self) -> Option<&Stat> {
        self.stat().filter(|stat| stat.st_nlink > 1)
    }
}

pub(super) enum Kind {
    /// The name is deleted.
    Whiteout,
    /// A directory, by its place in the list.
    Directory(usize),
    File(Stat),
    Symlink(Stat, Vec<u8>),
    Fifo(Stat),
    /// It was put there before anybody wrote, and is as it was.
    Untouched,
    /// Something that is not kept: a socket or a device. The name is gone.
    Refused,
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

/// Everything that was written, every directory after its parent.
pub(super) struct Written {
    pub(super) dirs: Vec<UpperDir>,
    pub(super) skipped: Vec<Skipped>,
}

impl Written {
    /// Lists everything below a directory. Names that go away meanwhile count as gone.
    pub(super) fn scan(reach: &Reach<'_>) -> Result<Self> {
        let mut scanner = Scanner { reach, dirs: Vec::new(), skipped: Vec::new() };
        scanner.run()?;
        Ok(Self { dirs: scanner.dirs, skipped: scanner.skipped })
    }
}

struct Scanner<'a> {
    reach: &'a Reach<'a>,
    dirs: Vec<UpperDir>,
    skipped: Vec<Skipped>,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<()> {
        let top = self.reach.host(&[]);
        let stat = self.reach.open_dir(&[]).and_then(|fd| Ok(fs::fstat(fd)?));
        self.add(Vec::new(), stat.map_err(io_error("read", &top))?);
        let mut at = 0;
        while at < self.dirs.len() {
            self.reach.require_time()?;
            self.require_depth(&self.dirs[at].path)?;
            match self.directory(at) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && at > 0 => {}
                other => other.map_err(io_error("read", &self.reach.host(&self.dirs[at].path)))?,
            }
            at += 1;
        }
        Ok(())
    }

    /// Paths are kept whole, so what is very deep takes more than anybody has.
    fn require_depth(&self, path: &[u8]) -> Result<()> {
        const SHOWN: usize = 40;
        let depth = path.split(|byte| *byte == b'/').count();
        if depth <= MOST_DEEP {
            return Ok(());
        }
        let start = String::from_utf8_lossy(&path[..path.len().min(SHOWN)]);
        Err(VaultError::TooDeep { path: format!("/{start}..."), most: MOST_DEEP })
    }

    fn directory(&mut self, at: usize) -> io::Result<()> {
        let path = self.dirs[at].path.clone();
        let fd = self.reach.open_dir(&path)?;
        let (xattrs, opaque) = self.xattrs(fd.as_fd(), &path)?;
        (self.dirs[at].xattrs, self.dirs[at].opaque) = (xattrs, opaque);
        for name in disk::names_as_opened(fd.as_fd())? {
            match self.entry(fd.as_fd(), &path, name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                entry => self.dirs[at].entries.push(entry?),
            }
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
        dir: BorrowedFd<'_>,
        parent: &[u8],
        name: Vec<u8>,
    ) -> io::Result<UpperEntry> {
        let path = join(parent, &name);
        let stat = self.reach.stat(dir, &name, &path)?;
        let mut xattrs = Vec::new();
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Kind::Directory(self.add(path, stat)),
            FileType::RegularFile => {
                let file = self.reach.open_in(dir, &name, &path, OFlags::RDONLY)?;
                (xattrs, _) = self.xattrs(file.as_fd(), &path)?;
                Kind::File(stat)
            }
            FileType::Symlink => Kind::Symlink(stat, self.reach.target(dir, &name, &path)?),
            FileType::Fifo => Kind::Fifo(stat),
            FileType::CharacterDevice if stat.st_rdev == 0 => Kind::Whiteout,
            FileType::Socket => self.refuse(path, SkipReason::Socket),
            _ => self.refuse(path, SkipReason::Device),
        };
        Ok(UpperEntry { name, kind, xattrs })
    }

    fn refuse(&mut self, path: Vec<u8>, why: SkipReason) -> Kind {
        self.skipped.push(Skipped { path, why });
        Kind::Refused
    }

    /// The attributes as a program inside would see them, and whether overlayfs marked the directory as opaque.
    fn xattrs(&mut self, fd: BorrowedFd<'_>, path: &[u8]) -> io::Result<(Vec<Xattr>, bool)> {
        let (found, others) = attributes(fd)?;
        if !others.is_empty() {
            self.skipped.push(Skipped { path: path.to_vec(), why: SkipReason::Attributes(others) });
        }
        let opaque = found.iter().any(|(name, value)| name == OPAQUE && value == b"y");
        let mut kept: Vec<Xattr> = found.into_iter().filter_map(unescape).collect();
        kept.sort_unstable();
        Ok((kept, opaque))
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
