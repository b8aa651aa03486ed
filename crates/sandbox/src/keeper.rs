//! The init after the command has ended: the caller's hand inside the namespace.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::in_force::DiscardedDirectory;
use crate::message::{Buffer, Kind, Top};
use crate::sys;

/// The init, which has the capabilities of its user namespace over the caller's own files. It ends when this is dropped.
pub struct Keeper {
    /// Closed first: that is what ends the init.
    socket: Option<OwnedFd>,
    pidfd: OwnedFd,
    buffer: Mutex<Buffer>,
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").finish_non_exhaustive()
    }
}

impl Keeper {
    pub(crate) fn new(socket: OwnedFd, pidfd: OwnedFd) -> Self {
        Self { socket: Some(socket), pidfd, buffer: Mutex::new(Buffer::new()) }
    }

    /// Lets one that was made for this alone begin.
    pub(crate) fn go(&self) -> io::Result<()> {
        let socket = self.socket.as_ref().ok_or(Errno::NOTCONN)?;
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(buffer.send(socket.as_fd(), Kind::Go, &[], b"", None)?)
    }

    /// Opens a path below the directory where changes went, whatever its modes say.
    pub fn open(&self, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
        self.open_below(Top::Changes, path, flags)
    }

    /// Opens a directory of what is thrown away.
    pub fn open_scratch(&self, scratch: &DiscardedDirectory) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        self.open_below(scratch.top, &scratch.below, flags)
    }

    /// Opens the directory for temporary files.
    pub fn open_temporary(&self) -> io::Result<OwnedFd> {
        self.open_below(Top::Temporary, b"", OFlags::RDONLY | OFlags::DIRECTORY)
    }

    fn open_below(&self, top: Top, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
        let socket = self.socket.as_ref().ok_or(Errno::NOTCONN)?;
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers = [flags.bits().into(), top as i64];
        buffer.send(socket.as_fd(), Kind::Open, &numbers, path, None)?;
        let answer = buffer.receive(socket.as_fd())?.ok_or(Errno::NOTCONN)?;
        match (answer.kind, answer.numbers[0], answer.descriptor) {
            (Kind::Opened, 0, Some(descriptor)) => Ok(descriptor),
            (Kind::Opened, errno, _) if errno != 0 => {
                Err(Errno::from_raw_os_error(errno as i32).into())
            }
            _ => Err(Errno::PROTO.into()),
        }
    }
}

impl Keeper {
    /// Lets the init end, without waiting until it has: that takes the kernel a moment which can be used.
    pub fn release(&mut self) {
        self.socket = None;
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.release();
        // The init ends at once; its status says nothing that is not known.
        let _reaped_elsewhere = sys::wait_pidfd(self.pidfd.as_fd()).is_err();
    }
}
