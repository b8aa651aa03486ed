//! Landlock: rules about files that a process gives itself for good.

use std::ffi::{c_int, c_long};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use rustix::io::Errno;

use super::check;

/// What can be done to files, by the kernel's bits.
pub(crate) mod access {
    /// Executing, and reading files and directories.
    pub(crate) const READ: u64 = 1 << 0 | 1 << 2 | 1 << 3;
    pub(crate) const WRITE_FILE: u64 = 1 << 1;
    /// Removing and making every kind of entry.
    pub(crate) const ENTRIES: u64 = 0x1ff << 4;
    /// Making what is neither a file nor a directory: devices, sockets, pipes and symbolic links.
    pub(crate) const SPECIAL: u64 = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12;
    /// Moving and linking from directory to directory.
    pub(crate) const REFER: u64 = 1 << 13;
    pub(crate) const TRUNCATE: u64 = 1 << 14;
    /// Requests to devices.
    pub(crate) const IOCTL_DEV: u64 = 1 << 15;
    /// Those that mean something for what is no directory.
    pub(crate) const OF_FILES: u64 = 1 << 0 | 1 << 2 | WRITE_FILE | TRUNCATE | IOCTL_DEV;
}

/// What reaches beyond those who have the same rules.
pub(crate) mod scope {
    pub(crate) const ABSTRACT_UNIX_SOCKET: u64 = 1 << 0;
    pub(crate) const SIGNAL: u64 = 1 << 1;
}

#[repr(C)]
struct RulesetAttr {
    handled_access_fs: u64,
    handled_access_net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneathAttr {
    allowed_access: u64,
    parent_fd: RawFd,
}

/// The version of the kernel's rules.
pub(crate) fn version() -> Result<c_long, Errno> {
    const VERSION: c_int = 1;
    // SAFETY: with this flag the kernel takes no struct.
    check(unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::null::<RulesetAttr>(),
            0usize,
            VERSION,
        )
    })
}

/// Rules that allow none of these.
pub(crate) fn create(handled_access_fs: u64, scoped: u64) -> Result<OwnedFd, Errno> {
    let attr = RulesetAttr { handled_access_fs, handled_access_net: 0, scoped };
    // Older kernels take a shorter struct.
    let size = if scoped == 0 { size_of::<u64>() } else { size_of_val(&attr) };
    // SAFETY: the struct is valid for that size.
    let fd = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attr, size, 0) };
    // SAFETY: the kernel has made a new descriptor, which nobody else knows.
    check(fd).map(|fd| unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Allows something for a file, or a directory and all below it.
pub(crate) fn allow(
    ruleset: BorrowedFd<'_>,
    beneath: BorrowedFd<'_>,
    allowed_access: u64,
) -> Result<(), Errno> {
    const PATH_BENEATH: c_int = 1;
    let attr = PathBeneathAttr { allowed_access, parent_fd: beneath.as_raw_fd() };
    // SAFETY: the struct is valid and only read.
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            PATH_BENEATH,
            &raw const attr,
            0,
        )
    };
    check(result).map(drop)
}

/// From now on this process and its children are held to the rules.
pub(crate) fn restrict(ruleset: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: takes numbers.
    let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) };
    check(result).map(drop)
}

/// Whether rules about files hold for this process, which still has its capabilities: whoever is held to any can change no mount. What is asked for
/// is so already.
pub(crate) fn guards_files() -> bool {
    let none = ptr::null();
    // SAFETY: the path ends with NUL; this kind of request takes no other string.
    let result = unsafe { libc::mount(none, c"/".as_ptr(), none, libc::MS_PRIVATE, ptr::null()) };
    check(result.into()) == Err(Errno::PERM)
}

/// Whether rules about reading hold for this process: everybody else can open the root.
pub(crate) fn guards_reads() -> bool {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    matches!(rustix::fs::open(c"/", flags, Mode::empty()), Err(Errno::ACCESS))
}

/// Whether this process cannot signal another, which its user may.
pub(crate) fn guards_from(process: i32) -> bool {
    // SAFETY: takes numbers; the signal is none.
    let result = unsafe { libc::kill(process, 0) };
    check(result.into()) == Err(Errno::PERM)
}
