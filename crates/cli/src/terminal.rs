//! The terminal that this process was started in.

use std::io::{IsTerminal, stdin};
use std::os::fd::{AsFd, OwnedFd};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

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

/// Whether somebody sees what is printed.
pub(crate) fn is_shown() -> bool {
    std::io::stdout().is_terminal()
}

/// How many lines and columns the terminal has that is written to, if it is one.
pub(crate) fn size() -> Option<(usize, usize)> {
    let size = tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then(|| (size.ws_row.into(), size.ws_col.into()))
}

/// How wide output may be: as `COLUMNS` says, else as the terminal is, else 80.
pub(crate) fn width() -> usize {
    const NARROWEST: usize = 20;
    const USUAL: usize = 80;
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let width = said.filter(|width| *width >= NARROWEST).or_else(|| Some(size()?.1));
    width.unwrap_or(USUAL).max(NARROWEST)
}
