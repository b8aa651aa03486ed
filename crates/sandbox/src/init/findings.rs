//! Asking the kernel what is in force.

use std::ffi::CStr;

use rustix::fs::{Mode, OFlags, StatVfsMountFlags};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities, no_new_privs};

use super::sysfs;
use crate::in_force::{Findings, Restriction};
use crate::sys;

/// What a limit is called that there is none of.
pub(crate) const UNLIMITED: i64 = -1;

/// What can be asked of the mounts, by who can reach all of them.
pub(super) fn of_mounts(target: &CStr, devices: bool) -> Findings {
    let mut found = Findings::default();
    found.add(Restriction::ReadOnlyRoot, is_read_only(c"/"));
    found.add(Restriction::MinimalDev, devices);
    found.add(Restriction::ReadOnlyProc, is_read_only(c"/proc/sys"));
    found.add(Restriction::ListedRoot, is_composed(c"/"));
    found.add(Restriction::OwnIds, is_nobody_outside());
    found.add(Restriction::MaskedSysfs, sysfs::is_masked());
    found.add_writable(!is_read_only(target));
    found
}

/// What can be asked about the process that is about to be the command, by itself. The filter of calls is asked about last.
pub(super) fn of_process() -> Findings {
    let mut found = Findings::default();
    found.add(Restriction::NoNewPrivs, no_new_privs().unwrap_or(false));
    found.add(Restriction::NoCapabilities, has_no_capability());
    let core = getrlimit(Resource::Core);
    found.add(Restriction::NoCoreDumps, (core.current, core.maximum) == (Some(0), Some(0)));
    found
}

/// The size of a directory whose files are memory.
pub(super) fn tmpfs(path: Option<&CStr>) -> i64 {
    let found = path.and_then(|path| rustix::fs::statvfs(path).ok());
    let bytes = found.and_then(|found| found.f_blocks.checked_mul(found.f_frsize));
    bytes.and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(UNLIMITED)
}

/// The limits of this process: open files, processes, the size of a file.
pub(super) fn limits() -> [i64; 3] {
    [Resource::Nofile, Resource::Nproc, Resource::Fsize].map(|resource| {
        let current = getrlimit(resource).current;
        current.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(UNLIMITED)
    })
}

fn is_read_only(path: &CStr) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Whether a root was made for the command: the host has no such file system at its top.
fn is_composed(path: &CStr) -> bool {
    const TMPFS: u64 = 0x0102_1994;
    rustix::fs::statfs(path).is_ok_and(|found| found.f_type.cast_unsigned() == TMPFS)
}

/// Whether root inside is another user outside: the first line of the map begins with both.
fn is_nobody_outside() -> bool {
    let mut text = [0u8; 64];
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(c"/proc/self/uid_map", flags, Mode::empty()) else {
        return false;
    };
    let Ok(length) = rustix::io::read(&file, &mut text) else { return false };
    let words = text[..length].split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut words = words.take(2);
    words.next() == Some(b"0") && words.next().is_some_and(|outside| outside != b"0")
}

/// Whether there is none, and none can come back by executing something.
fn has_no_capability() -> bool {
    let none = CapabilitySet::empty();
    let has_none = |sets: rustix::thread::CapabilitySets| {
        [sets.effective, sets.permitted, sets.inheritable] == [none; 3]
    };
    let comes_back = || !sys::is_bounding_set_empty() && no_new_privs() != Ok(true);
    capabilities(None).is_ok_and(has_none) && !comes_back()
}
