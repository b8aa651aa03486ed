//! Asking one command to end, among many of one process.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use crate::bell::Bell;
use crate::signals::Signals;

/// Asks one command to end, from any thread, at any time: before it has started, too.
#[derive(Debug)]
pub struct Cancel {
    bell: Bell,
    asked: AtomicBool,
}

impl Cancel {
    /// One that nobody has used yet.
    pub fn new() -> Result<Self, Errno> {
        Ok(Self { bell: Bell::new()?, asked: AtomicBool::new(false) })
    }

    /// Asks the command to end. It has its grace; who asks once more means at once.
    pub fn cancel(&self) {
        self.asked.store(true, Ordering::Release);
        self.bell.ring();
    }

    /// Whether somebody asked.
    pub fn is_cancelled(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// How often somebody asked since this was last looked at.
    pub(crate) fn take(&self) -> u64 {
        self.bell.heard()
    }
}

impl AsFd for Cancel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
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
