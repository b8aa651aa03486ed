//! Joining a command that runs: a further one in the same inside, in a terminal of its own.
//!
//! The init listens at a socket that lies where nothing inside can see it, and starts what it is told to as it started the first.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen};
use rustix::termios::OptionalActions;

use crate::cancel::Requests;
use crate::error::{Result, SandboxError, system};
use crate::message::{Buffer, Kind};
use crate::running::{Observer, Running, Status, Timeout};
use crate::script::CommandStrings;
use crate::spec::Program;
use offshoot_vocabulary::Network;

/// How many may wait at the door.
const WAITING: i32 = 8;

/// Makes a socket in a directory at which others can join a command that is started with it.
pub fn make_door(path: &Path) -> Result<OwnedFd> {
    at_door(path, |socket, address| bind(socket, address).and_then(|()| listen(socket, WAITING)))
        .map_err(system("cannot make a socket"))
}

/// A command that was started beside another. Dropped, its terminal hangs up.
#[derive(Debug)]
pub struct Joined(Running);

/// How a command that joined ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedEnd {
    /// How.
    pub status: Status,
    /// It took too long and was ended.
    pub timed_out: bool,
    /// The caller was interrupted, and so it was ended.
    pub interrupted: bool,
}

/// Starts a command, which must have a terminal, beside the one whose door this is. It is confined like that one; where they would not
/// have the same network, nothing is started. `Full` where no more can join, `Lost` where nobody is behind the door any more.
pub fn join(door: &Path, command: &Program, network: Network) -> Result<Joined> {
    let terminal = command.terminal.as_ref().ok_or(SandboxError::Lost)?;
    let socket = at_door(door, |socket, address| connect(socket, address));
    let socket = socket.map_err(|_| SandboxError::Lost)?;
    let mut buffer = Buffer::new();
    let lost = |_: Errno| SandboxError::Lost;
    let greeting = buffer.receive(socket.as_fd()).map_err(lost)?.ok_or(SandboxError::Lost)?;
    if greeting.kind == Kind::Full {
        return Err(SandboxError::Full(greeting.numbers[0].unsigned_abs()));
    }
    let (Kind::Terminal, Some(master)) = (greeting.kind, greeting.descriptor) else {
        return Err(SandboxError::Lost);
    };
    let mut networks = Network::ALL.iter().copied();
    let theirs = networks.find(|network| *network as i64 == greeting.numbers[0]);
    let theirs = theirs.ok_or(SandboxError::Lost)?;
    if theirs != network {
        return Err(SandboxError::OtherNetwork(theirs));
    }
    // Through this end, so that the terminal looks like the caller's before anybody inside looks at it.
    let unusable = || system("cannot use this terminal");
    let modes = rustix::termios::tcgetattr(&terminal.caller).map_err(unusable())?;
    let size = rustix::termios::tcgetwinsize(&terminal.caller).map_err(unusable())?;
    rustix::termios::tcsetattr(&master, OptionalActions::Now, &modes).map_err(unusable())?;
    rustix::termios::tcsetwinsize(&master, size).map_err(unusable())?;
    say_what_to_run(&mut buffer, &socket, command)?;
    let answer = buffer.receive(socket.as_fd()).map_err(lost)?.ok_or(SandboxError::Lost)?;
    let errno = |number: i64| Errno::from_raw_os_error(number as i32);
    match answer.kind {
        Kind::Started => {}
        Kind::NotExecuted => {
            let program = command.arguments.first().map(PathBuf::from).unwrap_or_default();
            return Err(SandboxError::NotExecuted { program, errno: errno(answer.numbers[0]) });
        }
        Kind::Failed => {
            return Err(SandboxError::Prepare {
                step: "cannot start the command in",
                path: Some(command.directory.clone()),
                errno: errno(answer.numbers[1]),
                detail: String::new(),
            });
        }
        _ => return Err(SandboxError::Lost),
    }
    let mut running = Running::new(None, socket, [None, None], None);
    running.attach(master, terminal).map_err(system("cannot use the terminal"))?;
    Ok(Joined(running))
}

impl Joined {
    /// Passes output on until the command has ended; what it left running goes on. Ended as [`Running::drive`] ends one.
    pub fn drive(
        mut self,
        timeout: &Timeout,
        observer: &mut dyn Observer,
        requests: Requests<'_>,
    ) -> Result<JoinedEnd> {
        let (numbers, ending) = self.0.until_ended(timeout, observer, requests)?;
        Ok(JoinedEnd {
            status: Status::decode(numbers[0] as i32),
            timed_out: ending.timed_out,
            interrupted: ending.interrupted,
        })
    }
}

fn say_what_to_run(buffer: &mut Buffer, socket: &OwnedFd, command: &Program) -> Result<()> {
    let CommandStrings { programs, arguments, environment, directory } =
        CommandStrings::new(command)?;
    let numbers = [&programs, &arguments, &environment].map(|list| list.len() as i64);
    let all = programs.iter().chain(&arguments).chain(&environment).chain([&directory]);
    let bytes: Vec<u8> = all.flat_map(|text| text.as_bytes_with_nul()).copied().collect();
    let sent = buffer.send(socket.as_fd(), Kind::Join, &numbers, &bytes, None);
    sent.map_err(|errno| match errno {
        Errno::NAMETOOLONG => SandboxError::TooLong,
        _ => SandboxError::Lost,
    })
}

/// Does something with a socket and an address for a path of any length.
fn at_door(
    path: &Path,
    act: impl FnOnce(&OwnedFd, &SocketAddrUnix) -> Result<(), Errno>,
) -> Result<OwnedFd, Errno> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Errno::INVAL);
    };
    // Addresses are short: the folder is named by a descriptor.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    let near = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    let address = SocketAddrUnix::new(near)?;
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    act(&socket, &address)?;
    Ok(socket)
}
