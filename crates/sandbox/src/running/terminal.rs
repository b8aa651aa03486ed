//! The caller's side of a command's terminal.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::termios::{tcgetwinsize, tcsetwinsize};

use super::{Feed, Running};
use crate::spec;

/// Two terminals: the caller's, and the caller's end of the command's.
pub(super) struct Terminal {
    caller: OwnedFd,
    master: OwnedFd,
}

impl Running {
    /// Connects the command's terminal with the caller's.
    pub(crate) fn attach(
        &mut self,
        master: OwnedFd,
        terminal: &spec::Terminal,
    ) -> Result<(), Errno> {
        // One open file for all copies: reading and writing both find out that there is nothing to do now.
        rustix::io::ioctl_fionbio(&master, true)?;
        let copy = |fd: &OwnedFd| rustix::io::fcntl_dupfd_cloexec(fd, 0);
        self.feed = Some(Feed::typed(copy(&master)?, copy(&terminal.caller)?));
        self.outputs[0] = Some(copy(&master)?);
        self.terminal = Some(Terminal { caller: copy(&terminal.caller)?, master });
        // It may have been resized since it was looked at.
        self.follow_size();
        Ok(())
    }

    /// Gives the command's terminal the size of the caller's.
    pub(super) fn follow_size(&self) {
        if let Some(Terminal { caller, master }) = &self.terminal {
            let resized = tcgetwinsize(caller).and_then(|size| tcsetwinsize(master, size));
            // A terminal that is gone is noticed where it is read.
            let _gone = resized.is_err();
        }
    }

    /// Whether one side of the terminal is gone while the command runs.
    pub(super) fn has_lost_terminal(&self) -> bool {
        self.terminal.is_some() && (self.feed.is_none() || self.outputs[0].is_none())
    }

    /// Lets go of the command's terminal: the kernel sends SIGHUP to its session and its foreground, and reading from it
    /// ends.
    pub(super) fn hang_up(&mut self) {
        (self.terminal, self.feed, self.outputs[0]) = (None, None, None);
    }
}
