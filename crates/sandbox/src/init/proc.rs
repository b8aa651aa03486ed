//! A `/proc` of the inside's own processes.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, statat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsmount, fsopen, move_mount, open_tree,
};

use super::detached_mount::attach;
use super::processes::number_of;
use crate::sys;
use offshoot_vocabulary::Demand;

const PROC: &CStr = c"/proc";
const PROC_SELF: &CStr = c"/proc/self";
/// What tells of the whole machine, and what no program needs: keys of all users, memory, messages of the kernel.
const MASKED: [&CStr; 5] = [c"kcore", c"key-users", c"keys", c"kmsg", c"timer_list"];
/// What stands in their place.
const NOTHING: &CStr = c"/dev/null";

/// Makes one, attached nowhere yet. The kernel does so only for who can see all of another one, so this comes before the host's is let go. In a container
/// that hides a part of its own, there is only that one to be had.
pub(super) fn make(demand: Demand) -> Result<OwnedFd, Errno> {
    match fresh() {
        Err(Errno::PERM) if demand != Demand::Required => {
            let flags = OpenTreeFlags::OPEN_TREE_CLONE
                | OpenTreeFlags::OPEN_TREE_CLOEXEC
                | OpenTreeFlags::AT_RECURSIVE;
            let mount = open_tree(CWD, PROC, flags)?;
            let attributes =
                libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOEXEC;
            sys::restrict_mounts(mount.as_fd(), attributes)?;
            Ok(mount)
        }
        other => other,
    }
}

/// Whether it shows the processes of this namespace and no others: it calls them by their own numbers. Without namespaces it does so too, and is nobody's own.
pub(super) fn is_own() -> bool {
    const INIT: u64 = 1;
    let own = rustix::process::getpid().as_raw_nonzero().get().unsigned_abs();
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    let mut space = [0; 16];
    let length = rustix::fs::readlinkat_raw(CWD, PROC_SELF, &mut space).unwrap_or(0);
    let called = space.get(..length).and_then(number_of);
    called == Some(own.into()) && (called == Some(INIT) || parent.unsigned_abs() == 1)
}

fn fresh() -> Result<OwnedFd, Errno> {
    let context = fsopen(c"proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Attaches it, so that nothing but processes can be changed in it: what else there is belongs to the whole machine, and some of it, such as
/// `sys/kernel/core_pattern`, is a way out for whoever is the host's root.
pub(super) fn put(mount: &OwnedFd) -> Result<(), Errno> {
    attach(mount.as_fd(), PROC)?;
    guard()
}

fn guard() -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let top = rustix::fs::open(PROC, flags, Mode::empty())?;
    let mut space = [MaybeUninit::<u8>::uninit(); 4096];
    let mut entries = RawDir::new(&top, &mut space);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        let is_own =
            name.to_bytes().first().is_none_or(|byte| byte.is_ascii_digit() || *byte == b'.');
        if is_own || entry.file_type() == FileType::Symlink {
            continue;
        }
        if MASKED.contains(&name) {
            cover(top.as_fd(), name, (CWD, NOTHING))?;
        } else if entry.file_type() == FileType::Directory || can_be_changed(top.as_fd(), name)? {
            cover(top.as_fd(), name, (top.as_fd(), name))?;
        }
    }
    Ok(())
}

/// Whether it can be written, or its mode changed by whom it belongs to: that holds for the whole machine too.
fn can_be_changed(top: BorrowedFd<'_>, name: &CStr) -> Result<bool, Errno> {
    let found = statat(top, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let is_own = found.st_uid == rustix::process::geteuid().as_raw();
    Ok(is_own
        || Mode::from_raw_mode(found.st_mode).intersects(Mode::WUSR | Mode::WGRP | Mode::WOTH))
}

/// Puts something over an entry that cannot be changed.
fn cover(
    top: BorrowedFd<'_>,
    name: &CStr,
    (at, with): (BorrowedFd<'_>, &CStr),
) -> Result<(), Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    let mount = open_tree(at, with, flags)?;
    let attributes = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
    sys::restrict_mounts(mount.as_fd(), attributes)?;
    move_mount(&mount, c"", top, name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}
