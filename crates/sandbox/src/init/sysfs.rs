//! What of `/sys` is not for commands.

use std::ffi::CStr;
use std::os::fd::AsFd;

use rustix::io::Errno;

use super::detached_mount::{RESTRICTED, attach, clone_mount, tmpfs};
use crate::sys;

/// What tells of the whole machine or changes it, and what no program needs: firmware, traces and switches of the kernel, its
/// security modules, sleep, meters of power, crashes of before.
const MASKED: [&CStr; 11] = [
    c"/sys/devices/virtual/powercap",
    c"/sys/firmware",
    c"/sys/fs/bpf",
    c"/sys/fs/pstore",
    c"/sys/fs/selinux",
    c"/sys/kernel/config",
    c"/sys/kernel/debug",
    c"/sys/kernel/security",
    c"/sys/kernel/slab",
    c"/sys/kernel/tracing",
    c"/sys/power",
];

/// Covers it with one empty directory.
pub(super) fn mask() -> Result<(), Errno> {
    let empty = tmpfs(c"0555")?;
    sys::restrict_mounts(empty.as_fd(), RESTRICTED)?;
    // Older kernels copy a mount only once it is attached.
    let mut attached = None;
    for path in MASKED {
        if rustix::fs::access(path, rustix::fs::Access::EXISTS) == Err(Errno::NOENT) {
            continue;
        }
        match attached {
            None => attach(empty.as_fd(), path)?,
            Some(first) => attach(clone_mount(first)?.as_fd(), path)?,
        }
        attached.get_or_insert(path);
    }
    Ok(())
}

/// Whether nothing of it can be seen.
pub(super) fn is_masked() -> bool {
    const TMPFS: i64 = 0x0102_1994;
    MASKED.iter().all(|path| match rustix::fs::statfs(*path) {
        Ok(found) => found.f_type == TMPFS,
        Err(errno) => errno == Errno::NOENT,
    })
}
