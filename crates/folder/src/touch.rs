//! Modes, owners, times and attributes of what stays where it is.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use offshoot_host::{Mtime, disk};
use offshoot_vault::Result;
use rustix::fs::{self, AtFlags, CWD, Gid, Mode, OFlags, Uid, XattrFlags};
use rustix::io::Errno;

use crate::error::io_error;
use crate::folder::Folder;
use crate::ground::Ground;
use crate::stamp::{Look, Stamp, look_at, missing_is_none};
use crate::step::{Attributes, Step};

/// Gives a file the metadata `to`; false where it is not the file, or has metadata that is neither `from` nor `to`.
pub(crate) fn file(
    ground: &Ground,
    step: &Step,
    old: &Stamp,
    (from, to): (&Attributes, &Attributes),
    owners: bool,
) -> Result<bool> {
    let folder = &ground.folders[step.folder];
    let host = folder.host(&step.path.0);
    let Some(handle) = Handle::file(folder, &step.path.0).map_err(io_error("open", &host))? else {
        return Ok(false);
    };
    let look = look_at(handle.fd.as_fd()).map_err(io_error("stat", &host))?;
    let times = [from.mtime(), to.mtime()];
    let modes = [from.mode, to.mode];
    let is_known = modes.contains(&look.mode) || modes.contains(&handle.recorded_mode(&look));
    if !old.is_same_size(&look) || !times.contains(&look.mtime) || !is_known {
        return Ok(false);
    }
    handle.set(&look, to, owners).map_err(io_error("set metadata of", &host))?;
    Ok(true)
}

/// Gives a directory the metadata `to`. What both sides agree on is left alone, but for its time, which changed with what is
/// in it.
pub(crate) fn directory(
    ground: &Ground,
    step: &Step,
    from: Option<&Attributes>,
    to: &Attributes,
    owners: bool,
) -> Result<()> {
    let folder = &ground.folders[step.folder];
    let host = folder.host(&step.path.0);
    let handle = Handle::directory(folder, &step.path.0).map_err(io_error("open", &host))?;
    // Somebody took it away: then there is nothing to do for it.
    let Some(handle) = handle else { return Ok(()) };
    let set = || -> std::result::Result<(), Errno> {
        let look = look_at(handle.fd.as_fd())?;
        if from.is_none_or(|from| from.xattrs() != to.xattrs()) {
            handle.set_xattrs(&look, from, to)?;
        }
        match from {
            // A mode that was opened up to work in it counts as none.
            Some(from) if (from.mode, from.uid, from.gid) == (to.mode, to.uid, to.gid) => {
                if look.mode == to.mode | 0o700 && look.mode != to.mode {
                    handle.set_mode(to.mode)?;
                }
                handle.set_time(to.mtime())
            }
            _ => handle.set(&look, to, owners),
        }
    };
    match set() {
        // In a directory of somebody else one may make files, and not set its time.
        Err(Errno::PERM) if !rustix::process::geteuid().is_root() => Ok(()),
        other => other.map_err(io_error("set metadata of", &host)),
    }
}

/// Lets this user work in a directory that its recorded mode closes to them.
pub(crate) fn open_up(ground: &Ground, step: &Step) -> Result<()> {
    let folder = &ground.folders[step.folder];
    let host = folder.host(&step.path.0);
    let open = || -> std::result::Result<(), Errno> {
        let Some(handle) = Handle::directory(folder, &step.path.0)? else { return Ok(()) };
        let look = look_at(handle.fd.as_fd())?;
        let own = look.uid == rustix::process::geteuid().as_raw();
        if own && look.mode & 0o700 != 0o700 { handle.set_mode(look.mode | 0o700) } else { Ok(()) }
    };
    open().map_err(io_error("open", &host))
}

/// Sets the time of a directory.
pub(crate) fn set_time(
    folder: &Folder,
    path: &[u8],
    mtime: Mtime,
) -> std::result::Result<(), Errno> {
    match Handle::directory(folder, path)? {
        Some(handle) => match handle.set_time(mtime) {
            Err(Errno::PERM) if !rustix::process::geteuid().is_root() => Ok(()),
            other => other,
        },
        None => Ok(()),
    }
}

/// Something open to be changed, though perhaps neither to be read nor written.
struct Handle {
    fd: OwnedFd,
    /// Opened only as a place: then it is changed by the path of its descriptor.
    place: Option<PathBuf>,
}

impl Handle {
    fn file(folder: &Folder, path: &[u8]) -> std::result::Result<Option<Self>, Errno> {
        Self::open(folder, path, OFlags::NONBLOCK)
    }

    fn directory(folder: &Folder, path: &[u8]) -> std::result::Result<Option<Self>, Errno> {
        Self::open(folder, path, OFlags::DIRECTORY)
    }

    fn open(folder: &Folder, path: &[u8], how: OFlags) -> std::result::Result<Option<Self>, Errno> {
        match folder.open_with(path, OFlags::RDONLY | how) {
            Err(Errno::ACCESS) => {
                let how = how.difference(OFlags::NONBLOCK);
                let opened = missing_is_none(folder.open_with(path, OFlags::PATH | how))?;
                Ok(opened.map(|fd| {
                    let place = Some(PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd())));
                    Self { fd, place }
                }))
            }
            other => Ok(missing_is_none(other)?.map(|fd| Self { fd, place: None })),
        }
    }

    /// Sets what is different, the owner first: changing it clears the set-id bits of the mode.
    fn set(&self, look: &Look, to: &Attributes, owners: bool) -> std::result::Result<(), Errno> {
        let wanted = disk::mode_beside(look.mode, self.recorded_mode(look), to.mode);
        let mut mode = look.mode;
        if owners && (look.uid, look.gid) != (to.uid, to.gid) {
            self.set_owner(to.uid, to.gid)?;
            mode = look.mode & 0o1777;
        }
        if mode != wanted || mode != look.mode {
            self.set_mode(wanted)?;
        }
        self.set_time(to.mtime())
    }

    /// The mode that is recorded of it, which has fewer rights where there is an access list.
    fn recorded_mode(&self, look: &Look) -> u16 {
        let read = |acl: &mut [u8]| match &self.place {
            Some(place) => fs::getxattr(place, disk::ACL, acl),
            None => fs::fgetxattr(&self.fd, disk::ACL, acl),
        };
        disk::mode_without(read, look.mode)
    }

    fn set_owner(&self, uid: u32, gid: u32) -> std::result::Result<(), Errno> {
        let (uid, gid) = (Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
        fs::chownat(&self.fd, "", uid, gid, AtFlags::EMPTY_PATH)
    }

    fn set_mode(&self, mode: u16) -> std::result::Result<(), Errno> {
        let mode = Mode::from_raw_mode(mode.into());
        match &self.place {
            Some(place) => fs::chmod(place, mode),
            None => fs::fchmod(&self.fd, mode),
        }
    }

    fn set_time(&self, mtime: Mtime) -> std::result::Result<(), Errno> {
        let times = disk::timestamps(mtime);
        match &self.place {
            Some(place) => fs::utimensat(CWD, place, &times, AtFlags::empty()),
            None => fs::futimens(&self.fd, &times),
        }
    }

    fn set_xattrs(
        &self,
        look: &Look,
        from: Option<&Attributes>,
        to: &Attributes,
    ) -> std::result::Result<(), Errno> {
        let (old, new) = (from.map(Attributes::xattrs).unwrap_or_default(), to.xattrs());
        if old.is_empty() && new.is_empty() {
            return Ok(());
        }
        // Attributes need the right to write, also of the owner.
        let closed = look.mode & 0o200 == 0;
        if closed {
            self.set_mode(look.mode | 0o200)?;
        }
        for (name, _) in old.iter().filter(|(name, _)| !new.iter().any(|(it, _)| it == name)) {
            match self.remove_xattr(OsStr::from_bytes(name)) {
                Ok(()) | Err(Errno::NODATA) => {}
                Err(error) => return Err(error),
            }
        }
        for (name, value) in &new {
            self.set_xattr(OsStr::from_bytes(name), value)?;
        }
        if closed { self.set_mode(look.mode) } else { Ok(()) }
    }

    fn set_xattr(&self, name: &OsStr, value: &[u8]) -> std::result::Result<(), Errno> {
        match &self.place {
            Some(place) => fs::setxattr(place, name, value, XattrFlags::empty()),
            None => fs::fsetxattr(&self.fd, name, value, XattrFlags::empty()),
        }
    }

    fn remove_xattr(&self, name: &OsStr) -> std::result::Result<(), Errno> {
        match &self.place {
            Some(place) => fs::removexattr(place, name),
            None => fs::fremovexattr(&self.fd, name),
        }
    }
}
