//! Opening what was written, also where its modes forbid it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

use offshoot_host::{Xattr, disk};
use rustix::fs::{self, AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{Result, VaultError, io_error};

/// Opens what ordinary permissions forbid: a user's own files and directories may be closed to them, and only somebody with
/// rights over them, such as a process in the namespace where they were written, can open them as they are.
pub trait Access: Sync {
    /// Opens a path below the directory that is adopted, the directory itself where the path is empty. A path may be of any
    /// length, and no symbolic link on it may be followed; `flags` holds `NOFOLLOW` and `CLOEXEC`, and may ask for `PATH`.
    fn open(&self, path: &[u8], flags: OFlags) -> io::Result<OwnedFd>;

    /// Until when there is time to read what was written. After that it is set aside as it is.
    fn until(&self) -> Option<Instant> {
        None
    }
}

/// No more access than ordinary permissions give.
#[derive(Clone, Copy, Debug)]
pub struct PlainAccess;

impl Access for PlainAccess {
    fn open(&self, _path: &[u8], _flags: OFlags) -> io::Result<OwnedFd> {
        Err(Errno::ACCESS.into())
    }
}

/// Something that was opened.
pub(super) struct Opened {
    pub(super) fd: OwnedFd,
    /// Ordinary permissions would not have done.
    pub(super) closed: bool,
}

/// Reads below one directory, plainly where that works.
pub(super) struct Reach<'a> {
    dir: PathBuf,
    top: OwnedFd,
    access: &'a dyn Access,
}

impl<'a> Reach<'a> {
    pub(super) fn new(dir: &Path, access: &'a dyn Access) -> Result<Self> {
        // Without asking to read it: the mode of the top may forbid that.
        let top = disk::open_dir_path(dir).map_err(io_error("open", dir))?;
        Ok(Self { dir: dir.to_owned(), top, access })
    }

    /// Whether there is still time to read.
    pub(super) fn is_in_time(&self) -> bool {
        self.access.until().is_none_or(|until| Instant::now() < until)
    }

    /// Fails where there is not.
    pub(super) fn require_time(&self) -> Result<()> {
        if self.is_in_time() { Ok(()) } else { Err(VaultError::OutOfTime) }
    }

    /// Where a path is on the host, for errors.
    pub(super) fn host(&self, path: &[u8]) -> PathBuf {
        self.dir.join(disk::bytes_path(path))
    }

    pub(super) fn open(&self, path: &[u8], flags: OFlags) -> io::Result<Opened> {
        match disk::open_below(self.top.as_fd(), path, flags) {
            Err(error) if is_refusal(error) => {
                Ok(Opened { fd: self.ask(path, flags)?, closed: true })
            }
            other => Ok(Opened { fd: other?, closed: false }),
        }
    }

    /// Opens a name in an open directory, whose path is `path`.
    pub(super) fn open_in(
        &self,
        dir: BorrowedFd<'_>,
        name: &[u8],
        path: &[u8],
        flags: OFlags,
    ) -> io::Result<OwnedFd> {
        match disk::open_below(dir, name, flags) {
            Err(error) if is_refusal(error) => self.ask(path, flags),
            other => Ok(other?),
        }
    }

    pub(super) fn open_dir(&self, path: &[u8]) -> io::Result<OwnedFd> {
        Ok(self.open(path, OFlags::RDONLY | OFlags::DIRECTORY)?.fd)
    }

    /// Describes a name in an open directory, whose path is `path`.
    pub(super) fn stat(&self, dir: BorrowedFd<'_>, name: &[u8], path: &[u8]) -> io::Result<Stat> {
        match fs::statat(dir, disk::bytes_path(name), AtFlags::SYMLINK_NOFOLLOW) {
            // An open directory can be listed, but what is in it is found only by those who may search it.
            Err(error) if is_refusal(error) => Ok(fs::fstat(self.ask(path, OFlags::PATH)?)?),
            other => Ok(other?),
        }
    }

    /// What a symbolic link says.
    pub(super) fn target(
        &self,
        dir: BorrowedFd<'_>,
        name: &[u8],
        path: &[u8],
    ) -> io::Result<Vec<u8>> {
        let target = match fs::readlinkat(dir, disk::bytes_path(name), Vec::new()) {
            Err(error) if is_refusal(error) => {
                fs::readlinkat(self.ask(path, OFlags::PATH)?, "", Vec::new())?
            }
            other => other?,
        };
        Ok(target.into_bytes())
    }

    fn ask(&self, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
        self.access.open(path, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC)
    }
}

/// The attributes of something that was opened, as they are in a layer, and the names of others that are not kept.
pub(super) fn attributes(fd: BorrowedFd<'_>) -> io::Result<(Vec<Xattr>, Vec<String>)> {
    match disk::layer_xattrs(fd) {
        // Attributes are read with the rights of the one who asks, however the file was opened; its owner can get them.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let mode = Mode::from_raw_mode(fs::fstat(fd)?.st_mode);
            fs::fchmod(fd, mode | Mode::RUSR)?;
            let found = disk::layer_xattrs(fd);
            fs::fchmod(fd, mode)?;
            found
        }
        other => other,
    }
}

fn is_refusal(error: Errno) -> bool {
    matches!(error, Errno::ACCESS | Errno::PERM)
}
