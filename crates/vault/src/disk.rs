//! File system calls that the standard library lacks: relative to directories, on bytes, with xattrs and holes.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, Dir, Mode, OFlags, Timespec, Timestamps};
use rustix::io::Errno;

use crate::entry::{Mtime, Xattr};

/// What `user.overlay.` xattrs are called inside a layer, where overlayfs reads the plain ones itself.
const OVERLAY: &[u8] = b"user.overlay.";
const ESCAPED_OVERLAY: &[u8] = b"user.overlay.overlay.";

/// Longer paths are opened in steps, since the kernel takes at most 4,096 bytes at once.
const STEP: usize = 3_800;

pub(crate) fn bytes_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Opens a directory by a host path of any length.
pub(crate) fn open_dir(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    if path.as_os_str().len() <= STEP {
        return Ok(fs::open(path, flags, Mode::empty())?);
    }
    let bytes = path.as_os_str().as_bytes();
    let start = if path.is_absolute() { "/" } else { "." };
    let top = fs::open(start, flags, Mode::empty())?;
    open_below(top.as_fd(), bytes, flags)
}

/// Opens something below a directory by a path of any length; no symbolic link on the way is followed by the last
/// name.
pub(crate) fn open_below(dir: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut rest = path;
    while rest.first() == Some(&b'/') {
        rest = &rest[1..];
    }
    if rest.is_empty() {
        return Ok(fs::openat(dir, ".", flags, Mode::empty())?);
    }
    let mut held: Option<OwnedFd> = None;
    while rest.len() > STEP {
        let end = rest[..STEP].iter().rposition(|&byte| byte == b'/');
        let end = end.ok_or(Errno::NAMETOOLONG)?;
        let at = held.as_ref().map_or(dir, |fd| fd.as_fd());
        let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        held = Some(fs::openat(at, bytes_path(&rest[..end]), step, Mode::empty())?);
        rest = &rest[end + 1..];
    }
    let at = held.as_ref().map_or(dir, |fd| fd.as_fd());
    Ok(fs::openat(at, bytes_path(rest), flags, Mode::empty())?)
}

/// The names in an open directory, sorted by bytes.
pub(crate) fn names(dir: BorrowedFd<'_>) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The `user.` xattrs of an open file, sorted, and how many others it has that are not kept.
pub(crate) fn xattrs(fd: BorrowedFd<'_>) -> io::Result<(Vec<Xattr>, Vec<String>)> {
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
        if name.starts_with(b"user.") {
            kept.extend(xattr(fd, name)?.map(|value| (name.to_vec(), value)));
        } else {
            others.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    kept.sort_unstable();
    Ok((kept, others))
}

fn xattr(fd: BorrowedFd<'_>, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let mut value = vec![0u8; 65_536];
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
pub(crate) fn set_xattrs(
    fd: BorrowedFd<'_>,
    xattrs: &[Xattr],
    inside_layer: bool,
) -> io::Result<()> {
    for (name, value) in xattrs {
        let escaped = match name.strip_prefix(OVERLAY) {
            Some(rest) if inside_layer => [ESCAPED_OVERLAY, rest].concat(),
            _ => name.clone(),
        };
        fs::fsetxattr(fd, OsStr::from_bytes(&escaped), value, fs::XattrFlags::empty())?;
    }
    Ok(())
}

/// The times to set for an entry: its mtime, and the access time left alone.
pub(crate) fn timestamps(mtime: Mtime) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: fs::UTIME_OMIT },
        last_modification: Timespec { tv_sec: mtime.seconds, tv_nsec: mtime.nanoseconds.into() },
    }
}

/// Sets the mtime of a name in a directory, of a link itself where it is one.
pub(crate) fn set_mtime_at(dir: BorrowedFd<'_>, name: &[u8], mtime: Mtime) -> io::Result<()> {
    fs::utimensat(dir, bytes_path(name), &timestamps(mtime), AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}

/// Makes `to` a copy of `from`, sharing blocks where the file system can, else keeping holes.
pub(crate) fn copy_contents(from: &File, to: &File, size: u64) -> io::Result<()> {
    if fs::ioctl_ficlone(to, from).is_ok() {
        return Ok(());
    }
    fs::ftruncate(to, size)?;
    let mut at = 0u64;
    while at < size {
        let data = match fs::seek(from, fs::SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(Errno::NXIO) => break,
            // No holes on this file system: all is data.
            Err(Errno::INVAL) => at,
            Err(error) => return Err(error.into()),
        };
        let hole = fs::seek(from, fs::SeekFrom::Hole(data)).unwrap_or(size).min(size);
        copy_range(from, to, data, hole)?;
        at = hole.max(data + 1);
    }
    Ok(())
}

fn copy_range(from: &File, to: &File, start: u64, end: u64) -> io::Result<()> {
    let (mut read_at, mut write_at) = (start, start);
    while read_at < end {
        let length = usize::try_from(end - read_at).unwrap_or(usize::MAX).min(1 << 30);
        match fs::copy_file_range(from, Some(&mut read_at), to, Some(&mut write_at), length) {
            // The file became shorter; whoever compares sizes or hashes afterwards notices.
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(Errno::XDEV | Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {
                return copy_by_hand(from, to, read_at, end);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn copy_by_hand(from: &File, to: &File, mut at: u64, end: u64) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let mut buffer = vec![0u8; 1 << 18];
    while at < end {
        let want = usize::try_from(end - at).unwrap_or(usize::MAX).min(buffer.len());
        let got = from.read_at(&mut buffer[..want], at)?;
        if got == 0 {
            return Ok(());
        }
        to.write_all_at(&buffer[..got], at)?;
        at += got as u64;
    }
    Ok(())
}

/// Syncs a directory, so that the names in it survive a power cut.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    Ok(fs::fsync(open_dir(path)?)?)
}

/// Removes a directory with everything in it, whatever modes its directories have. Missing is fine.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path)?;
            std::fs::remove_dir_all(path)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Gives the owner access to every directory of a tree, so that it can be removed.
fn open_up(path: &Path) -> io::Result<()> {
    let mut folders: Vec<PathBuf> = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        fs::chmod(&folder, Mode::RWXU)?;
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}
