//! The loop that follows a program from stop to stop.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::calls;
use super::tracee::{self, Entry, Place};
use super::{Call, Fault, TIME_LIMIT, Trace};

/// The shell stops itself before it becomes the program, so that it can be seized meanwhile.
const STARTER: &str = "kill -STOP $$; exec \"$@\"";

pub(super) fn run(
    command: &[OsString],
    env: &[(OsString, OsString)],
    cwd: Option<&Path>,
    fault: Fault,
) -> io::Result<Trace> {
    let mut starter = Command::new("/bin/sh");
    starter.args(["-c", STARTER, "sh"]).args(command);
    starter.envs(env.iter().map(|(name, value)| (name, value)));
    if let Some(cwd) = cwd {
        starter.current_dir(cwd);
    }
    starter.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A tracer is a thread. One of its own waits for nobody's children but its own, so that tests can
    // run beside each other, and takes its tracees along if it panics.
    let traced = thread::scope(|scope| scope.spawn(|| follow(starter, fault)).join());
    traced.unwrap_or_else(|_| Err(io::Error::other("the tracing thread panicked")))
}

fn follow(mut starter: Command, fault: Fault) -> io::Result<Trace> {
    let mut child = starter.spawn()?;
    let root = pid_of(&child)?;
    // Reading on their own, the program never waits for a full pipe that nobody empties.
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let followed = seize(root).and_then(|()| {
        let mut tracer = Tracer::new(root, fault);
        with_time_limit(root, |expired| tracer.follow(expired)).map(|()| tracer)
    });
    if followed.is_err() {
        abandon(&mut child)?;
    }
    let tracer = followed?;
    let (stdout, stderr) = (join(stdout)?, join(stderr)?);
    if !tracer.started {
        let message = format!("cannot start: {}", String::from_utf8_lossy(&stderr).trim());
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    let status = tracer.status.ok_or_else(|| io::Error::other("the program's end was not seen"))?;
    let mutating = tracer.calls.len() as u64;
    Ok(Trace { calls: tracer.calls, status, stdout, stderr, mutating, syncs: tracer.syncs })
}

/// Waits until the starter has stopped itself, and attaches to it.
fn seize(root: Pid) -> io::Result<()> {
    match waitpid(root, Some(WaitPidFlag::WUNTRACED))? {
        WaitStatus::Stopped(..) => {}
        other => {
            return Err(io::Error::other(format!("the starter did not stop: {other:?}")));
        }
    }
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_EXITKILL;
    ptrace::seize(root, options)?;
    Ok(kill(root, Signal::SIGCONT)?)
}

/// Ends what could not be followed. It may be gone already, and have been waited for.
fn abandon(child: &mut Child) -> io::Result<()> {
    alive(killpg(pid_of(child)?, Signal::SIGKILL))?;
    match child.wait() {
        Err(error) if error.raw_os_error() != Some(libc::ECHILD) => Err(error),
        _ => Ok(()),
    }
}

struct Tracer {
    root: Pid,
    fault: Fault,
    /// Every thread seen and not yet ended.
    threads: BTreeSet<Pid>,
    /// What to do when the call that a thread is in has finished.
    pending: HashMap<Pid, Pending>,
    calls: Vec<Call>,
    syncs: u64,
    /// Whether the starter has become the program.
    started: bool,
    killed: bool,
    status: Option<ExitStatus>,
}

struct Pending {
    /// Which of the calls.
    index: usize,
    /// What the call is to return instead.
    result: Option<i64>,
    kill: bool,
}

/// What happens to one call.
enum Action {
    Run,
    Kill,
    RunThenKill,
    Return(i64),
}

impl Tracer {
    fn new(root: Pid, fault: Fault) -> Self {
        Self {
            root,
            fault,
            threads: BTreeSet::from([root]),
            pending: HashMap::new(),
            calls: Vec::new(),
            syncs: 0,
            started: false,
            killed: false,
            status: None,
        }
    }

    fn follow(&mut self, expired: &AtomicBool) -> io::Result<()> {
        let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        loop {
            match waitpid(None, Some(flags)) {
                Ok(status) => self.event(status)?,
                Err(Errno::ECHILD) if expired.load(Ordering::SeqCst) => {
                    let why = format!("killed after {} s", TIME_LIMIT.as_secs());
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
                Err(Errno::ECHILD) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(Errno::EINVAL) => {
                    self.kill_all()?;
                    return Err(io::Error::other("a signal above 31 cannot be passed on"));
                }
                Err(error) => return Err(error.into()),
            }
            if expired.load(Ordering::SeqCst) && !self.killed {
                self.kill_all()?;
            }
        }
    }

    fn event(&mut self, status: WaitStatus) -> io::Result<()> {
        let (pid, signal) = match status {
            WaitStatus::Exited(pid, code) => return self.ended(pid, code << 8),
            WaitStatus::Signaled(pid, signal, core) => {
                return self.ended(pid, signal as i32 | if core { 0x80 } else { 0 });
            }
            WaitStatus::PtraceSyscall(pid) => {
                alive(self.syscall(pid))?;
                (pid, None)
            }
            WaitStatus::PtraceEvent(pid, _, event) => {
                self.started |= event == libc::PTRACE_EVENT_EXEC;
                (pid, None)
            }
            WaitStatus::Stopped(pid, signal) => (pid, Some(signal)),
            WaitStatus::Continued(_) | WaitStatus::StillAlive => return Ok(()),
        };
        self.threads.insert(pid);
        if self.killed {
            // A child that was being made when the others were killed.
            alive(kill(pid, Signal::SIGKILL))?;
        }
        Ok(alive(ptrace::syscall(pid, signal))?)
    }

    fn ended(&mut self, pid: Pid, raw: i32) -> io::Result<()> {
        self.threads.remove(&pid);
        self.pending.remove(&pid);
        if pid == self.root {
            self.status = Some(ExitStatus::from_raw(raw));
        }
        Ok(())
    }

    fn syscall(&mut self, pid: Pid) -> Result<(), Errno> {
        if !self.started || self.killed {
            return Ok(());
        }
        match tracee::place(pid)? {
            Place::Entry => self.entry(&Entry::of(pid)?),
            Place::Exit => self.exit(pid),
            Place::Elsewhere => Ok(()),
        }
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Errno> {
        let Some(call) = calls::decode(entry) else {
            return Ok(());
        };
        self.syncs += u64::from(call.sync);
        let mut pending = Pending { index: self.calls.len(), result: None, kill: false };
        let action = self.action(&call);
        self.calls.push(call);
        match action {
            Action::Run => {}
            Action::RunThenKill => pending.kill = true,
            Action::Return(value) => {
                entry.skip()?;
                pending.result = Some(value);
            }
            Action::Kill => {
                entry.skip()?;
                return self.kill_all();
            }
        }
        self.pending.insert(entry.pid, pending);
        Ok(())
    }

    fn action(&self, call: &Call) -> Action {
        let number = self.calls.len() as u64 + 1;
        let skipped = call.sync
            && match &self.fault {
                Fault::SkipSync { nth_sync } => *nth_sync == self.syncs,
                Fault::SkipAllSyncs => true,
                Fault::SkipSyncsOf(which) => call.path.as_deref().is_some_and(which),
                _ => false,
            };
        let named = |call: &Call, which: &dyn Fn(&Path) -> bool| {
            call.sync && call.path.as_deref().is_some_and(which)
        };
        let nth = |which: &dyn Fn(&Path) -> bool| {
            self.calls.iter().filter(|call| named(call, which)).count() as u64 + 1
        };
        match &self.fault {
            Fault::KillAt(n) if *n == number => Action::Kill,
            Fault::KillAfter(n) if *n == number => Action::RunThenKill,
            Fault::FailAt { n, errno } if *n == number => Action::Return(-i64::from(*errno)),
            Fault::FailSyncsOf { from, errno, which }
                if named(call, which) && nth(which) >= *from =>
            {
                Action::Return(-i64::from(*errno))
            }
            _ if skipped => Action::Return(0),
            _ => Action::Run,
        }
    }

    fn exit(&mut self, pid: Pid) -> Result<(), Errno> {
        let Some(pending) = self.pending.remove(&pid) else {
            return Ok(());
        };
        if let Some(value) = pending.result {
            tracee::set_result(pid, value)?;
        }
        self.calls[pending.index].result = Some(tracee::result(pid)?);
        if pending.kill { self.kill_all() } else { Ok(()) }
    }

    fn kill_all(&mut self) -> Result<(), Errno> {
        self.killed = true;
        alive(killpg(self.root, Signal::SIGKILL))?;
        // Those that have left the group.
        self.threads.iter().try_for_each(|pid| alive(kill(*pid, Signal::SIGKILL)))
    }
}

/// A thread may be killed at any moment; then whatever is asked of it fails with `ESRCH`.
fn alive(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::ESRCH) => Ok(()),
        other => other,
    }
}

/// Does `work`, and kills the process group after the time limit. The killing wakes up who waits.
fn with_time_limit(group: Pid, work: impl FnOnce(&AtomicBool) -> io::Result<()>) -> io::Result<()> {
    let flag = AtomicBool::new(false);
    let expired = &flag;
    let (done, watch) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let guard = scope.spawn(move || match watch.recv_timeout(TIME_LIMIT) {
            Err(RecvTimeoutError::Timeout) => {
                expired.store(true, Ordering::SeqCst);
                alive(killpg(group, Signal::SIGKILL))
            }
            _ => Ok(()),
        });
        let result = work(expired);
        drop(done);
        match guard.join() {
            Ok(killed) => result.and(Ok(killed?)),
            Err(_) => Err(io::Error::other("the thread that watches the time panicked")),
        }
    })
}

type Reader = thread::JoinHandle<io::Result<Vec<u8>>>;

fn collect(pipe: Option<impl Read + Send + 'static>) -> Reader {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes))?;
        Ok(bytes)
    })
}

fn join(reader: Reader) -> io::Result<Vec<u8>> {
    reader.join().unwrap_or_else(|_| Err(io::Error::other("the reading thread panicked")))
}

fn pid_of(child: &Child) -> io::Result<Pid> {
    i32::try_from(child.id()).map(Pid::from_raw).map_err(io::Error::other)
}
