//! Small steps that the rooms are made of, each relative to the descriptor of the top directory.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{self, AtFlags, Dir, FileType, Gid, Mode, OFlags, Timespec, Timestamps, Uid};
use rustix::fs::{UTIME_OMIT, XattrFlags};

use crate::rng::Rng;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A tree under construction.
pub(super) struct Builder {
    top: OwnedFd,
    pub(super) rng: Rng,
    /// What directories get when all is in place: a mode and a time would not survive, or would
    /// forbid, the making of what is inside.
    last: Vec<Finish>,
}

struct Finish {
    path: Vec<u8>,
    mode: u32,
    mtime: (i64, u32),
}

impl Builder {
    pub(super) fn new(dir: &Path, rng: Rng) -> io::Result<Self> {
        Ok(Self { top: fs::open(dir, DIRECTORY, Mode::empty())?, rng, last: Vec::new() })
    }

    pub(super) fn root_user(&self) -> bool {
        rustix::process::geteuid().is_root()
    }

    pub(super) fn top(&self) -> BorrowedFd<'_> {
        self.top.as_fd()
    }

    /// A directory with mode 0755 and a time of its own.
    pub(super) fn directory(&mut self, path: impl AsRef<[u8]>) -> io::Result<()> {
        let mtime = self.some_time();
        self.directory_as(path, 0o755, mtime)
    }

    pub(super) fn directory_as(
        &mut self,
        path: impl AsRef<[u8]>,
        mode: u32,
        mtime: (i64, u32),
    ) -> io::Result<()> {
        fs::mkdirat(&self.top, path.as_ref(), Mode::from_raw_mode(0o700))?;
        self.last.push(Finish { path: path.as_ref().to_vec(), mode, mtime });
        Ok(())
    }

    /// A file with mode 0644, these bytes and a time of its own.
    pub(super) fn file(&mut self, path: impl AsRef<[u8]>, bytes: &[u8]) -> io::Result<()> {
        let mtime = self.some_time();
        self.file_as(path, bytes, 0o644, mtime)
    }

    pub(super) fn file_as(
        &mut self,
        path: impl AsRef<[u8]>,
        bytes: &[u8],
        mode: u32,
        mtime: (i64, u32),
    ) -> io::Result<()> {
        let mut file = self.create(path)?;
        file.write_all(bytes)?;
        fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        fs::futimens(&file, &timestamps(mtime))?;
        Ok(())
    }

    /// A new file that is still open, for callers that write it in their own way.
    pub(super) fn create(&self, path: impl AsRef<[u8]>) -> io::Result<File> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.top, path.as_ref(), flags, Mode::from_raw_mode(0o600))?))
    }

    pub(super) fn symlink(&mut self, target: &[u8], path: impl AsRef<[u8]>) -> io::Result<()> {
        fs::symlinkat(target, &self.top, path.as_ref())?;
        self.touch(path)
    }

    pub(super) fn hard_link(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(fs::linkat(&self.top, from, &self.top, to, AtFlags::empty())?)
    }

    pub(super) fn fifo(&mut self, path: &str, mode: u32) -> io::Result<()> {
        let kind = FileType::Fifo;
        fs::mknodat(&self.top, path, kind, Mode::from_raw_mode(0o600), 0)?;
        fs::chmodat(&self.top, path, Mode::from_raw_mode(mode), AtFlags::empty())?;
        self.touch(path)
    }

    pub(super) fn owner(&self, path: &str, uid: u32, gid: u32) -> io::Result<()> {
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        Ok(fs::chownat(&self.top, path, Some(uid), Some(gid), flags)?)
    }

    pub(super) fn xattr(&self, path: &str, name: &str, value: &[u8]) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = fs::openat(&self.top, path, flags, Mode::empty())?;
        Ok(fs::fsetxattr(&file, name, value, XattrFlags::CREATE)?)
    }

    /// Sets a time of its own on anything, links themselves included.
    pub(super) fn touch(&mut self, path: impl AsRef<[u8]>) -> io::Result<()> {
        let times = timestamps(self.some_time());
        Ok(fs::utimensat(&self.top, path.as_ref(), &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Sets a time of its own on what is open.
    pub(super) fn set_time(&mut self, fd: &OwnedFd) -> io::Result<()> {
        Ok(fs::futimens(fd, &timestamps(self.some_time()))?)
    }

    /// A time between 2001 and 2033 with nanoseconds, different for each caller.
    pub(super) fn some_time(&mut self) -> (i64, u32) {
        let seconds = 1_000_000_000 + self.rng.below(1_000_000_000) as i64;
        (seconds, self.rng.below(1_000_000_000) as u32)
    }

    /// Gives the directories their modes and times, inner ones first, and the top its time.
    pub(super) fn finish(mut self) -> io::Result<()> {
        for Finish { path, mode, mtime } in self.last.iter().rev() {
            let path = path.as_slice();
            fs::chmodat(&self.top, path, Mode::from_raw_mode(*mode), AtFlags::empty())?;
            fs::utimensat(&self.top, path, &timestamps(*mtime), AtFlags::SYMLINK_NOFOLLOW)?;
        }
        let mtime = self.some_time();
        Ok(fs::futimens(&self.top, &timestamps(mtime))?)
    }
}

/// Makes the directory `name` in `parent` and opens it: a step that no length of path can stop.
pub(super) fn step_into(parent: BorrowedFd, name: &[u8]) -> io::Result<OwnedFd> {
    fs::mkdirat(parent, name, Mode::from_raw_mode(0o755))?;
    Ok(fs::openat(parent, name, DIRECTORY, Mode::empty())?)
}

/// Lets the owner read, write and search every directory at and below `dir`.
pub(super) fn open_up(dir: &Path) -> io::Result<()> {
    let top = fs::open(dir, DIRECTORY, Mode::empty())?;
    open_up_below(top)
}

fn open_up_below(directory: OwnedFd) -> io::Result<()> {
    for name in names(&directory)? {
        let stat = fs::statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let mode = Mode::from_raw_mode(stat.st_mode & 0o7777 | 0o700);
            fs::chmodat(&directory, &name, mode, AtFlags::empty())?;
            open_up_below(fs::openat(&directory, &name, DIRECTORY, Mode::empty())?)?;
        }
    }
    Ok(())
}

fn names(directory: &OwnedFd) -> io::Result<Vec<CString>> {
    let names = Dir::read_from(directory)?.map(|entry| Ok(entry?.file_name().to_owned()));
    let special = |name: &CStr| name == c"." || name == c"..";
    names.filter(|name| !name.as_ref().is_ok_and(|name| special(name))).collect()
}

fn timestamps((seconds, nanoseconds): (i64, u32)) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: seconds, tv_nsec: nanoseconds.into() },
    }
}
