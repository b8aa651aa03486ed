//! The init of a confined command: the first process of its pid namespace.
//!
//! It makes the inside, starts the command, reaps what is left to it, ends what outlives the command, and then serves
//! the caller as its hand inside the namespace. It is a copy of the caller after `clone3`, so it must not allocate, lock
//! or panic; it leaves only by [`sys::exit_now`].

mod bare;
mod caches;
mod command;
mod descriptors;
mod detached_mount;
mod files;
mod findings;
mod guests;
mod home;
mod mounts;
mod network;
mod proc;
mod processes;
mod resolver;
mod serve;
mod sockets;
mod step;
mod sysfs;
mod terminal;
mod walls;
mod watch;

use std::os::fd::{AsFd, OwnedFd, RawFd};

use rustix::io::Errno;

use self::descriptors::{DOOR, TOP, let_go_of_streams, place_descriptors, socket};
pub(crate) use self::findings::UNLIMITED;
use self::guests::Guests;
pub(crate) use self::guests::Room;
pub(crate) use self::step::Step;
use self::step::{Failure, step, step_at};
use crate::message::{Buffer, Kind};
use crate::script::{MOST_COVERS, Script};
use crate::sys::{self, Stack};
use offshoot_vocabulary::Demand;

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
    let mut covers = [const { None }; MOST_COVERS];
    loop {
        match buffer.receive(socket) {
            Ok(Some(message)) if message.kind == Kind::Go => break,
            Ok(Some(message)) if message.kind == Kind::Cover => {
                if let Some(cover) = covers.get_mut(message.numbers[0] as usize) {
                    *cover = message.descriptor;
                }
            }
            _ => sys::exit_now(1),
        }
    }
    match run(script, covers, buffer, stack, room) {
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
        Ok(top) => serve::open_for_caller([Some(&top), None, None, None, None], buffer),
        Err(_) => sys::exit_now(1),
    }
    sys::exit_now(0)
}

/// The mounts that cover directories.
type Covers = [Option<OwnedFd>; MOST_COVERS];

/// Covers directories with what translates ids, and takes the ids of the inside. Paths to them may be closed to who has those.
fn take_ids(script: &Script, covers: Covers) -> Result<(), Failure> {
    if !script.own_ids {
        return Ok(());
    }
    for (at, (place, cover)) in script.covers.iter().zip(covers).enumerate() {
        let cover = step_at(Step::Cover, at, cover.ok_or(Errno::BADF))?;
        step_at(Step::Cover, at, detached_mount::attach(cover.as_fd(), place))?;
    }
    step(Step::Ids, sys::become_user(0))
}

fn run(
    script: &Script,
    covers: Covers,
    buffer: &mut Buffer,
    stack: &mut Stack,
    room: Option<&mut Room>,
) -> Result<(), Failure> {
    take_ids(script, covers)?;
    let made = if script.bare { bare::make()? } else { mounts::make(script)? };
    if let Some(ports) = &script.proxy {
        step(Step::Sockets, sockets::hand_out(ports, buffer))?;
    }
    if walls::landlock_demand(script) != Demand::Off {
        walls::make_ruleset(script)?;
    }
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
    let watch = watch::Watch::new(script);
    let mut serving = serve::Serving { script, buffer, stack, signals, made, told, guests, watch };
    serving.serve(started, terminal);
    // The end of this process ends all others, but closes its descriptors first: nobody is to see renames fail in between.
    if script.bare {
        bare::end_all();
    } else {
        let _nobody_is_left = sys::signal_all(libc::SIGKILL);
    }
    Ok(())
}
