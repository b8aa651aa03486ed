//! Signals to the caller, as something to wait for.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::io::Errno;

use crate::sys;

/// The length of what the kernel says about one signal.
const REPORT: usize = 128;

/// The signals that ask this process to end or tell it that its terminal changed: read from here instead of delivered.
#[derive(Debug)]
pub struct Signals {
    descriptor: OwnedFd,
    /// The number of the first of SIGINT and SIGTERM; 0 where none came.
    asked: AtomicI32,
    /// The number of the first that asked to end; 0 where none came.
    first: AtomicI32,
}

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
    /// Nothing: whoever writes more to a file than this process may is told by an error, too.
    FileTooLarge,
}

impl Signal {
    fn asks_to_end(self) -> bool {
        !matches!(self, Self::Resized | Self::FileTooLarge)
    }
}

const ALL: [i32; 6] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGWINCH, libc::SIGXFSZ];

impl Signals {
    /// Takes the signals over. To be called before there are other threads. Who started this process so that it outlives a terminal, as
    /// `nohup` does, means it: then SIGHUP is left alone.
    pub fn take_over() -> Result<Self, Errno> {
        let wanted = |number: &i32| *number != libc::SIGHUP || !sys::is_ignored(*number);
        let wanted: Vec<i32> = ALL.into_iter().filter(wanted).collect();
        let descriptor = sys::signals(&wanted)?;
        Ok(Self { descriptor, asked: AtomicI32::new(0), first: AtomicI32::new(0) })
    }

    /// Lets the signals be delivered again, to programs that are started from now on too.
    pub fn give_back(self) {
        sys::unblock(&ALL);
    }

    /// Whether something asked this process to end since this was last looked at.
    pub fn ask_to_end(&self) -> bool {
        let mut asked = false;
        while let Some(signal) = self.next() {
            asked |= signal.asks_to_end();
        }
        asked
    }

    /// The first of SIGINT and SIGTERM that was taken so far, by its number. A command that ends by another signal decides about the exit code.
    pub fn asked_by(&self) -> Option<i32> {
        taken(&self.asked)
    }

    /// The first signal of any kind that asked this process to end, by its number.
    pub fn ended_by(&self) -> Option<i32> {
        taken(&self.first)
    }

    /// What came, one by one; none where nothing did.
    pub(crate) fn next(&self) -> Option<Signal> {
        let mut report = [0u8; REPORT];
        let got = rustix::io::read(&self.descriptor, &mut report).ok()?;
        let number = report[..got].first_chunk().map(|bytes| i32::from_ne_bytes(*bytes))?;
        // The first is the one that counts; those that follow say no more.
        let note = |first: &AtomicI32| {
            let _later = first.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
        };
        if [libc::SIGINT, libc::SIGTERM].contains(&number) {
            note(&self.asked);
        }
        let signal = match number {
            libc::SIGHUP => Signal::HangUp,
            libc::SIGQUIT => Signal::Quit,
            libc::SIGWINCH => Signal::Resized,
            libc::SIGXFSZ => Signal::FileTooLarge,
            _ => Signal::Interrupt,
        };
        if signal.asks_to_end() {
            note(&self.first);
        }
        Some(signal)
    }
}

fn taken(number: &AtomicI32) -> Option<i32> {
    Some(number.load(Ordering::Relaxed)).filter(|number| *number != 0)
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
