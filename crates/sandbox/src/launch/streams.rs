//! Standard input, output and error of a command, before it runs.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::error::{Result, system};
use crate::spec::{Program, Stdin};

/// Both ends of what a command reads and prints.
pub(super) struct Streams {
    /// The command's: standard input, output and error.
    pub(super) inside: [OwnedFd; 3],
    /// The caller's ends of output and error.
    pub(super) outputs: [Option<OwnedFd>; 2],
    /// The caller's end of the input, where there is something to write.
    pub(super) sink: Option<OwnedFd>,
}

impl Streams {
    pub(super) fn new(command: &Program) -> Result<Self> {
        if command.terminal.is_some() {
            // The init makes the terminal inside and puts it in their place.
            let inside = [nothing()?, nothing()?, nothing()?];
            return Ok(Self { inside, outputs: [None, None], sink: None });
        }
        let (stdout, stdout_inside) = pipe()?;
        let (stderr, stderr_inside) = pipe()?;
        let (stdin_inside, sink) = match command.stdin {
            Stdin::Empty => (nothing()?, None),
            Stdin::Bytes(_) | Stdin::From(_) => {
                let (read, write) = pipe()?;
                (read, Some(write))
            }
        };
        let inside = [stdin_inside, stdout_inside, stderr_inside];
        Ok(Self { inside, outputs: [Some(stdout), Some(stderr)], sink })
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    pipe_with(PipeFlags::CLOEXEC).map_err(system("cannot make a pipe"))
}

fn nothing() -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(c"/dev/null", flags, Mode::empty());
    opened.map_err(system("cannot open /dev/null"))
}
