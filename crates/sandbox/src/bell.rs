//! Something that one thread rings and another waits for, among other things.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

/// Can be read as long as it was rung and nobody has looked.
#[derive(Debug)]
pub(crate) struct Bell(OwnedFd);

impl Bell {
    pub(crate) fn new() -> Result<Self, Errno> {
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map(Self)
    }

    pub(crate) fn ring(&self) {
        // It can only fail where nobody has looked a great many times.
        let _full = rustix::io::write(&self.0, &1u64.to_ne_bytes()).is_err();
    }

    /// How often it was rung since this was last looked at.
    pub(crate) fn heard(&self) -> u64 {
        let mut count = [0u8; 8];
        let nothing_new = rustix::io::read(&self.0, &mut count).is_err();
        if nothing_new { 0 } else { u64::from_ne_bytes(count) }
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
