//! The terminal that this process was started in.

use std::io::{IsTerminal, stdin};
use std::os::fd::{AsFd, OwnedFd};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// Passes every key on as it is typed, until dropped: the terminal is then as it was before.
#[derive(Debug)]
pub(crate) struct Raw {
    terminal: OwnedFd,
    before: Termios,
}

impl Raw {
    /// Nothing where standard input is no terminal any more.
    pub(crate) fn enter() -> Option<Self> {
        let terminal = stdin().as_fd().try_clone_to_owned().ok()?;
        let before = tcgetattr(&terminal).ok()?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&terminal, OptionalActions::Now, &raw).ok()?;
        Some(Self { terminal, before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone has no modes to be brought back.
        let _gone = tcsetattr(&self.terminal, OptionalActions::Now, &self.before).is_err();
    }
}

/// Whether somebody sits in front of this process: what they type is read and what is printed is seen.
pub(crate) fn is_attended() -> bool {
    stdin().is_terminal() && std::io::stdout().is_terminal()
}
