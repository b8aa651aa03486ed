//! Runs a program and breaks its system calls: kills it at one, fails one, leaves a sync out.
//!
//! The program and all its threads and children are followed with `ptrace`. Calls that change files
//! are counted from the moment the program has started; [`Trace::calls`] lists them. Not counted are
//! writes to what is no file (pipes, sockets, terminals) or lies in `/proc` or `/dev` (but for
//! `/dev/shm`), writes through shared memory maps, and `io_uring`. With several threads the order of
//! calls is that in which they happened, which may differ from run to run.
//!
//! The run ends when the last process has ended, so a program that leaves a daemon behind is waited
//! for. Signals above 31 and stopping by job control are not supported.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

#[cfg(target_arch = "x86_64")]
mod calls;
#[cfg(target_arch = "x86_64")]
mod tracee;
#[cfg(target_arch = "x86_64")]
mod tracer;

/// A program that has not ended after this time is killed, and [`run`] fails.
pub const TIME_LIMIT: Duration = Duration::from_secs(300);

/// What goes wrong. Calls and syncs are counted from 1.
pub enum Fault {
    /// Nothing.
    None,
    /// All processes are killed before the Nth changing call runs.
    KillAt(u64),
    /// All processes are killed after the Nth changing call has run.
    KillAfter(u64),
    /// The Nth changing call does not run, and returns this error.
    FailAt {
        /// Which call.
        n: u64,
        /// The error number, as in `libc::ENOSPC`.
        errno: i32,
    },
    /// Of the syncs of files and directories for whose paths this is true, none runs from the Nth on, and each returns this error.
    FailSyncsOf {
        /// From which of them on.
        from: u64,
        /// The error number.
        errno: i32,
        /// Of which paths.
        which: Box<dyn Fn(&Path) -> bool + Send>,
    },
    /// This one sync does not run, and claims to have succeeded.
    SkipSync {
        /// Which sync.
        nth_sync: u64,
    },
    /// No sync runs, and all claim to have succeeded.
    SkipAllSyncs,
    /// No sync of a file or directory for whose path this is true runs, and all claim to have succeeded.
    SkipSyncsOf(Box<dyn Fn(&Path) -> bool + Send>),
}

impl fmt::Debug for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::None => write!(formatter, "None"),
            Self::KillAt(n) => write!(formatter, "KillAt({n})"),
            Self::KillAfter(n) => write!(formatter, "KillAfter({n})"),
            Self::FailAt { n, errno } => write!(formatter, "FailAt({n}, {errno})"),
            Self::FailSyncsOf { from, errno, .. } => {
                write!(formatter, "FailSyncsOf({from}, {errno}, ..)")
            }
            Self::SkipSync { nth_sync } => write!(formatter, "SkipSync({nth_sync})"),
            Self::SkipAllSyncs => write!(formatter, "SkipAllSyncs"),
            Self::SkipSyncsOf(_) => write!(formatter, "SkipSyncsOf(..)"),
        }
    }
}

/// One call that changes files, or would have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The name of the system call.
    pub name: &'static str,
    /// The path it was given, made absolute by the directory it is relative to, or the path of the
    /// descriptor it was given. Symbolic links and `..` are left as they are.
    pub path: Option<PathBuf>,
    /// The second path of calls that take two.
    pub second: Option<PathBuf>,
    /// Whether it is a sync.
    pub sync: bool,
    /// The thread that made it.
    pub thread: i32,
    /// What it returned (an error as a negative number), or nothing if the thread did not live to see it.
    pub result: Option<i64>,
}

impl fmt::Display for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}(", self.name)?;
        for (separator, path) in [("", &self.path), (", ", &self.second)] {
            if let Some(path) = path {
                write!(formatter, "{separator}{}", path.display())?;
            }
        }
        write!(formatter, ")")?;
        match self.result {
            Some(result) => write!(formatter, " = {result}"),
            None => write!(formatter, " = ?"),
        }
    }
}

/// What a program did.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The calls that change files, in order.
    pub calls: Vec<Call>,
    /// How the program ended.
    pub status: ExitStatus,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// How many calls change files, syncs included.
    pub mutating: u64,
    /// How many of them are syncs.
    pub syncs: u64,
}

/// Runs `command` (found in `PATH` if it has no slash) with `env` added to the environment, in `cwd`
/// or the current directory, with empty standard input, in a process group of its own.
///
/// The shell that starts the program may add `PWD` to the environment.
pub fn run(
    command: &[OsString],
    env: &[(OsString, OsString)],
    cwd: Option<&Path>,
    fault: Fault,
) -> io::Result<Trace> {
    #[cfg(target_arch = "x86_64")]
    return tracer::run(command, env, cwd, fault);
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _unused = (command, env, cwd, fault);
        let why = "system calls are only decoded on x86_64";
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }
}
