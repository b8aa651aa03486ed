//! Being told about system calls of another process, and answering them.

use std::ffi::{c_long, c_ulong};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::{mem, ptr};

use rustix::io::Errno;

use super::check;
use crate::filter::Filter;

/// A call that waits for its answer.
pub(crate) struct Notice {
    /// Its number, to answer it with.
    pub(crate) id: u64,
    /// The thread that made it.
    pub(crate) thread: u32,
    /// Which numbers calls have.
    pub(crate) architecture: u32,
    /// Which call.
    pub(crate) call: i32,
    pub(crate) arguments: [u64; 6],
}

/// How a call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The kernel does what was asked for.
    Continue,
    /// It was done.
    Done,
    /// It could not be done.
    Refused(Errno),
}

/// The names of architectures that the kernel uses.
pub(crate) mod architecture {
    #[cfg(target_arch = "x86_64")]
    pub(crate) const NATIVE: u32 = 0xc000_003e;
    #[cfg(target_arch = "aarch64")]
    pub(crate) const NATIVE: u32 = 0xc000_00b7;
    #[cfg(target_arch = "riscv64")]
    pub(crate) const NATIVE: u32 = 0xc000_00f3;
}

/// The numbers of the calls that are told about.
pub(crate) mod call {
    #[cfg(target_arch = "x86_64")]
    pub(crate) const RENAME: i32 = libc::SYS_rename as i32;
    pub(crate) const RENAMEAT: i32 = libc::SYS_renameat as i32;
    pub(crate) const RENAMEAT2: i32 = libc::SYS_renameat2 as i32;
    #[cfg(target_arch = "x86_64")]
    pub(crate) const LINK: i32 = libc::SYS_link as i32;
    pub(crate) const LINKAT: i32 = libc::SYS_linkat as i32;
}

const NOTIF_RECV: c_ulong = 0xc050_2100;
const NOTIF_SEND: c_ulong = 0xc018_2101;
const NOTIF_ID_VALID: c_ulong = 0x4008_2102;
const NOTIF_SET_FLAGS: c_ulong = 0x4008_2104;
const SYNC_WAKE_UP: c_ulong = 1;

/// From now on whoever has the descriptor is told of the calls of this process and its children. Usable between `clone3`
/// and `execve`.
pub(crate) fn listen(filter: &Filter) -> Result<OwnedFd, Errno> {
    // Only a signal that kills interrupts a call that was received: others would have it made twice.
    let flags =
        libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    // SAFETY: the kernel has made a new descriptor, which nobody else knows.
    set(filter, flags).map(|fd| unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// From now on the calls of this process and its children are filtered.
pub(crate) fn install(filter: &Filter) -> Result<(), Errno> {
    set(filter, 0).map(drop)
}

fn set(filter: &Filter, flags: c_ulong) -> Result<c_long, Errno> {
    let code = filter.code();
    let program = libc::sock_fprog { len: code.len() as u16, filter: code.as_ptr().cast_mut() };
    let mode = libc::SECCOMP_SET_MODE_FILTER;
    // SAFETY: the program is valid and only read.
    check(unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) })
}

/// Asks for a descriptor of a process that there is none of, which fails in any case.
pub(crate) fn take_descriptor_of_nobody() -> Result<(), Errno> {
    // SAFETY: takes numbers.
    check(unsafe { libc::syscall(libc::SYS_pidfd_getfd, -1, -1, 0) }).map(drop)
}

/// Has the kernel run whoever is told on the processor of whoever is waiting, where it can.
pub(crate) fn wake_together(listener: BorrowedFd<'_>) {
    // SAFETY: takes numbers; an older kernel refuses, which changes nothing.
    let _unknown = unsafe { libc::ioctl(listener.as_raw_fd(), NOTIF_SET_FLAGS, SYNC_WAKE_UP) };
}

/// Waits for the next call.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> Result<Notice, Errno> {
    // SAFETY: all zeros is a valid struct, and what the kernel wants to find there.
    let mut notice: libc::seccomp_notif = unsafe { mem::zeroed() };
    // SAFETY: the struct is valid to write to.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), NOTIF_RECV, &raw mut notice) };
    check(result.into())?;
    Ok(Notice {
        id: notice.id,
        thread: notice.pid,
        architecture: notice.data.arch,
        call: notice.data.nr,
        arguments: notice.data.args,
    })
}

/// Answers a call. Whoever made it may be gone.
pub(crate) fn answer(listener: BorrowedFd<'_>, id: u64, answer: Answer) {
    let (error, flags) = match answer {
        Answer::Continue => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
        Answer::Done => (0, 0),
        Answer::Refused(errno) => (-errno.raw_os_error(), 0),
    };
    let response = libc::seccomp_notif_resp { id, val: 0, error, flags };
    // SAFETY: the struct is valid to read.
    let _gone = unsafe { libc::ioctl(listener.as_raw_fd(), NOTIF_SEND, &raw const response) };
}

/// Whether a call still waits. Its thread's number belongs to it only as long as it does.
pub(crate) fn waits(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the number is valid to read.
    unsafe { libc::ioctl(listener.as_raw_fd(), NOTIF_ID_VALID, &raw const id) == 0 }
}

/// Reads a piece of another process's memory for each address, up to the end of its page. Gives how much was read in all;
/// pieces that could not be read are the last ones.
pub(crate) fn read_memory(
    thread: u32,
    addresses: [u64; 2],
    pieces: [&mut [u8]; 2],
) -> Result<usize, Errno> {
    let mut local = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; 2];
    let mut remote = local;
    for (at, piece) in pieces.into_iter().enumerate() {
        local[at] = libc::iovec { iov_base: piece.as_mut_ptr().cast(), iov_len: piece.len() };
        remote[at] =
            libc::iovec { iov_base: addresses[at] as *mut libc::c_void, iov_len: piece.len() };
    }
    // SAFETY: the local pieces are valid to write to for their lengths; what is remote is for the kernel to check.
    let read =
        unsafe { libc::process_vm_readv(thread as i32, local.as_ptr(), 2, remote.as_ptr(), 2, 0) };
    check(read as c_long).map(|read| read as usize)
}

/// Changes the mode of what a descriptor stands for, whatever it was opened for. No link is followed.
pub(crate) fn change_mode(fd: BorrowedFd<'_>, mode: u32) -> Result<(), Errno> {
    const FCHMODAT2: c_long = 452;
    // SAFETY: the path ends with NUL.
    let result = unsafe {
        libc::syscall(FCHMODAT2, fd.as_raw_fd(), c"".as_ptr(), mode, libc::AT_EMPTY_PATH)
    };
    check(result).map(drop)
}
