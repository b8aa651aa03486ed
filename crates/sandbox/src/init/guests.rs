//! Further commands of a session: each in a terminal of its own, started by the same init as the first and so confined like it.
//!
//! Whoever wants to join connects to a socket that the init listens at. It gets a terminal, makes it look like its own, and
//! says what to run in it. Nothing here allocates: there is room for a few guests and one command line.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};

use super::command::{self, Started};
use super::descriptors::{DOOR, let_go_of_streams, socket};
use super::step::Failure;
use super::terminal;
use crate::message::{Buffer, Kind, Message};
use crate::script::Script;
use crate::sys::{self, Pointers, Stack};

/// How many can be there at a time beside the first.
const MOST_GUESTS: usize = 8;
/// The door, and a place for each guest.
pub(super) const PLACES: usize = 1 + MOST_GUESTS;
/// How many arguments or variables a command can have.
const MOST_STRINGS: usize = 4096;

/// Room for the command line of one that joins, made by the parent.
pub(crate) struct Room {
    buffer: Buffer,
    arguments: Pointers,
    shell_arguments: Pointers,
    environment: Pointers,
}

impl Room {
    pub(crate) fn new() -> Self {
        let pointers = || Pointers::with_room(MOST_STRINGS);
        let (arguments, shell_arguments, environment) = (pointers(), pointers(), pointers());
        Self { buffer: Buffer::new(), arguments, shell_arguments, environment }
    }
}

/// Those who joined.
pub(super) struct Guests<'a> {
    /// None where nobody can join.
    room: Option<&'a mut Room>,
    /// Somebody can still join.
    open: bool,
    slots: [Option<Guest>; MOST_GUESTS],
}

struct Guest {
    connection: OwnedFd,
    /// The end inside of its terminal, open until it has read all of it.
    slave: OwnedFd,
    /// Its command, while that runs.
    command: Option<i32>,
}

impl<'a> Guests<'a> {
    pub(super) fn new(room: Option<&'a mut Room>) -> Self {
        let open = room.is_some();
        Self { room, open, slots: [const { None }; MOST_GUESTS] }
    }

    /// Lets nobody in from now on, and starts nothing more.
    pub(super) fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            sys::close(DOOR);
        }
    }

    /// How many commands run.
    pub(super) fn running(&self) -> i64 {
        self.slots.iter().flatten().filter(|guest| guest.command.is_some()).count() as i64
    }

    /// What to wait for at each place. Places that are not taken wait for nothing.
    pub(super) fn events(&self) -> [PollFd<'_>; PLACES] {
        std::array::from_fn(|place| match (place.checked_sub(1), self.open) {
            (None, true) => PollFd::from_borrowed_fd(sys::borrow(DOOR), PollFlags::IN),
            (None, false) => nothing(),
            (Some(at), _) => match &self.slots[at] {
                Some(guest) => PollFd::new(&guest.connection, PollFlags::IN),
                None => nothing(),
            },
        })
    }

    /// Something happened at a place.
    pub(super) fn serve(
        &mut self,
        place: usize,
        script: &Script,
        buffer: &mut Buffer,
        stack: &mut Stack,
    ) {
        match place.checked_sub(1) {
            None => self.admit(script, buffer),
            Some(at) => self.hear(at, script, buffer, stack),
        }
    }

    /// A process has ended; true where it was the command of a guest.
    pub(super) fn reaped(&mut self, pid: i32, status: i32, buffer: &mut Buffer) -> bool {
        let mut guests = self.slots.iter_mut().flatten();
        let Some(guest) = guests.find(|guest| guest.command == Some(pid)) else { return false };
        guest.command = None;
        // One that is gone is noticed as any other.
        let connection = guest.connection.as_fd();
        let _gone = buffer.send(connection, Kind::Ended, &[status.into()], b"", None).is_err();
        true
    }

    /// Asks the commands of guests to end, as when their terminals hang up: shells end by that and by nothing milder.
    pub(super) fn hang_up(&self) {
        for pid in self.slots.iter().flatten().filter_map(|guest| guest.command) {
            sys::signal(pid, libc::SIGHUP);
        }
    }

    /// Lets one in: it gets a terminal.
    fn admit(&mut self, script: &Script, buffer: &mut Buffer) {
        if !self.open {
            return;
        }
        let Ok(connection) = accept_with(sys::borrow(DOOR), SocketFlags::CLOEXEC) else { return };
        let Some(place) = self.slots.iter_mut().find(|place| place.is_none()) else {
            // One that is gone already need not know.
            let numbers = [MOST_GUESTS as i64];
            let connection = connection.as_fd();
            let _gone = buffer.send(connection, Kind::Full, &numbers, b"", None).is_err();
            return;
        };
        let Ok((master, slave)) = terminal::make() else { return };
        let numbers = [script.network as i64];
        let master = Some(master.as_fd());
        if buffer.send(connection.as_fd(), Kind::Terminal, &numbers, b"", master).is_ok() {
            *place = Some(Guest { connection, slave, command: None });
        }
    }

    /// Does what a guest says.
    fn hear(&mut self, at: usize, script: &Script, buffer: &mut Buffer, stack: &mut Stack) {
        let (Some(room), Some(guest)) = (&mut self.room, &mut self.slots[at]) else { return };
        let Room { buffer: said, arguments, shell_arguments, environment } = &mut **room;
        let message = match said.receive(guest.connection.as_fd()) {
            Ok(Some(message)) => message,
            // It is gone, and its terminal with it: the kernel tells its command. What that does is no guest's any more.
            _ => {
                self.slots[at] = None;
                return;
            }
        };
        match (message.kind, guest.command) {
            (Kind::Join, None) if self.open => {
                let pointers = [arguments, shell_arguments, environment];
                let begun = guest.begin(script, &message, pointers, buffer, stack);
                if begun.is_err() {
                    self.slots[at] = None;
                }
            }
            (Kind::Join, _) => self.slots[at] = None,
            (Kind::Terminate, Some(pid)) => {
                sys::signal(pid, libc::SIGHUP);
                sys::signal(-pid, libc::SIGTERM);
            }
            (Kind::Kill, Some(pid)) => {
                sys::signal(pid, libc::SIGKILL);
                sys::signal(-pid, libc::SIGKILL);
            }
            _ => {}
        }
    }
}

/// Waits for nothing: even the end of the other side is told by another place.
fn nothing<'f>() -> PollFd<'f> {
    PollFd::from_borrowed_fd(socket(), PollFlags::empty())
}

impl Guest {
    /// Starts its command and says so.
    fn begin(
        &mut self,
        script: &Script,
        message: &Message<'_>,
        [arguments, shell_arguments, environment]: [&mut Pointers; 3],
        buffer: &mut Buffer,
        stack: &mut Stack,
    ) -> Result<(), Errno> {
        let said = Said::new(message)?;
        arguments.fill(said.arguments())?;
        environment.fill(said.environment())?;
        terminal::place(&self.slave)?;
        let mut execute = || {
            command::try_each(said.programs(), |program| {
                match sys::execute(program, arguments, environment) {
                    Errno::NOEXEC => {
                        let shell = [c"sh", program].into_iter().chain(said.arguments().skip(1));
                        match shell_arguments.fill(shell) {
                            Ok(()) => sys::execute(c"/bin/sh", shell_arguments, environment),
                            Err(errno) => errno,
                        }
                    }
                    errno => command::seen(said.programs().count(), program, errno),
                }
            })
        };
        let started = command::start(script, true, said.directory, &mut execute, buffer, stack);
        let_go_of_streams();
        let connection = self.connection.as_fd();
        match started {
            Ok((Started::Running(pid), _)) => {
                self.command = Some(pid);
                buffer.send(connection, Kind::Started, &[], b"", None)
            }
            Ok((Started::NotExecuted(errno), _)) => {
                let numbers = [errno.raw_os_error().into()];
                buffer.send(connection, Kind::NotExecuted, &numbers, b"", None)
            }
            Err(Failure { step, errno, .. }) => {
                let numbers = [step as i64, errno.raw_os_error().into()];
                buffer.send(connection, Kind::Failed, &numbers, b"", None)
            }
        }
    }
}

/// The command line in a message: strings that end with NUL, those of each kind together, and where to start last.
struct Said<'a> {
    bytes: &'a [u8],
    counts: [usize; 3],
    directory: &'a CStr,
}

impl<'a> Said<'a> {
    fn new(message: &'a Message<'_>) -> Result<Self, Errno> {
        let count = |number: i64| usize::try_from(number).map_err(|_| Errno::PROTO);
        let [programs, arguments, variables, ..] = message.numbers;
        let counts = [count(programs)?, count(arguments)?, count(variables)?];
        let all = counts.iter().fold(0usize, |all, count| all.saturating_add(*count));
        let directory = strings(message.bytes, all, 1).next().ok_or(Errno::PROTO)?;
        Ok(Self { bytes: message.bytes, counts, directory })
    }

    fn programs(&self) -> impl Iterator<Item = &'a CStr> {
        strings(self.bytes, 0, self.counts[0])
    }

    fn arguments(&self) -> impl Iterator<Item = &'a CStr> {
        strings(self.bytes, self.counts[0], self.counts[1])
    }

    fn environment(&self) -> impl Iterator<Item = &'a CStr> {
        strings(self.bytes, self.counts[0] + self.counts[1], self.counts[2])
    }
}

fn strings(bytes: &[u8], skip: usize, take: usize) -> impl Iterator<Item = &CStr> {
    let pieces = bytes.split_inclusive(|byte| *byte == 0);
    pieces.filter_map(|piece| CStr::from_bytes_with_nul(piece).ok()).skip(skip).take(take)
}
