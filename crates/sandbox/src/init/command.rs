//! Starting the command.

use std::ffi::{CStr, CString};
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::process::Resource;

use super::descriptors::socket;
use super::step::{Failure, Step, step};
use super::walls::{self, Standing};
use super::{findings, terminal};
use crate::filter::Filter;
use crate::in_force::{Findings, Restriction};
use crate::message::{Buffer, Kind};
use crate::script::Script;
use crate::spec::Limits;
use crate::sys::{self, Stack};

/// A command that was started, or could not be.
pub(super) enum Started {
    /// It runs as this process.
    Running(i32),
    /// It could not be executed.
    NotExecuted(Errno),
}

/// What is known about it.
#[derive(Default)]
pub(super) struct Told {
    /// Why its renames are not told about, where they should be.
    pub(super) unheard: Option<Errno>,
    /// What is in force in it.
    pub(super) findings: Findings,
    /// Its limits: open files, processes, the size of a file.
    pub(super) limits: [i64; 3],
    /// The size of each directory whose files are memory.
    pub(super) tmpfs: i64,
    /// The version of Landlock's rules that hold; 0 where none do.
    pub(super) landlock: i64,
}

/// Starts a command in a directory, at a terminal or not, and waits until it is executed.
pub(super) fn start(
    script: &Script,
    terminal: bool,
    directory: &CStr,
    execute: &mut dyn FnMut() -> Errno,
    buffer: &mut Buffer,
    stack: &mut Stack,
) -> Result<(Started, Told), Failure> {
    // The child shares this memory until it is executed, so it leaves here why it could not be.
    let mut failed: Option<(Option<Step>, Errno)> = None;
    let mut told = Told::default();
    let pid = sys::fork_and_wait(stack, &mut || {
        failed = Some(match prepare(script, terminal, directory) {
            Ok(standing) => {
                told.findings = findings::of_process().and(standing.findings);
                told.limits = findings::limits();
                told.tmpfs = findings::tmpfs(script.private.first().map(CString::as_c_str));
                told.landlock = standing.landlock;
                match filter_calls(script, buffer) {
                    Ok(unheard) => {
                        told.unheard = unheard;
                        told.findings.add(Restriction::CallFilter, walls::refuses_calls());
                        (None, execute())
                    }
                    Err(failure) => (Some(failure.step), failure.errno),
                }
            }
            Err(failure) => (Some(failure.step), failure.errno),
        });
    });
    let pid = step(Step::Fork, pid)?;
    let Some((at, errno)) = failed else { return Ok((Started::Running(pid), told)) };
    let _status = sys::reap_one(pid);
    match at {
        Some(at) => step(at, Err(errno)),
        None => Ok((Started::NotExecuted(errno), told)),
    }
}

fn prepare(script: &Script, at_terminal: bool, directory: &CStr) -> Result<Standing, Failure> {
    // A session of its own: no terminal of the caller is its own, so it cannot type into one.
    step(Step::Session, rustix::process::setsid())?;
    if at_terminal {
        step(Step::Terminal, terminal::control())?;
    }
    sys::reset_signals();
    step(Step::Limits, set_limits(&script.limits))?;
    step(Step::Privileges, sys::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0))?;
    let standing = walls::raise(script)?;
    step(Step::Privileges, sys::drop_capabilities())?;
    step(Step::WorkingDirectory, rustix::process::chdir(directory))?;
    Ok(standing)
}

/// From now on calls are filtered, and the caller hears of every rename; gives why it does not, where it should. Comes last: what is left to
/// do is to be executed.
fn filter_calls(script: &Script, buffer: &mut Buffer) -> Result<Option<Errno>, Failure> {
    let unheard = match &script.filters.telling {
        Some(filter) => match tell_of_renames(filter, buffer) {
            Ok(()) => return Ok(None),
            Err(errno) => Some(errno),
        },
        None => None,
    };
    walls::filter_calls(script).map(|()| unheard)
}

/// The init keeps the descriptor as well, and never uses it. If it were the caller's alone, renames would fail once the caller is
/// killed, and the command would go on without them until its end; so they wait, and the end comes first.
fn tell_of_renames(filter: &Filter, buffer: &mut Buffer) -> Result<(), Errno> {
    let listener = sys::seccomp::listen(filter)?;
    let sent = buffer.send(socket(), Kind::Listener, &[], b"", Some(listener.as_fd()));
    std::mem::forget(listener);
    sent
}

fn set_limits(limits: &Limits) -> Result<(), Errno> {
    // A crash leaves no dump of memory among the files.
    sys::set_limit(libc::RLIMIT_CORE, 0, Some(0))?;
    // Descriptors on their way through sockets are counted for each user against this: what a command does not get stays for the user's others.
    const ENOUGH: u64 = 4096;
    let most = rustix::process::getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    let half = (most / 2).max(ENOUGH).min(most);
    let usual = rustix::process::getrlimit(Resource::Nofile).current.unwrap_or(half);
    let wanted = limits.open_files.unwrap_or(usual.min(half));
    sys::set_limit(libc::RLIMIT_NOFILE, wanted, Some(half.max(wanted)))?;
    // The init is one of its user's processes in this namespace. It ends what uses too much time of all; this is for the case that it cannot.
    let seconds = limits.cpu.map(|cpu| cpu.as_secs().saturating_add(2));
    let both = [
        (libc::RLIMIT_NPROC, limits.processes.map(|most| most.saturating_add(1))),
        (libc::RLIMIT_FSIZE, limits.file_size),
        (libc::RLIMIT_CPU, seconds),
    ];
    for (resource, limit) in both {
        if let Some(limit) = limit {
            sys::set_limit(resource, limit, Some(limit))?;
        }
    }
    Ok(())
}

/// Tries every place where the program may be; returns why none worked.
pub(super) fn execute(script: &Script) -> Errno {
    try_each(script.programs.iter().enumerate(), |(at, program)| {
        match sys::execute(program, &script.arguments, &script.environment) {
            // A script without a first line that names its interpreter is the shell's.
            Errno::NOEXEC => {
                sys::execute(c"/bin/sh", &script.shell_arguments[at], &script.environment)
            }
            errno => seen(script.programs.len(), program, errno),
        }
    })
}

/// Why a program could not be executed. In a directory of `PATH` that nobody may look into, there is none.
pub(super) fn seen(places: usize, program: &CStr, errno: Errno) -> Errno {
    let is_hidden =
        || rustix::fs::access(program, rustix::fs::Access::EXISTS) == Err(Errno::ACCESS);
    if errno == Errno::ACCESS && places > 1 && is_hidden() { Errno::NOENT } else { errno }
}

/// Tries one place after the other; returns why none worked.
pub(super) fn try_each<T>(
    places: impl Iterator<Item = T>,
    mut execute: impl FnMut(T) -> Errno,
) -> Errno {
    let mut refused = None;
    for place in places {
        match execute(place) {
            Errno::NOENT | Errno::NOTDIR => {}
            Errno::ACCESS => refused = Some(Errno::ACCESS),
            other => return other,
        }
    }
    refused.unwrap_or(Errno::NOENT)
}
