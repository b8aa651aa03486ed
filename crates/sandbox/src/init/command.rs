//! Starting the command.

use std::convert::Infallible;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::{Failure, Step, step};
use crate::script::Script;
use crate::spec::Limits;
use crate::sys;

/// A command that was started, or could not be.
pub(super) enum Started {
    /// It runs as this process.
    Running(i32),
    /// It could not be executed.
    NotExecuted(Errno),
}

/// Starts the command and waits until it is executed.
pub(super) fn start(script: &Script) -> Result<Started, Failure> {
    let (read, write) = step(Step::Fork, pipe_with(PipeFlags::CLOEXEC))?;
    let report = write.as_raw_fd();
    let pid = step(Step::Fork, sys::fork(&mut || become_command(script, report)))?;
    drop(write);
    // Executing closes the other end, so this is over as soon as it worked.
    let mut failed = [0u8; 2];
    match read_all(read.as_fd(), &mut failed) {
        Ok(2) => {}
        _ => return Ok(Started::Running(pid)),
    }
    let errno = Errno::from_raw_os_error(failed[1].into());
    let _status = sys::reap(true);
    match Step::ALL.iter().find(|step| **step as u8 == failed[0]) {
        Some(at) => step(*at, Err(errno)),
        None => Ok(Started::NotExecuted(errno)),
    }
}

fn read_all(from: BorrowedFd<'_>, bytes: &mut [u8; 2]) -> Result<usize, Errno> {
    loop {
        match rustix::io::read(from, &mut *bytes) {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

/// The step that stands for executing itself.
const EXECUTING: u8 = u8::MAX;

fn become_command(script: &Script, report: RawFd) -> Infallible {
    let (step, errno) = match prepare(script) {
        Ok(()) => (EXECUTING, execute(script)),
        Err(failure) => (failure.step as u8, failure.errno),
    };
    let number = u8::try_from(errno.raw_os_error()).unwrap_or(u8::MAX);
    let _init_is_gone = rustix::io::write(sys::borrow(report), &[step, number]).is_err();
    sys::exit_now(127)
}

fn prepare(script: &Script) -> Result<(), Failure> {
    // A session of its own: no terminal of the caller is its own, so it cannot type into one.
    step(Step::Session, rustix::process::setsid())?;
    sys::reset_signals();
    step(Step::Limits, set_limits(&script.limits))?;
    step(Step::Privileges, sys::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0))?;
    step(Step::Privileges, sys::drop_capabilities())?;
    step(Step::WorkingDirectory, rustix::process::chdir(script.directory.as_c_str()))
}

fn set_limits(limits: &Limits) -> Result<(), Errno> {
    // A crash leaves no dump of memory among the files.
    sys::set_limit(libc::RLIMIT_CORE, 0, Some(0))?;
    if let Some(open_files) = limits.open_files {
        sys::set_limit(libc::RLIMIT_NOFILE, open_files, None)?;
    }
    let both = [
        (libc::RLIMIT_NPROC, limits.processes),
        (libc::RLIMIT_FSIZE, limits.file_size),
        (libc::RLIMIT_AS, limits.memory),
    ];
    for (resource, limit) in both {
        if let Some(limit) = limit {
            sys::set_limit(resource, limit, Some(limit))?;
        }
    }
    Ok(())
}

/// Tries every place where the program may be; returns why none worked.
fn execute(script: &Script) -> Errno {
    let mut refused = None;
    for (at, program) in script.programs.iter().enumerate() {
        let errno = match sys::execute(program, &script.arguments, &script.environment) {
            // A script without a first line that names its interpreter is the shell's.
            Errno::NOEXEC => {
                sys::execute(c"/bin/sh", &script.shell_arguments[at], &script.environment)
            }
            errno => errno,
        };
        match errno {
            Errno::NOENT | Errno::NOTDIR => {}
            Errno::ACCESS => refused = Some(errno),
            other => return other,
        }
    }
    refused.unwrap_or(Errno::NOENT)
}
