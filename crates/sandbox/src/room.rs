//! How much more a command may print before somebody reads it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use crate::running::Stream;

/// The room for what a command prints. Whoever watches a command has other things to do than to wait for readers: where there is no
/// room left the command waits, as at a pipe, and can still be ended.
#[derive(Debug)]
pub struct Room {
    /// In bytes. What is read in one piece counts only afterwards, so that this may be less than nothing.
    left: AtomicI64,
    /// Nobody reads standard output, or standard error, any more.
    closed: [AtomicBool; 2],
    /// Says that one of the above changed.
    changed: OwnedFd,
}

impl Room {
    /// Room for so many bytes.
    pub fn new(bytes: usize) -> Result<Self, Errno> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let left = AtomicI64::new(signed(bytes));
        Ok(Self { left, closed: Default::default(), changed: eventfd(0, flags)? })
    }

    /// So many bytes were read, and do not take up room any more.
    pub fn free(&self, bytes: usize) {
        let before = self.left.fetch_add(signed(bytes), Ordering::AcqRel);
        if before <= 0 {
            self.wake();
        }
    }

    /// Nobody reads this any more: the command finds it closed.
    pub fn close(&self, stream: Stream) {
        self.closed[stream as usize].store(true, Ordering::Release);
        self.wake();
    }

    /// So many bytes take up room.
    pub(crate) fn take(&self, bytes: usize) {
        self.left.fetch_sub(signed(bytes), Ordering::AcqRel);
    }

    pub(crate) fn is_left(&self) -> bool {
        self.left.load(Ordering::Acquire) > 0
    }

    pub(crate) fn is_closed(&self, stream: Stream) -> bool {
        self.closed[stream as usize].load(Ordering::Acquire)
    }

    /// What changed until now was seen, or is about to be.
    pub(crate) fn seen(&self) {
        let mut count = [0u8; 8];
        let _nothing_new = rustix::io::read(&self.changed, &mut count).is_err();
    }

    fn wake(&self) {
        // It can only fail where nobody has looked a great many times.
        let _full = rustix::io::write(&self.changed, &1u64.to_ne_bytes()).is_err();
    }
}

impl AsFd for Room {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.changed.as_fd()
    }
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
