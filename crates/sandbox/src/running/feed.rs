//! Giving a command its standard input.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

use crate::spec::Stdin;

/// Where the input comes from and what of it is not written yet.
pub(crate) struct Feed {
    sink: OwnedFd,
    source: Option<OwnedFd>,
    pending: Vec<u8>,
    written: usize,
}

impl Feed {
    /// Feeds a pipe.
    pub(crate) fn new(sink: OwnedFd, stdin: &Stdin) -> Result<Self, Errno> {
        // A command that does not read must not stop the caller; where this fails it only may.
        let _blocking = rustix::io::ioctl_fionbio(&sink, true).is_err();
        let (source, pending) = match stdin {
            Stdin::Empty => (None, Vec::new()),
            Stdin::Bytes(bytes) => (None, bytes.clone()),
            Stdin::From(source) => (Some(rustix::io::fcntl_dupfd_cloexec(source, 0)?), Vec::new()),
        };
        Ok(Self { sink, source, pending, written: 0 })
    }

    /// Passes on what is typed at one terminal to another.
    pub(crate) fn typed(sink: OwnedFd, source: OwnedFd) -> Self {
        Self { sink, source: Some(source), pending: Vec::new(), written: 0 }
    }

    /// The other end, to notice when nobody reads any more.
    pub(crate) fn closed(&self) -> PollFd<'_> {
        PollFd::new(&self.sink, PollFlags::empty())
    }

    /// What to wait for: room in the pipe, or more to write.
    pub(crate) fn event(&self) -> PollFd<'_> {
        match &self.source {
            Some(source) if self.is_empty() => PollFd::new(source, PollFlags::IN),
            _ => PollFd::new(&self.sink, PollFlags::OUT),
        }
    }

    fn is_empty(&self) -> bool {
        self.written == self.pending.len()
    }

    /// Does what can be done now; false where nothing is left to do.
    pub(crate) fn pump(&mut self) -> bool {
        if self.is_empty() && !self.refill() {
            return false;
        }
        while !self.is_empty() {
            match rustix::io::write(&self.sink, &self.pending[self.written..]) {
                Ok(written) => self.written += written,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return true,
                // The command does not read any more.
                Err(_) => return false,
            }
        }
        self.source.is_some()
    }

    fn refill(&mut self) -> bool {
        let Some(source) = &self.source else { return false };
        self.pending.resize(1 << 16, 0);
        self.written = 0;
        let got = loop {
            match rustix::io::read(source, self.pending.as_mut_slice()) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.pending.clear();
                    return true;
                }
                other => break other.unwrap_or(0),
            }
        };
        self.pending.truncate(got);
        got > 0
    }
}
