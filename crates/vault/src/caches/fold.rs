//! Putting one layer of a cache into the one below it.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use offshoot_host::disk::{names, open_dir, remove_tree};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Says of a directory that nothing below it is seen through it.
const OPAQUE: &str = "user.overlay.opaque";
/// Trees that are deeper than this are no cache of packages.
const DEEPEST: usize = 200;

/// Puts everything of the layer `above` into the layer `below`, so that both together look as before. What is cut short can be
/// done again. Nobody may use either.
///
/// Everything moves by its name: no byte is copied, and what marks a deletion stays, because the host's own cache may lie
/// further below.
pub(super) fn fold(above: &Path, below: &Path) -> io::Result<()> {
    let (from, into) = (open_dir(above)?, open_dir(below)?);
    Fold { below: below.to_owned() }.directory(from.as_fd(), into.as_fd(), 0)
}

struct Fold {
    /// The path of the directory that is filled.
    below: PathBuf,
}

impl Fold {
    fn directory(
        &mut self,
        from: BorrowedFd<'_>,
        into: BorrowedFd<'_>,
        depth: usize,
    ) -> io::Result<()> {
        if depth > DEEPEST {
            return Err(io::Error::other("too deep"));
        }
        for name in names(from)? {
            let name = CString::new(name)?;
            self.entry(from, into, &name, depth)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        from: BorrowedFd<'_>,
        into: BorrowedFd<'_>,
        name: &CString,
        depth: usize,
    ) -> io::Result<()> {
        let above = fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let below = match fs::statat(into, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => None,
            other => Some(other?),
        };
        if !is_directory(&above) {
            if below.as_ref().is_some_and(is_directory) {
                self.remove(name)?;
            }
            return Ok(fs::renameat(from, name, into, name)?);
        }
        // The owner alone needs to get in and out; who moves it to another parent changes it.
        let open = Opened::new(from, name, &above)?;
        if below.as_ref().is_some_and(is_directory) && !open.is_opaque()? {
            let inner = Opened::new(into, name, &above)?;
            self.below.push(OsStr::from_bytes(name.as_bytes()));
            let folded = self.directory(open.fd.as_fd(), inner.fd.as_fd(), depth + 1);
            self.below.pop();
            folded?;
            return inner.close();
        }
        if below.is_some() {
            self.remove(name)?;
        }
        fs::renameat(from, name, into, name)?;
        open.close()
    }

    /// Makes room in the directory that is filled.
    fn remove(&self, name: &CString) -> io::Result<()> {
        remove_any(&self.below.join(OsStr::from_bytes(name.as_bytes())))
    }
}

/// A directory that its owner can change, and the mode that it gets when that is done.
struct Opened {
    fd: OwnedFd,
    mode: Mode,
}

impl Opened {
    fn new(parent: BorrowedFd<'_>, name: &CString, wanted: &Stat) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match fs::openat(parent, name, flags, Mode::empty()) {
            Err(Errno::ACCESS) => {
                fs::chmodat(parent, name, Mode::RWXU, AtFlags::empty())?;
                fs::openat(parent, name, flags, Mode::empty())?
            }
            other => other?,
        };
        if fs::fstat(&fd)?.st_mode & 0o700 != 0o700 {
            fs::fchmod(&fd, Mode::RWXU)?;
        }
        Ok(Self { fd, mode: Mode::from_raw_mode(wanted.st_mode & 0o7777) })
    }

    fn is_opaque(&self) -> io::Result<bool> {
        let mut value = [0u8; 4];
        match fs::fgetxattr(&self.fd, OPAQUE, &mut value) {
            Ok(length) => Ok(value[..length].starts_with(b"y")),
            Err(Errno::NODATA | Errno::NOTSUP | Errno::RANGE) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    fn close(self) -> io::Result<()> {
        Ok(fs::fchmod(&self.fd, self.mode)?)
    }
}

fn is_directory(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

fn remove_any(path: &Path) -> io::Result<()> {
    match path.symlink_metadata()?.is_dir() {
        true => remove_tree(path),
        false => std::fs::remove_file(path),
    }
}
