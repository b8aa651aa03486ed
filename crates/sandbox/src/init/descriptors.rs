//! Where the init keeps its descriptors.

use std::os::fd::{BorrowedFd, RawFd};

use rustix::io::Errno;

use crate::sys;

/// Where the init keeps its end of the socket.
pub(super) const SOCKET: RawFd = 3;

/// Where the init keeps the socket that it listens at.
pub(super) const DOOR: RawFd = SOCKET + 1;

/// Where the init keeps the rules of Landlock.
pub(super) const RULESET: RawFd = 63;

/// Where a process that only opens files keeps the directory.
pub(super) const TOP: RawFd = 0;

/// The init's end of the socket to its caller.
pub(super) fn socket<'a>() -> BorrowedFd<'a> {
    sys::borrow(SOCKET)
}

/// Lets go of the standard input, output and error of a command that was started. Something else is there then, so that
/// nothing that is opened later gets their numbers.
pub(super) fn let_go_of_streams() {
    for standard in 0..3 {
        if sys::duplicate(SOCKET, standard, true).is_err() {
            sys::close(standard);
        }
    }
}

/// Puts the descriptors at their places and closes all others: the parent may have many, of other commands too.
pub(super) fn place_descriptors<const N: usize>(descriptors: [RawFd; N]) -> Result<(), Errno> {
    const FREE: RawFd = 64;
    let mut above = [0; N];
    for (at, descriptor) in descriptors.into_iter().enumerate() {
        above[at] = sys::duplicate_above(descriptor, FREE)?;
    }
    for (at, descriptor) in above.into_iter().enumerate() {
        sys::duplicate(descriptor, at as RawFd, at as RawFd >= SOCKET)?;
    }
    sys::close_from(N as u32)
}
