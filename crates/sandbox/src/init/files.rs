//! Directories and devices of the inside.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, open_tree};

use super::detached_mount::{attach, devpts, tmpfs};
use crate::sys;

/// The devices that every program may expect: on the host, inside.
const DEVICES: [&CStr; 6] =
    [c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/random", c"/dev/urandom", c"/dev/tty"];
/// Names in `/dev` that lead elsewhere.
const LINKS: [(&CStr, &CStr); 5] = [
    (c"/proc/self/fd", c"/dev/fd"),
    (c"/proc/self/fd/0", c"/dev/stdin"),
    (c"/proc/self/fd/1", c"/dev/stdout"),
    (c"/proc/self/fd/2", c"/dev/stderr"),
    (c"pts/ptmx", c"/dev/ptmx"),
];

/// The attributes of their mounts.
const DEVICE: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;

/// Devices of the host, held while the root changes.
pub(super) struct Devices([Option<OwnedFd>; DEVICES.len()]);

impl Devices {
    /// Takes the devices that the host has.
    pub(super) fn take() -> Self {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        Self(DEVICES.map(|path| open_tree(CWD, path, flags).ok()))
    }

    /// Makes a `/dev` with these devices and no others.
    pub(super) fn mount(&self) -> Result<(), Errno> {
        let top = tmpfs(c"0755")?;
        attach(top.as_fd(), c"/dev")?;
        for (path, device) in DEVICES.iter().zip(&self.0) {
            if let Some(device) = device {
                touch(CWD, path)?;
                // The device is the host's own: it can be used, and its mode and owner cannot be changed.
                sys::restrict_mounts(device.as_fd(), DEVICE)?;
                attach(device.as_fd(), path)?;
            }
        }
        for (target, path) in LINKS {
            rustix::fs::symlink(target, path)?;
        }
        rustix::fs::mkdir(c"/dev/shm", Mode::from_raw_mode(0o1777))?;
        attach(tmpfs(c"1777")?.as_fd(), c"/dev/shm")?;
        rustix::fs::mkdir(c"/dev/pts", Mode::from_raw_mode(0o755))?;
        attach(devpts()?.as_fd(), c"/dev/pts")
    }
}

/// Makes an empty file.
pub(super) fn touch(at: impl AsFd, path: &CStr) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    rustix::fs::openat(at, path, flags, Mode::from_raw_mode(0o666)).map(drop)
}

/// Makes a file that everybody can read.
pub(super) fn write(path: &CStr, content: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::from_raw_mode(0o644))?;
    let mut rest = content;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = &rest[written..];
    }
    Ok(())
}

/// Makes the directories that are missing where that is possible; what needs them fails with a better word.
pub(super) fn make_directories(paths: &[CString]) {
    for path in paths {
        let _exists_or_read_only =
            rustix::fs::mkdir(path.as_c_str(), Mode::from_raw_mode(0o755)).is_err();
    }
}
