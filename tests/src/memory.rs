//! The memory of a process, and how long it took.

use std::error::Error;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::ptrace;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

/// What a process took.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// How long it ran.
    pub took: Duration,
    /// The most memory that it had resident since its program started, in bytes.
    pub memory: f64,
}

/// Runs a program to its end. What the kernel tells about a process that is over counts its children in and, worse, what
/// the process was a copy of before it executed the program; so it is stopped just before its end and asked itself.
pub fn cost(mut command: Command) -> Result<Cost, Box<dyn Error>> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let child = command.spawn()?;
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    ptrace::seize(pid, ptrace::Options::PTRACE_O_TRACEEXIT)?;
    let mut most = None;
    loop {
        match waitpid(pid, None)? {
            WaitStatus::Exited(_, 0) => {
                let memory = most.ok_or("a process ended without being stopped")?;
                return Ok(Cost { took: start.elapsed(), memory });
            }
            WaitStatus::PtraceEvent(..) => {
                most = most.or(resident_peak(pid));
                ptrace::cont(pid, None)?;
            }
            WaitStatus::Stopped(_, signal) => ptrace::cont(pid, signal)?,
            other => return Err(format!("{command:?}: {other:?}").into()),
        }
    }
}

fn resident_peak(pid: Pid) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_that_of_the_process_and_not_of_its_children() {
        let mut command = Command::new("sh");
        // The shell's child takes 64 MiB.
        command.args(["-c", "sleep 0.1; dd if=/dev/zero of=/dev/null bs=64M count=1"]);
        let cost = cost(command).expect("it can be measured");
        assert!((200_000.0..32_000_000.0).contains(&cost.memory), "{cost:?}");
        assert!(cost.took >= Duration::from_millis(100));
    }
}
