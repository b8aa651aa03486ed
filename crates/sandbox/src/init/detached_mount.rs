//! Mounts that are not attached anywhere yet, and attaching them.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use super::step::{Detail, Failure, Step, step};
use crate::script::OverlayScript;
use crate::sys;

/// The attributes of mounts that the command can neither change nor gain anything by.
pub(super) const RESTRICTED: u64 =
    libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// Stacks layers. Names are short and relative, so no number of them exceeds what a call takes.
pub(super) fn overlay(layers: &OverlayScript, name: Step) -> Result<OwnedFd, Failure> {
    let context = step(name, fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC))?;
    let mount = configure_overlay(context.as_fd(), layers);
    let mount = mount.map_err(|errno| {
        let detail = kernel_log(context.as_fd());
        Failure { step: name, errno, index: 0, detail }
    })?;
    // A work directory that was used before makes the kernel mount without a word, but read-only.
    let flags = step(name, rustix::fs::fstatvfs(&mount))?.f_flag;
    let read_only = flags.contains(rustix::fs::StatVfsMountFlags::RDONLY);
    match read_only && layers.upper.is_some() {
        true => step(Step::ReadOnlyLayers, Err(Errno::ROFS)),
        false => Ok(mount),
    }
}

fn configure_overlay(context: BorrowedFd<'_>, layers: &OverlayScript) -> Result<OwnedFd, Errno> {
    fsconfig_set_string(context, c"source", c"offshoot")?;
    fsconfig_set_flag(context, c"userxattr")?;
    for lower in &layers.lower {
        fsconfig_set_string(context, c"lowerdir+", lower.as_c_str())?;
    }
    for data in &layers.data {
        fsconfig_set_string(context, c"datadir+", data.as_c_str())?;
    }
    if let Some(upper) = &layers.upper {
        // Durability is the seal's job: the kernel syncs nothing on unmount.
        fsconfig_set_flag(context, c"volatile")?;
        fsconfig_set_string(context, c"upperdir", upper.directory.as_c_str())?;
        fsconfig_set_string(context, c"workdir", upper.work.as_c_str())?;
    }
    finish_mount(context)
}

pub(super) fn finish_mount(context: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    fsconfig_create(context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// What the kernel has to say about a mount that failed.
fn kernel_log(context: BorrowedFd<'_>) -> Detail {
    let mut detail = Detail::NONE;
    // Messages start with a letter for their weight and a blank.
    match rustix::io::read(context, &mut detail.text) {
        Ok(length) if length > 2 => {
            detail.text.copy_within(2..length, 0);
            detail.length = (length - 2) as u8;
            detail
        }
        _ => Detail::NONE,
    }
}

pub(super) fn clone_mount(path: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    open_tree(CWD, path, flags)
}

pub(super) fn clone_tree(path: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(CWD, path, flags)?;
    sys::restrict_mounts(tree.as_fd(), RESTRICTED)?;
    Ok(tree)
}

/// Puts a mount at a path.
pub(super) fn attach(mount: BorrowedFd<'_>, path: &CStr) -> Result<(), Errno> {
    move_mount(mount, c"", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

pub(super) fn tmpfs(mode: &CStr) -> Result<OwnedFd, Errno> {
    let context = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, c"mode", mode)?;
    finish_mount(context.as_fd())
}

/// One that commands write to: at most so large, and of so many files that their names alone cannot fill the machine.
pub(super) fn sized_tmpfs(mode: &CStr, size: Option<&CString>) -> Result<OwnedFd, Errno> {
    const FILES: &CStr = c"1048576";
    let context = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, c"mode", mode)?;
    fsconfig_set_string(&context, c"nr_inodes", FILES)?;
    if let Some(size) = size {
        fsconfig_set_string(&context, c"size", size.as_c_str())?;
    }
    finish_mount(context.as_fd())
}

pub(super) fn devpts() -> Result<OwnedFd, Errno> {
    let context = fsopen(c"devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, c"ptmxmode", c"0666")?;
    fsconfig_set_string(&context, c"mode", c"0620")?;
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}
