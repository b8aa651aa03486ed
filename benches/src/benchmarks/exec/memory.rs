//! The memory of an exec.

use std::process::{Command, Stdio};

use nix::sys::ptrace;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::Result;
use crate::bench::Bench;
use crate::report::{Report, Unit};

pub(in crate::benchmarks) const NAME: &str = "exec-memory";

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let files = bench.options.scaled(100, 10_000);
    let tree = bench.tree(files)?;
    let home = bench.vault_of(&tree)?;
    let all = "for f in part-*/module-*/*; do echo more >> $f; done".to_owned();
    let scripts = [
        ("true".to_owned(), "true".to_owned()),
        ("10 changed files".to_owned(), super::ten_changes(files)),
        (format!("{files} changed files"), all),
    ];
    let turns = bench.options.pairs().min(5);
    let mut found = Vec::new();
    for (number, (label, script)) in scripts.into_iter().enumerate() {
        let mut sizes = Vec::new();
        for turn in 0..turns {
            let name = format!("n-{number}-{turn}");
            bench.prepare(&home, &tree, &["workspace", "create", &name])?;
            let arguments = ["exec", "-w", &name, "--json", "--", "sh", "-c", &script];
            sizes.push(most_memory(bench.offshoot(&home, &tree, &arguments))?);
        }
        found.push((label, sizes));
    }
    let mut version = Vec::new();
    for _ in 0..turns {
        version.push(most_memory(bench.offshoot(&home, &tree, &["--version"]))?);
    }

    let about = "the most memory that the process itself had resident, without the command";
    let mut report = Report::new(NAME, format!("{about}; in a tree of {files} files"));
    for (label, sizes) in &found {
        report.add(format!("exec: {label}"), Unit::Size, sizes.clone());
    }
    report.add("offshoot --version", Unit::Size, version);
    for (label, sizes) in &found[1..] {
        let ratio = sizes.iter().zip(&found[0].1).map(|(large, small)| large / small).collect();
        report.add(format!("exec: {label} / true"), Unit::Ratio, ratio);
    }
    Ok(report)
}

/// The most memory that a process had resident since its program started, in bytes. What the kernel tells about a process
/// that is over counts its children in and, worse, what the process was a copy of before it executed the program; so it
/// is stopped just before its end and asked itself.
fn most_memory(mut command: Command) -> Result<f64> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn()?;
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    ptrace::seize(pid, ptrace::Options::PTRACE_O_TRACEEXIT)?;
    let mut most = None;
    loop {
        match waitpid(pid, None)? {
            WaitStatus::Exited(_, 0) => {
                return Ok(most.ok_or("a process ended without being stopped")?);
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
        let most = most_memory(command).expect("it can be measured");
        assert!((200_000.0..32_000_000.0).contains(&most), "{most}");
    }
}
