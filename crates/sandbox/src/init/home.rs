//! What lies in a home that is kept. Other commands write to it at the same time, so nothing on the way to a place is trusted to be what it was.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2};
use rustix::io::Errno;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};

use super::detached_mount::tmpfs;
use crate::layout::{Place, PlaceKind};
use crate::script::Script;
use crate::sys;

/// No link is followed: one could lead to anywhere on the host.
const PLAINLY: ResolveFlags =
    ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::BENEATH);
/// The attributes of what is the user's own and the command can write to.
const WRITABLE: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOEXEC;
const FOUND: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Makes a place in the home.
pub(super) fn put(
    script: &Script,
    root: BorrowedFd<'_>,
    place: &Place,
    (parent, name): &(CString, CString),
) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = openat2(root, parent.as_c_str(), flags, Mode::empty(), PLAINLY)?;
    match &place.kind {
        PlaceKind::Directory => directory(&parent, name),
        PlaceKind::Link(target) => {
            rustix::fs::symlinkat(target.as_c_str(), &parent, name.as_c_str())
        }
        PlaceKind::Tree | PlaceKind::Shared => {
            directory(&parent, name)?;
            show(script, place, &openat(&parent, name.as_c_str(), FOUND, Mode::empty())?)
        }
        PlaceKind::File => {
            let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
            let mode = Mode::from_raw_mode(0o600);
            drop(openat(&parent, name.as_c_str(), flags | OFlags::CLOEXEC, mode)?);
            show(script, place, &openat(&parent, name.as_c_str(), FOUND, Mode::empty())?)
        }
        // Neither lies in a home.
        PlaceKind::Private(_) | PlaceKind::Home => Ok(()),
    }
}

fn directory(parent: &OwnedFd, name: &CStr) -> Result<(), Errno> {
    match mkdirat(parent, name, Mode::from_raw_mode(0o755)) {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
}

/// Puts what the host has at a place there, and covers what is hidden of it at once: by its path it could be something else a moment later.
fn show(script: &Script, place: &Place, at: &OwnedFd) -> Result<(), Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(CWD, place.path.as_c_str(), flags)?;
    if place.kind == PlaceKind::Shared {
        sys::restrict_mounts(tree.as_fd(), WRITABLE)?;
    }
    let put = |mount: &OwnedFd, at: &OwnedFd| {
        let flags =
            MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        move_mount(mount.as_fd(), c"", at.as_fd(), c"", flags)
    };
    put(&tree, at)?;
    for hidden in &script.hidden {
        let Some(below) = below(hidden, &place.path) else { continue };
        let found = openat2(&tree, below, FOUND, Mode::empty(), PLAINLY);
        let Ok(found) = found else { continue };
        let cover = match FileType::from_raw_mode(fstat(&found)?.st_mode) {
            FileType::Directory => tmpfs(c"0000")?,
            _ => empty_file()?,
        };
        put(&cover, &found)?;
    }
    Ok(())
}

/// What is left of a path below another.
fn below<'p>(path: &'p CStr, above: &CStr) -> Option<&'p CStr> {
    let length = above.to_bytes().len();
    let rest = path.to_bytes_with_nul().get(length..)?;
    let is_below = path.to_bytes().starts_with(above.to_bytes()) && rest.first() == Some(&b'/');
    is_below.then(|| CStr::from_bytes_with_nul(&rest[1..]).ok()).flatten()
}

/// An empty file that nobody reads, as a mount. It is made in the new root, which is the current directory.
fn empty_file() -> Result<OwnedFd, Errno> {
    const ASIDE: &CStr = c".offshoot-cover";
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    drop(openat(CWD, ASIDE, flags, Mode::empty())?);
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let cover = open_tree(CWD, ASIDE, flags);
    rustix::fs::unlink(ASIDE)?;
    cover
}
