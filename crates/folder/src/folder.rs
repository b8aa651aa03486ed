//! A host folder, reached by its descriptor: nothing below it is ever opened through a symbolic link.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use offshoot_host::disk;
use offshoot_host::disk::split_last;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::problem::ApplyProblem;
use crate::stamp::{Look, look, look_at, missing_is_none};

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    top: OwnedFd,
    pub(crate) look: Look,
}

/// A name in an open directory.
#[derive(Debug)]
pub(crate) struct Spot<'p> {
    pub(crate) parent: OwnedFd,
    pub(crate) name: &'p [u8],
}

impl Spot<'_> {
    pub(crate) fn look(&self) -> Result<Option<Look>, Errno> {
        look(self.parent.as_fd(), self.name)
    }

    pub(crate) fn at(&self) -> BorrowedFd<'_> {
        self.parent.as_fd()
    }
}

impl Folder {
    /// Opens a folder; it must be the one of `identity`, a device and an inode, where that is given. After a reboot the device may have
    /// another number.
    pub(crate) fn open(
        path: &Path,
        identity: Option<(Option<u64>, u64)>,
    ) -> Result<Self, ApplyProblem> {
        let gone = || ApplyProblem::Gone { path: path.to_owned() };
        let top = disk::open_dir_path(path).map_err(|_| gone())?;
        let look = look_at(top.as_fd()).map_err(|_| gone())?;
        let is_another = |(device, inode): (Option<u64>, u64)| {
            inode != look.inode || device.is_some_and(|device| device != look.place.device)
        };
        if identity.is_some_and(is_another) {
            return Err(ApplyProblem::NotThatFolder { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), top, look })
    }

    /// The host path of something below.
    pub(crate) fn host(&self, path: &[u8]) -> PathBuf {
        if path.is_empty() { self.path.clone() } else { self.path.join(disk::bytes_path(path)) }
    }

    /// The mode that is recorded of something below, which has fewer rights where there is an access list.
    pub(crate) fn recorded_mode(&self, path: &[u8], look: &Look) -> u16 {
        let read = |acl: &mut [u8]| {
            let spot = self.spot(path)?.ok_or(Errno::NOENT)?;
            rustix::fs::lgetxattr(by_descriptor(spot.at(), spot.name), disk::ACL, acl)
        };
        disk::mode_without(read, look.mode)
    }

    /// Opens a directory below only to reach what is in it.
    pub(crate) fn directory(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        disk::open_below(self.top.as_fd(), path, OFlags::PATH | OFlags::DIRECTORY)
    }

    /// Opens a directory below to read it.
    pub(crate) fn readable(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        disk::open_below(self.top.as_fd(), path, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens something below.
    pub(crate) fn open_with(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        disk::open_below(self.top.as_fd(), path, flags)
    }

    /// Opens a file below to read it, without waiting for anybody.
    pub(crate) fn file(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        disk::open_below(self.top.as_fd(), path, OFlags::RDONLY | OFlags::NONBLOCK)
    }

    /// The place of a path, whether something is there or not. Nothing where its directory is not there.
    pub(crate) fn spot<'p>(&self, path: &'p [u8]) -> Result<Option<Spot<'p>>, Errno> {
        let (parent, name) = split_last(path);
        let parent = missing_is_none(self.directory(parent))?;
        Ok(parent.map(|parent| Spot { parent, name }))
    }

    /// What is at a path; nothing where nothing is.
    pub(crate) fn look(&self, path: &[u8]) -> Result<Option<Look>, Errno> {
        if path.is_empty() {
            return look_at(self.top.as_fd()).map(Some);
        }
        match self.spot(path)? {
            Some(spot) => spot.look(),
            None => Ok(None),
        }
    }
}

/// A name in an open directory as a path: attributes have no calls relative to directories.
pub(crate) fn by_descriptor(directory: BorrowedFd<'_>, name: &[u8]) -> PathBuf {
    let directory = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
    directory.join(disk::bytes_path(name))
}
