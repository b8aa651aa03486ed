//! How much more a command may print before somebody reads it.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use rustix::io::Errno;

use crate::bell::Bell;

/// Which output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The room for what a command prints. Whoever watches a command has other things to do than to wait for readers: where there is no
/// room left the command waits, as at a pipe, and can still be ended. Standard output and standard error have room of their own.
#[derive(Debug)]
pub struct Room {
    /// How much there is for each, in bytes.
    all: i64,
    /// What is left of it. What is read in one piece counts only afterwards, so that this may be less than nothing.
    left: [AtomicI64; 2],
    /// Nobody reads it any more.
    closed: [AtomicBool; 2],
    /// Says that one of the above changed.
    changed: Bell,
}

impl Room {
    /// Room for so many bytes of each.
    pub fn new(bytes: usize) -> Result<Self, Errno> {
        let all = signed(bytes);
        let left = [AtomicI64::new(all), AtomicI64::new(all)];
        Ok(Self { all, left, closed: Default::default(), changed: Bell::new()? })
    }

    /// So many bytes were read, and do not take up room any more. There is never more room than at the start.
    pub fn free(&self, stream: Stream, bytes: usize) {
        let left = &self.left[stream as usize];
        let more = |left: i64| Some(left.saturating_add(signed(bytes)).min(self.all));
        let before = left.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        if before.is_ok_and(|before| before <= 0) {
            self.changed.ring();
        }
    }

    /// Nobody reads this any more: the command finds it closed.
    pub fn close(&self, stream: Stream) {
        self.closed[stream as usize].store(true, Ordering::Release);
        self.changed.ring();
    }

    /// So many bytes take up room.
    pub(crate) fn take(&self, stream: Stream, bytes: usize) {
        self.left[stream as usize].fetch_sub(signed(bytes), Ordering::AcqRel);
    }

    pub(crate) fn is_left(&self, stream: Stream) -> bool {
        self.left[stream as usize].load(Ordering::Acquire) > 0
    }

    pub(crate) fn is_closed(&self, stream: Stream) -> bool {
        self.closed[stream as usize].load(Ordering::Acquire)
    }

    /// What changed until now was seen, or is about to be.
    pub(crate) fn seen(&self) {
        let _how_often = self.changed.heard();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stream_has_its_room_and_never_more_than_that() {
        let room = Room::new(10).unwrap();
        room.take(Stream::Stderr, 11);
        assert!(room.is_left(Stream::Stdout) && !room.is_left(Stream::Stderr));
        room.free(Stream::Stdout, usize::MAX);
        room.take(Stream::Stdout, 10);
        assert!(!room.is_left(Stream::Stdout));
        room.free(Stream::Stderr, 2);
        assert!(room.is_left(Stream::Stderr));
    }
}
