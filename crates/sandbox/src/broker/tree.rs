//! A second tree of directories in which every file has a second name, and taking such a tree away again.
//!
//! Files are linked and never copied: whoever has one open goes on writing to the same file, and the first tree stays
//! whole until the second one is. The kernel copies a linked file of a lower layer up by itself.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, XattrFlags, chownat,
    fgetxattr, flistxattr, fsetxattr, fstat, futimens, linkat, mkdirat, openat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::sys::seccomp::change_mode;

/// How a tree is worked on.
pub(super) struct Means<'a> {
    /// The device that everything lies on.
    pub(super) device: u64,
    /// What is closed to its owner need not be opened first.
    pub(super) opens_everything: bool,
    /// Whether to go on.
    pub(super) wanted: &'a dyn Fn() -> bool,
}

/// What a directory had in it when it was linked.
#[derive(Default)]
pub(super) struct Linked(pub(super) BTreeMap<CString, Found>);

/// Something that was linked.
pub(super) enum Found {
    /// The inode by its first name and by its second. The same file may have two numbers as long as the kernel
    /// remembers from which layer it is.
    File([u64; 2]),
    /// The inode of the first directory, and what is in it.
    Directory(u64, Linked),
}

/// Directories that had to be opened to their owner, with their modes before.
#[derive(Default)]
pub(super) struct Opened(Vec<(OwnedFd, u32)>);

impl Opened {
    /// Closes them again.
    pub(super) fn close(self) {
        for (directory, mode) in self.0.into_iter().rev() {
            let _gone = change_mode(directory.as_fd(), mode).is_err();
        }
    }
}

const LIST: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const POINT: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// What an owner needs to list, to find, and to change names.
const ALL: u32 = 0o700;
const LOOK: u32 = 0o500;

/// Makes `to`, which is an empty directory of ours, a second tree of `from`.
pub(super) fn link(
    means: &Means<'_>,
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    opened: &mut Opened,
) -> Result<Linked, Errno> {
    let mut linked = Linked::default();
    for name in names(from)? {
        if !(means.wanted)() {
            return Err(Errno::INTR);
        }
        let found = match statat(from, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            // It was removed meanwhile.
            Err(Errno::NOENT) => continue,
            Err(errno) => return Err(errno),
        };
        let entry = match is_directory(&found) {
            true => link_directory(means, from, to, &name, &found, opened)?,
            false => match linkat(from, &name, to, &name, AtFlags::empty()) {
                Err(Errno::NOENT) => continue,
                other => {
                    other?;
                    let second = statat(to, &name, AtFlags::SYMLINK_NOFOLLOW)?;
                    Found::File([found.st_ino, second.st_ino])
                }
            },
        };
        linked.0.insert(name, entry);
    }
    // overlayfs notes on the new directory that it has files of lower layers, and takes the note away when it is first
    // listed: that changes its ctime, which nobody is to see who lists it later.
    names(to)?;
    Ok(linked)
}

fn link_directory(
    means: &Means<'_>,
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    name: &CStr,
    found: &Stat,
    opened: &mut Opened,
) -> Result<Found, Errno> {
    // Something is mounted there, which cannot move along.
    if found.st_dev != means.device {
        return Err(Errno::BUSY);
    }
    let first = open(means, from, name, LOOK, opened)?;
    let second = make(to, name)?;
    let inner = link(means, first.as_fd(), second.as_fd(), opened)?;
    settle(first.as_fd(), found, second.as_fd())?;
    Ok(Found::Directory(found.st_ino, inner))
}

/// Makes a directory that is ours alone for now.
pub(super) fn make(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    mkdirat(parent, name, Mode::from_raw_mode(ALL))?;
    openat(parent, name, LIST, Mode::empty())
}

/// Opens a directory to list it, after giving its owner the rights that are needed, where there are none greater.
pub(super) fn open(
    means: &Means<'_>,
    parent: BorrowedFd<'_>,
    name: &CStr,
    needed: u32,
    opened: &mut Opened,
) -> Result<OwnedFd, Errno> {
    if !means.opens_everything {
        let point = openat(parent, name, POINT, Mode::empty())?;
        let found = fstat(&point)?;
        if found.st_dev != means.device {
            return Err(Errno::BUSY);
        }
        let mode = found.st_mode & 0o7777;
        if mode & needed != needed {
            change_mode(point.as_fd(), mode | needed)?;
            opened.0.push((point, mode));
        }
    }
    let directory = openat(parent, name, LIST, Mode::empty())?;
    match fstat(&directory)?.st_dev == means.device {
        true => Ok(directory),
        false => Err(Errno::BUSY),
    }
}

/// Gives a second directory the owner, attributes, mode and times of the first, which was as in `found`.
pub(super) fn settle(
    first: BorrowedFd<'_>,
    found: &Stat,
    second: BorrowedFd<'_>,
) -> Result<(), Errno> {
    copy_attributes(first, second)?;
    let made = fstat(second)?;
    if (made.st_uid, made.st_gid) != (found.st_uid, found.st_gid) {
        let (uid, gid) =
            (rustix::fs::Uid::from_raw(found.st_uid), rustix::fs::Gid::from_raw(found.st_gid));
        chownat(second, c"", Some(uid), Some(gid), AtFlags::EMPTY_PATH)?;
    }
    change_mode(second, found.st_mode & 0o7777)?;
    futimens(second, &times(found))
}

/// The times of something, to be set again.
pub(super) fn times(found: &Stat) -> Timestamps {
    let time = |seconds, nanoseconds| Timespec { tv_sec: seconds, tv_nsec: nanoseconds as _ };
    Timestamps {
        last_access: time(found.st_atime, found.st_atime_nsec),
        last_modification: time(found.st_mtime, found.st_mtime_nsec),
    }
}

fn copy_attributes(first: BorrowedFd<'_>, second: BorrowedFd<'_>) -> Result<(), Errno> {
    let names = match grow(|space| flistxattr(first, space)) {
        Ok(names) => names,
        Err(Errno::OPNOTSUPP) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    for name in names.split_inclusive(|byte| *byte == 0) {
        let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
        let value = match grow(|space| fgetxattr(first, name, space)) {
            Ok(value) => value,
            Err(Errno::NODATA) => continue,
            Err(errno) => return Err(errno),
        };
        match fsetxattr(second, name, &value, XattrFlags::empty()) {
            Ok(()) => {}
            // Labels that the system gives by itself cannot be given by everyone.
            Err(_) if !name.to_bytes().starts_with(b"user.") => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Calls with more space until it is enough.
fn grow(call: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut space = vec![0; 1024];
    loop {
        match call(&mut space) {
            Ok(length) => {
                space.truncate(length);
                return Ok(space);
            }
            Err(Errno::RANGE) if space.len() < 1 << 20 => space.resize(space.len() * 4, 0),
            Err(errno) => return Err(errno),
        }
    }
}

/// The names in a directory.
pub(super) fn names(directory: BorrowedFd<'_>) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Takes a tree away that nobody but us knows.
pub(super) fn discard(means: &Means<'_>, parent: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    let mut opened = Opened::default();
    let directory = open(means, parent, name, ALL, &mut opened)?;
    for name in names(directory.as_fd())? {
        let found = statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW)?;
        match is_directory(&found) {
            true => discard(means, directory.as_fd(), &name)?,
            false => unlinkat(&directory, &name, AtFlags::empty())?,
        }
    }
    unlinkat(parent, name, AtFlags::REMOVEDIR)
}

pub(super) fn is_directory(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::Directory
}
