//! File system calls that the standard library lacks: relative to directories, on bytes, with xattrs and holes.

mod acl;
mod copy;
mod remove;
mod sync;

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{self, AtFlags, Dir, Mode, OFlags, ResolveFlags, Timespec, Timestamps};
use rustix::io::Errno;

use crate::attributes::{Mtime, Xattr};

pub use acl::{ACL, mode_beside, mode_without, mode_without_acl, narrow};
pub use copy::{CopyError, copy_contents, is_sparse};
pub use remove::remove_tree;
pub use sync::syncs_each;

/// What `user.overlay.` xattrs are called inside a layer, where overlayfs reads the plain ones itself.
const OVERLAY: &[u8] = b"user.overlay.";
const ESCAPED_OVERLAY: &[u8] = b"user.overlay.overlay.";

/// Longer paths are opened in steps, since the kernel takes at most 4,096 bytes at once.
const STEP: usize = 3_800;
/// The longest name of an xattr.
const LONGEST_XATTR: usize = 255;
/// The longest value of an xattr.
pub const LONGEST_XATTR_VALUE: usize = 65_536;

/// Bytes as a path of the host.
#[inline]
pub fn bytes_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The path of a name below a directory.
#[inline]
pub fn join(parent: &[u8], name: &[u8]) -> Vec<u8> {
    if parent.is_empty() { name.to_vec() } else { [parent, name].join(&b'/') }
}

/// The directory of a path, empty for the top, and its last name.
#[inline]
pub fn split_last(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[], path),
    }
}

/// Opens a directory by a host path of any length. Symbolic links on the way are followed.
pub fn open_dir(path: &Path) -> io::Result<OwnedFd> {
    open_dir_with(path, OFlags::RDONLY)
}

/// The same only to open things below it, which takes no right to read it.
pub fn open_dir_path(path: &Path) -> io::Result<OwnedFd> {
    open_dir_with(path, OFlags::PATH)
}

fn open_dir_with(path: &Path, how: OFlags) -> io::Result<OwnedFd> {
    let flags = how | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if path.as_os_str().len() <= STEP {
        return Ok(fs::open(path, flags, Mode::empty())?);
    }
    let start = if path.is_absolute() { "/" } else { "." };
    let top = fs::open(start, flags, Mode::empty())?;
    let step = |at: BorrowedFd<'_>, part: &[u8], flags: OFlags| {
        fs::openat(at, bytes_path(part), flags | OFlags::CLOEXEC, Mode::empty())
    };
    Ok(open_in_steps(top.as_fd(), path.as_os_str().as_bytes(), flags, step)?)
}

/// Opens something below a directory by a path of any length. No symbolic link is followed anywhere on the way, so it
/// cannot lead out of the directory, whoever changes names meanwhile.
pub fn open_below(dir: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    open_in_steps(dir, path, flags, open_plain)
}

/// Opens a relative path that the kernel takes at once, without following symbolic links.
fn open_plain(at: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if !path.contains(&b'/') {
        return fs::openat(at, bytes_path(path), flags, Mode::empty());
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match fs::openat2(at, bytes_path(path), flags, Mode::empty(), resolve) {
        // Some sandboxes do not know the call: then name by name.
        Err(Errno::NOSYS | Errno::PERM) => open_by_names(at, path, flags),
        // Somebody moved a directory out of this one while it was walked through: here it is no more.
        Err(Errno::XDEV) => Err(Errno::NOENT),
        other => other,
    }
}

fn open_by_names(at: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let (parents, last) = split_last(path);
    let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut held = fs::openat(at, ".", step, Mode::empty())?;
    for name in parents.split(|&byte| byte == b'/') {
        held = fs::openat(&held, bytes_path(name), step, Mode::empty())?;
    }
    fs::openat(&held, bytes_path(last), flags, Mode::empty())
}

/// Opens a path of any length by parts that the kernel takes.
fn open_in_steps(
    dir: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
    open: impl Fn(BorrowedFd<'_>, &[u8], OFlags) -> Result<OwnedFd, Errno>,
) -> Result<OwnedFd, Errno> {
    let start = path.iter().position(|&byte| byte != b'/').unwrap_or(path.len());
    let mut rest = &path[start..];
    if rest.is_empty() {
        return open(dir, b".", flags);
    }
    let mut held: Option<OwnedFd> = None;
    while rest.len() > STEP {
        let end = rest[..STEP].iter().rposition(|&byte| byte == b'/');
        let end = end.ok_or(Errno::NAMETOOLONG)?;
        let at = held.as_ref().map_or(dir, |fd| fd.as_fd());
        held = Some(open(at, &rest[..end], OFlags::PATH | OFlags::DIRECTORY)?);
        rest = &rest[end + 1..];
    }
    open(held.as_ref().map_or(dir, |fd| fd.as_fd()), rest, flags)
}

/// The names in an open directory, sorted by bytes.
pub fn names(dir: BorrowedFd<'_>) -> io::Result<Vec<Vec<u8>>> {
    listed(Dir::read_from(dir)?)
}

/// The same for a directory that only whoever opened it may list: it is not opened anew.
pub fn names_as_opened(dir: BorrowedFd<'_>) -> io::Result<Vec<Vec<u8>>> {
    let mut listing = Dir::new(dir.try_clone_to_owned()?)?;
    listing.rewind();
    listed(listing)
}

fn listed(listing: Dir) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in listing {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The `user.` xattrs of an open file, sorted, and the names of others that are not kept.
pub fn xattrs(fd: BorrowedFd<'_>) -> io::Result<(Vec<Xattr>, Vec<String>)> {
    xattrs_that(fd, is_kept_xattr)
}

/// Whether a tree may have an xattr of that name: one that users can set, and that has room in a layer.
pub fn is_kept_xattr(name: &[u8]) -> bool {
    let own = name.strip_prefix(b"user.").is_some_and(|own| !own.is_empty());
    own && escaped(name).len() <= LONGEST_XATTR && !name.contains(&0)
}

/// The same of a file inside a layer, with the names they have there: those that overlayfs would read are escaped already.
pub fn layer_xattrs(fd: BorrowedFd<'_>) -> io::Result<(Vec<Xattr>, Vec<String>)> {
    xattrs_that(fd, |name| name.starts_with(b"user."))
}

fn xattrs_that(
    fd: BorrowedFd<'_>,
    is_kept: impl Fn(&[u8]) -> bool,
) -> io::Result<(Vec<Xattr>, Vec<String>)> {
    let mut list = vec![0u8; 256];
    let list = loop {
        match fs::flistxattr(fd, list.as_mut_slice()) {
            Ok(0) => return Ok((Vec::new(), Vec::new())),
            Ok(length) => break list[..length].to_vec(),
            Err(Errno::RANGE) => list = vec![0; 65_536],
            Err(Errno::OPNOTSUPP) => return Ok((Vec::new(), Vec::new())),
            Err(error) => return Err(error.into()),
        }
    };
    let mut kept = Vec::new();
    let mut others = Vec::new();
    for name in list.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        if is_kept(name) {
            kept.extend(xattr(fd, name)?.map(|value| (name.to_vec(), value)));
        } else {
            others.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    kept.sort_unstable();
    Ok((kept, others))
}

fn xattr(fd: BorrowedFd<'_>, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let mut value = vec![0u8; LONGEST_XATTR_VALUE];
    match fs::fgetxattr(fd, OsStr::from_bytes(name), value.as_mut_slice()) {
        Ok(length) => {
            value.truncate(length);
            Ok(Some(value))
        }
        Err(Errno::NODATA) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Sets the xattrs of an open file; inside a layer those that overlayfs would read are escaped.
pub fn set_xattrs(fd: BorrowedFd<'_>, xattrs: &[Xattr], inside_layer: bool) -> io::Result<()> {
    for (name, value) in xattrs {
        let name = if inside_layer { escaped(name) } else { name.clone() };
        fs::fsetxattr(fd, OsStr::from_bytes(&name), value, fs::XattrFlags::empty())?;
    }
    Ok(())
}

/// What an xattr is called inside a layer.
fn escaped(name: &[u8]) -> Vec<u8> {
    match name.strip_prefix(OVERLAY) {
        Some(rest) => [ESCAPED_OVERLAY, rest].concat(),
        None => name.to_vec(),
    }
}

/// The times to set for an entry: its mtime, and the access time left alone.
pub fn timestamps(mtime: Mtime) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: fs::UTIME_OMIT },
        last_modification: Timespec { tv_sec: mtime.seconds, tv_nsec: mtime.nanoseconds.into() },
    }
}

/// Sets the mtime of a name in a directory, of a link itself where it is one.
pub fn set_mtime_at(dir: BorrowedFd<'_>, name: &[u8], mtime: Mtime) -> io::Result<()> {
    fs::utimensat(dir, bytes_path(name), &timestamps(mtime), AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}

/// Makes durable all that was written to the file system of a path.
pub fn sync_file_system(path: &Path) -> io::Result<()> {
    Ok(fs::syncfs(open_dir(path)?)?)
}

/// Syncs a directory, so that the names in it survive a power cut.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    Ok(fs::fsync(open_dir(path)?)?)
}
