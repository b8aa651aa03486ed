//! Signals to the caller, as something to wait for.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use crate::sys;

/// The length of what the kernel says about one signal.
const REPORT: usize = 128;

/// The signals that ask this process to end or tell it that its terminal changed: read from here instead of delivered.
#[derive(Debug)]
pub struct Signals(OwnedFd);

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// To end.
    Interrupt,
    /// To end at once.
    Quit,
    /// To end, because the terminal is gone.
    HangUp,
    /// To look at the size of the terminal.
    Resized,
}

const ALL: [i32; 5] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGWINCH];

impl Signals {
    /// Takes the signals over. To be called before there are other threads.
    pub fn take_over() -> Result<Self, Errno> {
        sys::signals(&ALL).map(Self)
    }

    /// Lets the signals be delivered again, to programs that are started from now on too.
    pub fn give_back(self) {
        sys::unblock(&ALL);
    }

    /// Whether something asked this process to end since this was last looked at.
    pub fn ask_to_end(&self) -> bool {
        let mut asked = false;
        while let Some(signal) = self.next() {
            asked |= signal != Signal::Resized;
        }
        asked
    }

    /// What came, one by one; none where nothing did.
    pub(crate) fn next(&self) -> Option<Signal> {
        let mut report = [0u8; REPORT];
        let got = rustix::io::read(&self.0, &mut report).ok()?;
        let number = report[..got].first_chunk().map(|bytes| i32::from_ne_bytes(*bytes))?;
        Some(match number {
            libc::SIGHUP => Signal::HangUp,
            libc::SIGQUIT => Signal::Quit,
            libc::SIGWINCH => Signal::Resized,
            _ => Signal::Interrupt,
        })
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
