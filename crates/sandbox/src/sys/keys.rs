//! The keyring of a session.

use std::ffi::{c_int, c_long};
use std::ptr;

use rustix::io::Errno;

use super::check;

const GET_KEYRING_ID: c_int = 0;
const JOIN_SESSION_KEYRING: c_int = 1;
const SESSION: c_int = -3;

/// The number of the session keyring of this process.
pub(crate) fn session() -> Result<c_long, Errno> {
    // SAFETY: takes numbers.
    check(unsafe { libc::syscall(libc::SYS_keyctl, GET_KEYRING_ID, SESSION, 0) })
}

/// Takes a new and empty one, which nobody else has.
pub(crate) fn take_own() -> Result<(), Errno> {
    let nameless = ptr::null::<u8>();
    // SAFETY: a keyring without a name takes no string.
    check(unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, nameless) }).map(drop)
}
