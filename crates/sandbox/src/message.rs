//! What the caller and the init say to each other, over a socket that keeps messages apart.
//!
//! Both ends are one program, so the format is private: a word for the kind, numbers, and bytes.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// How many numbers a message has.
pub(crate) const NUMBERS: usize = 16;
/// The longest bytes of a message.
pub(crate) const LONGEST: usize = 64 * 1024;
const HEAD: usize = 8 + NUMBERS * 8;

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// To the init: the ids are mapped, begin.
    Go = 1,
    /// To the init: ask everything to end.
    Terminate = 2,
    /// To the init: end everything.
    Kill = 3,
    /// To the init: open the path in the bytes. Numbers: the flags, and below which directory, a [`Top`].
    Open = 4,
    /// To the init: nothing of the workspace is open outside any more, so it can be taken down.
    Leave = 5,
    /// To the init, from one who joins: run this. Numbers: how many places the program may be at, arguments and variables;
    /// bytes: all of them and the directory to start in, each ended by NUL.
    Join = 6,
    /// To the init: a mount that covers a directory. Numbers: which; with a descriptor.
    Cover = 7,
    /// From the init: a step failed. Numbers: step, error; bytes: what the kernel says.
    Failed = 10,
    /// From the init: the command runs. Numbers: how its home looks, the device number of the workspace, why its renames are
    /// not told about, 0 where they are, which caches are in place, a bit for each, what else was found to be in force, and its
    /// limits of open files, processes, the size of a file and memory, the version of Landlock's rules, and the limits of processes and of time that the init
    /// itself holds it to and of files in memory; with the caller's end of its terminal, if it has one.
    Started = 11,
    /// From the init: the command could not be executed. Numbers: error.
    NotExecuted = 12,
    /// From the init: everything has ended. Numbers: status, processes ended, user and system microseconds, resident
    /// KiB, error of the unmount, blocks written, processes started, attempts to reach a network that is not there, the
    /// limit that was reached, -1 for none.
    Ended = 13,
    /// From the init: the answer to `Open`. Numbers: error; with a descriptor where it is 0.
    Opened = 14,
    /// From the command, before it is executed: where its renames are told about, as a descriptor.
    Listener = 15,
    /// From the init: no process is left inside. It waits for `Leave`.
    Quiet = 16,
    /// From the init, to one who joins: who is there. Numbers: what the network is; with the caller's end of a
    /// terminal.
    Terminal = 17,
    /// From the init: the command is over, and so many who joined are still there.
    Waiting = 18,
    /// From the init, to one who would join: there is no place left. Numbers: how many there are.
    Full = 19,
    /// From the init: somebody outside wants the command to end.
    Asked = 20,
    /// From the init, before the command runs: a socket for a proxy. Numbers: what it is for, its port; with a descriptor.
    Socket = 21,
}

/// Which directory the caller means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Top {
    /// Where changes of the workspace go.
    Changes,
    /// Where changes of the home go.
    Home,
    /// The private directory that the workspace lies in.
    Beside,
    /// Where changes of directories go that are shown.
    Shown,
    /// The directory for temporary files.
    Temporary,
}

impl Kind {
    fn from_number(number: u8) -> Option<Self> {
        use Kind::*;
        let to_init = [Go, Terminate, Kill, Open, Leave, Join, Cover];
        let from_inside =
            [Failed, Started, NotExecuted, Ended, Opened, Listener, Quiet, Asked, Socket];
        let about_guests = [Terminal, Waiting, Full];
        let mut all = to_init.into_iter().chain(from_inside).chain(about_guests);
        all.find(|kind| *kind as u8 == number)
    }
}

/// A buffer for one message, made once: receiving allocates nothing.
pub(crate) struct Buffer(Vec<u8>);

/// A message that was received.
pub(crate) struct Message<'a> {
    pub(crate) kind: Kind,
    pub(crate) numbers: [i64; NUMBERS],
    pub(crate) bytes: &'a [u8],
    pub(crate) descriptor: Option<OwnedFd>,
}

impl Buffer {
    pub(crate) fn new() -> Self {
        Self(vec![0; HEAD + LONGEST])
    }

    /// Sends one message.
    pub(crate) fn send(
        &mut self,
        socket: BorrowedFd<'_>,
        kind: Kind,
        numbers: &[i64],
        bytes: &[u8],
        descriptor: Option<BorrowedFd<'_>>,
    ) -> Result<(), Errno> {
        if bytes.len() > LONGEST {
            return Err(Errno::NAMETOOLONG);
        }
        self.0[..HEAD].fill(0);
        self.0[0] = kind as u8;
        for (at, number) in numbers.iter().take(NUMBERS).enumerate() {
            self.0[8 + at * 8..16 + at * 8].copy_from_slice(&number.to_le_bytes());
        }
        self.0[HEAD..HEAD + bytes.len()].copy_from_slice(bytes);
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let descriptors = descriptor.as_slice();
        if !descriptors.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        let parts = [std::io::IoSlice::new(&self.0[..HEAD + bytes.len()])];
        loop {
            let sent = rustix::net::sendmsg(socket, &parts, &mut ancillary, SendFlags::NOSIGNAL);
            match sent {
                Err(Errno::INTR) => {}
                other => return other.map(drop),
            }
        }
    }

    /// Receives one message; none where the other end is gone.
    pub(crate) fn receive(&mut self, socket: BorrowedFd<'_>) -> Result<Option<Message<'_>>, Errno> {
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got = loop {
            let mut parts = [std::io::IoSliceMut::new(&mut self.0)];
            let flags = RecvFlags::CMSG_CLOEXEC;
            match rustix::net::recvmsg(socket, &mut parts, &mut ancillary, flags) {
                Err(Errno::INTR) => {}
                Err(Errno::CONNRESET) => return Ok(None),
                other => break other?.bytes,
            }
        };
        if got == 0 {
            return Ok(None);
        }
        let mut descriptor = None;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(mut descriptors) = message {
                descriptor = descriptors.next();
            }
        }
        let (head, rest) = self.0[..got].split_at_checked(HEAD).ok_or(Errno::PROTO)?;
        let kind = Kind::from_number(head[0]).ok_or(Errno::PROTO)?;
        let mut numbers = [0; NUMBERS];
        for (number, bytes) in numbers.iter_mut().zip(head[8..].chunks_exact(8)) {
            *number = i64::from_le_bytes(bytes.try_into().map_err(|_| Errno::PROTO)?);
        }
        Ok(Some(Message { kind, numbers, bytes: rest, descriptor }))
    }
}

/// Two connected ends.
pub(crate) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::net::socketpair(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::SEQPACKET,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn messages_arrive_whole() {
        let (one, other) = pair().unwrap();
        let mut buffer = Buffer::new();
        let numbers = [1, -2, i64::MAX];
        buffer.send(one.as_fd(), Kind::Open, &numbers, b"a/b", Some(other.as_fd())).unwrap();
        buffer.send(one.as_fd(), Kind::Go, &[], b"", None).unwrap();
        let message = buffer.receive(other.as_fd()).unwrap().unwrap();
        assert_eq!((message.kind, message.bytes), (Kind::Open, &b"a/b"[..]));
        assert_eq!(message.numbers[..4], [1, -2, i64::MAX, 0]);
        assert!(message.descriptor.is_some());
        drop(message);
        assert_eq!(buffer.receive(other.as_fd()).unwrap().unwrap().kind, Kind::Go);
        let long = vec![0; LONGEST + 1];
        let refused = buffer.send(one.as_fd(), Kind::Open, &[], &long, None);
        assert_eq!(refused, Err(Errno::NAMETOOLONG));
        drop(one);
        assert!(buffer.receive(other.as_fd()).unwrap().is_none());
    }
}
