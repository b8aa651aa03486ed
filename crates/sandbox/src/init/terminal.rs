//! A terminal of the inside's own.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pty::OpenptFlags;
use rustix::termios::OptionalActions;

use crate::script::TerminalScript;
use crate::sys;

/// Where terminals are made: in the inside's own devpts, so that names below `/dev/pts` are true there.
const MULTIPLEXER: &CStr = c"/dev/pts/ptmx";

/// Both ends of the command's terminal, as the init holds them.
pub(super) struct Terminal {
    /// The end for the caller, until it has it.
    pub(super) master: OwnedFd,
    /// The end inside.
    pub(super) slave: OwnedFd,
}

/// Makes a terminal and puts it in the place of standard input, output and error.
pub(super) fn open(script: &TerminalScript) -> Result<Terminal, Errno> {
    let (master, slave) = make()?;
    rustix::termios::tcsetattr(&slave, OptionalActions::Now, &script.modes)?;
    rustix::termios::tcsetwinsize(&slave, script.size)?;
    place(&slave)?;
    Ok(Terminal { master, slave })
}

/// Makes a terminal: the end for whoever sits in front of it, and the end inside.
pub(super) fn make() -> Result<(OwnedFd, OwnedFd), Errno> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    // Without a devpts of its own, the host's is often closed to everybody by this name.
    let master = rustix::fs::open(MULTIPLEXER, flags, Mode::empty())
        .or_else(|_| rustix::fs::open(c"/dev/ptmx", flags, Mode::empty()))?;
    rustix::pty::unlockpt(&master)?;
    // By the other end and not by a path: nothing can come in between.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
    Ok((master, slave))
}

/// Puts a terminal in the place of standard input, output and error.
pub(super) fn place(slave: &OwnedFd) -> Result<(), Errno> {
    for standard in 0..3 {
        sys::duplicate(slave.as_raw_fd(), standard, false)?;
    }
    Ok(())
}

/// Makes the terminal at standard input the controlling one of this session, which has none.
pub(super) fn control() -> Result<(), Errno> {
    rustix::process::ioctl_tiocsctty(sys::borrow(0))
}
