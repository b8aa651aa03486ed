//! Asking one command to end, among many of one process.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use crate::signals::Signals;

/// Asks one command to end, from any thread, at any time: before it has started, too.
#[derive(Debug)]
pub struct Cancel {
    descriptor: OwnedFd,
    asked: AtomicBool,
}

impl Cancel {
    /// One that nobody has used yet.
    pub fn new() -> Result<Self, Errno> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Self { descriptor: eventfd(0, flags)?, asked: AtomicBool::new(false) })
    }

    /// Asks the command to end. It has its grace; who asks once more means at once.
    pub fn cancel(&self) {
        self.asked.store(true, Ordering::Release);
        // It can only fail where nobody has read what was written a great many times.
        let _full = rustix::io::write(&self.descriptor, &1u64.to_ne_bytes()).is_err();
    }

    /// Whether somebody asked.
    pub fn is_cancelled(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// How often somebody asked since this was last looked at.
    pub(crate) fn take(&self) -> u64 {
        let mut count = [0u8; 8];
        let nothing_new = rustix::io::read(&self.descriptor, &mut count).is_err();
        if nothing_new { 0 } else { u64::from_ne_bytes(count) }
    }
}

impl AsFd for Cancel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Who may ask a command to end, beside its time and its terminal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requests<'a> {
    /// Signals to this process.
    pub signals: Option<&'a Signals>,
    /// Somebody in this process.
    pub cancel: Option<&'a Cancel>,
}

impl Requests<'_> {
    /// Whether the command was asked to end before it started.
    pub fn ask_to_end(&self) -> bool {
        self.cancel.is_some_and(Cancel::is_cancelled)
            || self.signals.is_some_and(Signals::ask_to_end)
    }
}
