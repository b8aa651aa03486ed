//! Commands that are running: found, ended, listened to.

use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use offshoot_store::{Id, ProcessMark};
use offshoot_vault::{Actor, ExecNote, ExecRecord, RunningExec, Vault};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::error::{Result, ServiceError};
use crate::id_lookup::Asked;

/// How long after a command is over it may take to be recorded.
const RECORDING: Duration = Duration::from_secs(10);
/// How often to look.
const LOOK: Duration = Duration::from_millis(5);

/// How a command is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As an interrupt does: it is asked, and killed when its grace is over.
    Ask,
    /// It is killed at once, with everything that it started.
    Now,
    /// Its processes get a signal, and what becomes of that is theirs.
    Signal(i32),
}

/// Finds and ends commands that are running.
#[derive(Clone, Copy, Debug)]
pub struct RunningService<'a> {
    vault: &'a Vault,
}

impl<'a> RunningService<'a> {
    /// Works on a vault.
    pub fn new(vault: &'a Vault) -> Self {
        Self { vault }
    }

    /// What runs now, oldest first, in one workspace or in all.
    pub fn list(&self, workspace: Option<Id>) -> Result<Vec<ExecNote>> {
        let running = self.vault.running()?.into_iter().map(|running| running.note);
        Ok(running.filter(|note| workspace.is_none_or(|id| note.workspace == id)).collect())
    }

    /// One that runs, by the start of its id.
    pub fn find(&self, text: &str) -> Result<Option<RunningExec>> {
        self.pick(&Asked::new(text))
    }

    /// The same for one that is to be ended, which takes more of its id.
    pub fn find_to_end(&self, text: &str) -> Result<Option<RunningExec>> {
        self.pick(&Asked::for_good(text))
    }

    fn pick(&self, asked: &Asked<'_>) -> Result<Option<RunningExec>> {
        let mut fitting = self.vault.running()?;
        fitting.retain(|running| asked.fits(&running.note.exec));
        asked.only(fitting, |running| running.note.exec.to_string())
    }

    /// The record of a command that is over; none where it was cut short. Whoever ran it may be about to write it.
    pub fn recorded(&self, running: &RunningExec) -> Result<Option<ExecRecord>> {
        let deadline = Instant::now() + RECORDING;
        loop {
            // Asked first: a process that ends after this has recorded what it had to.
            let alive = running.note.process.is_alive();
            let record = self.vault.exec(&running.note.exec)?;
            if record.is_some() || !alive || Instant::now() >= deadline {
                return Ok(record);
            }
            thread::sleep(LOOK);
        }
    }

    /// Ends a command, and records who wanted that. What it wrote is sealed and recorded by the process that runs it.
    pub fn end(&self, running: &RunningExec, ending: Ending, actor: &Actor) -> Result<()> {
        send(running, ending)?;
        let note = &running.note;
        self.vault.record_event("kill", actor, |tx| {
            tx.scope(note.workspace);
            tx.summary(format!("end {}", note.command));
            tx.detail("exec", note.exec);
            tx.detail("command", &note.command);
            tx.detail(
                "how",
                match ending {
                    Ending::Ask => "asked".to_owned(),
                    Ending::Now => "killed".to_owned(),
                    Ending::Signal(number) => format!("signal {number}"),
                },
            );
            Ok(())
        })?;
        Ok(())
    }
}

/// Has a command end.
fn send(running: &RunningExec, ending: Ending) -> Result<()> {
    let note = &running.note;
    let own = || match (note.shared && note.joined.is_none(), &note.init) {
        (true, Some(init)) => signal(running, init, Signal::TERM),
        (true, None) => Err(over(running)),
        (false, _) => signal(running, &note.process, Signal::TERM),
    };
    match ending {
        Ending::Ask => own(),
        // The others inside are not this one's.
        Ending::Now if note.joined.is_some() => signal(running, &note.process, Signal::QUIT),
        Ending::Signal(_) if note.joined.is_some() => {
            let session = note.joined.map(|id| id.short()).unwrap_or_default();
            Err(ServiceError::Request(format!(
                "exec {} joined {session}, and signals go to all of that: name {session}",
                note.exec.short()
            )))
        }
        Ending::Now => {
            // Told first, so that the envelope says who ended it.
            own()?;
            signal_inside(running, Signal::KILL)
        }
        Ending::Signal(number) => {
            let unknown = || ServiceError::Request(format!("there is no signal {number}"));
            signal_inside(running, Signal::from_named_raw(number).ok_or_else(unknown)?)
        }
    }
}

/// Sends a signal to one process, if it is still the one that was meant.
fn signal(running: &RunningExec, process: &ProcessMark, signal: Signal) -> Result<()> {
    let failed = |errno: Errno| match errno {
        Errno::SRCH => over(running),
        Errno::PERM => ServiceError::NotYours { exec: running.note.exec, process: process.pid },
        other => ServiceError::Request(format!("cannot signal process {}: {other}", process.pid)),
    };
    let Some(pid) = Pid::from_raw(process.pid.cast_signed()) else { return Err(over(running)) };
    let held = pidfd_open(pid, PidfdFlags::empty()).map_err(failed)?;
    // From here on the number cannot come to mean another; whether it already did shows only now.
    if !process.is_alive() || running.is_over() {
        return Err(over(running));
    }
    pidfd_send_signal(held, signal).map_err(failed)
}

/// Sends a signal to everything that the command started.
fn signal_inside(running: &RunningExec, sent: Signal) -> Result<()> {
    let Some(init) = running.note.init.filter(ProcessMark::is_alive) else {
        return Err(over(running));
    };
    let inside = below(init.pid);
    for pid in &inside[1..] {
        let Some(number) = Pid::from_raw(pid.cast_signed()) else { continue };
        let Ok(held) = pidfd_open(number, PidfdFlags::empty()) else { continue };
        // Only now, with the number held, can it be known that it still is a process of this command.
        if parent(*pid).is_none_or(|parent| !inside.contains(&parent)) || !init.is_alive() {
            continue;
        }
        match pidfd_send_signal(held, sent) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(Errno::PERM) => {
                return Err(ServiceError::NotYours { exec: running.note.exec, process: *pid });
            }
            Err(other) => {
                return Err(ServiceError::Request(format!("cannot signal process {pid}: {other}")));
            }
        }
    }
    Ok(())
}

/// The command itself, or what is left of it: not the init, which is a copy of whoever started it.
pub(crate) fn command_process(running: &RunningExec) -> Option<u32> {
    let init = running.note.init.filter(ProcessMark::is_alive)?;
    below(init.pid).get(1).copied()
}

/// A process and all whose ancestor it is, parents first.
fn below(ancestor: u32) -> Vec<u32> {
    let parents = parents().unwrap_or_default();
    let mut found = vec![ancestor];
    let mut at = 0;
    while at < found.len() {
        let children = parents.iter().filter(|(_, parent)| *parent == found[at]);
        let children: Vec<u32> = children.map(|(pid, _)| *pid).collect();
        found.extend(children);
        at += 1;
    }
    found
}

/// Every process with its parent.
fn parents() -> io::Result<Vec<(u32, u32)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        found.extend(parent(pid).map(|parent| (pid, parent)));
    }
    Ok(found)
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program comes first and may hold anything, parentheses too.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn over(running: &RunningExec) -> ServiceError {
    ServiceError::NotRunning { exec: running.note.exec }
}
