//! The init of a confined command: the first process of its pid namespace.
//!
//! It makes the inside, starts the command, reaps what is left to it, ends what outlives the command, and then serves
//! the caller as its hand inside the namespace. It is a copy of the caller after `clone3`, so it must not allocate, lock
//! or panic; it leaves only by [`sys::exit_now`].

mod caches;
mod command;
mod files;
mod findings;
mod guests;
mod mounts;
mod network;
mod serve;
mod terminal;

use std::os::fd::{BorrowedFd, RawFd};

use rustix::io::Errno;

pub(crate) use self::findings::UNLIMITED;
pub(crate) use self::guests::Room;
use self::guests::{DOOR, Guests};
use crate::message::{Buffer, Kind};
use crate::script::Script;
use crate::sys::{self, Stack};

/// Where the init keeps its end of the socket.
pub(crate) const SOCKET: RawFd = 3;

/// Where a process that only opens files keeps the directory.
const TOP: RawFd = 0;

/// What failed, and all that the parent needs to say it.
pub(crate) struct Failure {
    pub(crate) step: Step,
    pub(crate) errno: Errno,
    /// Which one, where the step has several.
    pub(crate) index: u32,
    /// What the kernel said at length.
    pub(crate) detail: Detail,
}

/// A line of text without an allocation.
pub(crate) struct Detail {
    pub(crate) text: [u8; 100],
    pub(crate) length: u8,
}

impl Detail {
    pub(crate) const NONE: Self = Self { text: [0; 100], length: 0 };
}

/// What the init does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Step {
    Descriptors,
    Stage,
    Layers,
    ReadOnlyLayers,
    Directory,
    Root,
    Compose,
    Pivot,
    Private,
    Devices,
    Proc,
    Home,
    Hidden,
    Target,
    Folders,
    Network,
    Signals,
    Terminal,
    Fork,
    Session,
    Limits,
    Privileges,
    WorkingDirectory,
}

impl Step {
    pub(crate) const ALL: [Self; 23] = [
        Self::Descriptors,
        Self::Stage,
        Self::Layers,
        Self::ReadOnlyLayers,
        Self::Directory,
        Self::Root,
        Self::Compose,
        Self::Pivot,
        Self::Private,
        Self::Devices,
        Self::Proc,
        Self::Home,
        Self::Hidden,
        Self::Target,
        Self::Folders,
        Self::Network,
        Self::Signals,
        Self::Terminal,
        Self::Fork,
        Self::Session,
        Self::Limits,
        Self::Privileges,
        Self::WorkingDirectory,
    ];
}

/// The work of one step, with its name on what goes wrong.
pub(crate) fn step<T>(step: Step, result: Result<T, Errno>) -> Result<T, Failure> {
    step_at(step, 0, result)
}

pub(crate) fn step_at<T>(step: Step, index: usize, result: Result<T, Errno>) -> Result<T, Failure> {
    result.map_err(|errno| Failure { step, errno, index: index as u32, detail: Detail::NONE })
}

/// All of the init's life. Buffer and stack were made before, by the parent.
pub(crate) fn main(
    script: &Script,
    buffer: &mut Buffer,
    stack: &mut Stack,
    room: Option<&mut Room>,
) {
    // Nobody is left to tell where even the socket could not be placed.
    let [stdin, stdout, stderr, socket_inside] = script.descriptors;
    let placed = match script.door {
        Some(door) => {
            debug_assert_eq!(DOOR, 4, "it is placed last");
            place_descriptors([stdin, stdout, stderr, socket_inside, door])
        }
        None => place_descriptors(script.descriptors),
    };
    if placed.is_err() {
        sys::exit_now(1);
    }
    let socket = socket();
    match buffer.receive(socket) {
        Ok(Some(message)) if message.kind == Kind::Go => {}
        _ => sys::exit_now(1),
    }
    match run(script, buffer, stack, room) {
        Ok(()) => sys::exit_now(0),
        Err(failure) => {
            let numbers =
                [failure.step as i64, failure.errno.raw_os_error().into(), failure.index.into()];
            let text = &failure.detail.text[..failure.detail.length.into()];
            let _caller_is_gone = buffer.send(socket, Kind::Failed, &numbers, text, None).is_err();
            sys::exit_now(1)
        }
    }
}

/// All of the life of a process that only opens files for its caller.
pub(crate) fn keep([socket_inside, top]: [RawFd; 2], buffer: &mut Buffer) {
    // Standard input, output and error are the caller's own, and stay its alone.
    if place_descriptors([top, top, top, socket_inside]).is_err() {
        sys::exit_now(1);
    }
    match buffer.receive(socket()) {
        Ok(Some(message)) if message.kind == Kind::Go => {}
        _ => sys::exit_now(1),
    }
    if sys::prctl(libc::PR_SET_DUMPABLE, 0, 0).is_err() {
        sys::exit_now(1);
    }
    match rustix::io::dup(sys::borrow(TOP)) {
        Ok(top) => serve::open_for_caller([Some(&top), None, None], buffer),
        Err(_) => sys::exit_now(1),
    }
    sys::exit_now(0)
}

fn socket<'a>() -> BorrowedFd<'a> {
    sys::borrow(SOCKET)
}

fn run(
    script: &Script,
    buffer: &mut Buffer,
    stack: &mut Stack,
    room: Option<&mut Room>,
) -> Result<(), Failure> {
    let made = mounts::make(script)?;
    // What is in this process's memory is the caller's and not for the command to read.
    step(Step::Signals, sys::prctl(libc::PR_SET_DUMPABLE, 0, 0))?;
    sys::reset_signals();
    let signals = step(Step::Signals, sys::child_signals())?;
    let terminal = script.terminal.as_ref().map(terminal::open).transpose();
    let terminal = step(Step::Terminal, terminal)?;
    let execute = &mut || command::execute(script);
    let (started, told) =
        command::start(script, terminal.is_some(), &script.directory, execute, buffer, stack)?;
    let_go_of_streams();
    let guests = Guests::new(room);
    let mut serving = serve::Serving { script, buffer, stack, signals, made, told, guests };
    serving.serve(started, terminal);
    // The end of this process ends all others, but closes its descriptors first: nobody is to see renames fail in between.
    let _nobody_is_left = sys::signal_all(libc::SIGKILL);
    Ok(())
}

/// Lets go of the standard input, output and error of a command that was started. Something else is there then, so that
/// nothing that is opened later gets their numbers.
fn let_go_of_streams() {
    for standard in 0..3 {
        if sys::duplicate(SOCKET, standard, true).is_err() {
            sys::close(standard);
        }
    }
}

/// Puts the descriptors at their places and closes all others: the parent may have many, of other commands too.
fn place_descriptors<const N: usize>(descriptors: [RawFd; N]) -> Result<(), Errno> {
    const FREE: RawFd = 64;
    let mut above = [0; N];
    for (at, descriptor) in descriptors.into_iter().enumerate() {
        above[at] = sys::duplicate_above(descriptor, FREE)?;
    }
    for (at, descriptor) in above.into_iter().enumerate() {
        sys::duplicate(descriptor, at as RawFd, at as RawFd >= SOCKET)?;
    }
    sys::close_from(N as u32)
}
