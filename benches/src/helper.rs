//! What benchmarks run of their own binary, inside the places that they compare.

use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use crate::Result;
use crate::fetch::{self, Amount, Way};
use crate::minimal_mcp;

/// Times a program and prints a line about it. Programs are timed where they run, so that making the place and taking it
/// down are not part of it.
const LAP: &str = "helper-lap";
/// Runs a program on overlayfs, which nobody else sees.
const OVERLAY: &str = "helper-overlay";

/// Renames a file to and fro and prints a line about it.
const RENAME: &str = "helper-rename";

/// Asks a server for things and prints lines about it.
const FETCH: &str = "helper-fetch";

/// Serves as the least MCP server.
const MCP: &str = "helper-mcp";

/// A time that was taken inside of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lap {
    /// What was timed.
    pub(crate) label: String,
    /// How long it took.
    pub(crate) took: Duration,
}

/// Does a helper's work, if the command line asks for one.
pub(crate) fn run(arguments: &[String]) -> Option<ExitCode> {
    let outcome = match arguments {
        [helper, label, program, rest @ ..] if helper == LAP => lap(label, program, rest),
        [helper, one, other, count] if helper == RENAME => rename(one, other, count),
        [helper, rest @ ..] if helper == FETCH => fetch::client(rest),
        [helper] if helper == MCP => minimal_mcp::serve(),
        [helper, lower, scratch, program, rest @ ..] if helper == OVERLAY => {
            overlay(Path::new(lower), Path::new(scratch), program, rest)
        }
        _ => return None,
    };
    Some(match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

/// The least MCP server.
pub(crate) fn mcp() -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(MCP);
    Ok(command)
}

/// Fails where the commands of benchmarks could not start this program: they have temporary directories of their own.
pub(crate) fn check_visible(own: &Path) -> Result<()> {
    match ["/tmp", "/var/tmp"].into_iter().find(|private| own.starts_with(private)) {
        None => Ok(()),
        Some(private) => Err(format!(
            "the benchmarks are built at {}, and commands in a workspace have a {private} of their own; \
             set CARGO_TARGET_DIR to a directory that is not below {private}",
            own.display()
        )
        .into()),
    }
}

/// What a shell script puts before a label and a program to have it timed.
pub(crate) fn lap_prefix() -> Result<String> {
    prefix(LAP)
}

/// What a shell script puts before two names and a number to have that many renames timed.
pub(crate) fn rename_prefix() -> Result<String> {
    prefix(RENAME)
}

/// This program as a client of a server.
pub(crate) fn fetch(way: Way, server: SocketAddr, amount: Amount) -> Result<Vec<String>> {
    let own = std::env::current_exe()?;
    let own = own.to_str().ok_or("the benchmarks lie in an odd place")?;
    let words = [own, FETCH].map(str::to_owned).to_vec();
    Ok([words, fetch::arguments(way, server, amount)].concat())
}

fn prefix(helper: &str) -> Result<String> {
    let own = std::env::current_exe()?;
    Ok(format!("'{}' {helper}", own.to_str().ok_or("the benchmarks lie in an odd place")?))
}

/// A program on overlayfs above `lower`, with fresh directories in `scratch`, as [`super::bench::Bench`] makes paths.
pub(crate) fn on_overlay(lower: &Path, scratch: &Path) -> Result<Command> {
    for part in ["upper", "work", "merged"] {
        std::fs::create_dir_all(scratch.join(part))?;
    }
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(OVERLAY).arg(lower).arg(scratch);
    Ok(command)
}

/// The laps among what a script printed.
pub(crate) fn laps(printed: &str) -> Vec<Lap> {
    let lap = |line: &str| {
        let mut cells = line.strip_prefix("lap\t")?.split('\t');
        let (label, nanos) = (cells.next()?.to_owned(), cells.next()?.parse().ok()?);
        Some(Lap { label, took: Duration::from_nanos(nanos) })
    };
    printed.lines().filter_map(lap).collect()
}

fn lap(label: &str, program: &str, arguments: &[String]) -> Result<()> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status().map_err(|error| format!("{program}: {error}"))?;
    let took = start.elapsed();
    if !status.success() {
        return Err(format!("{label}: {status}").into());
    }
    println!("lap\t{label}\t{}", took.as_nanos());
    Ok(())
}

fn rename(one: &str, other: &str, count: &str) -> Result<()> {
    let count: u64 = count.parse()?;
    let start = Instant::now();
    for turn in 0..count {
        let (from, to) = if turn % 2 == 0 { (one, other) } else { (other, one) };
        std::fs::rename(from, to)?;
    }
    println!("lap\trenames\t{}", start.elapsed().as_nanos());
    Ok(())
}

/// Mounts with the options that the product uses. An ordinary user may do so in a user namespace only.
fn overlay(lower: &Path, scratch: &Path, program: &str, arguments: &[String]) -> Result<()> {
    let merged = scratch.join("merged");
    if rustix::process::geteuid().is_root() {
        unshare(CloneFlags::CLONE_NEWNS)?;
    } else {
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
    }
    let nothing = None::<&str>;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)?;
    let options = format!(
        "lowerdir={},upperdir={},workdir={},userxattr,volatile",
        lower.display(),
        scratch.join("upper").display(),
        scratch.join("work").display()
    );
    mount(Some("bench"), &merged, Some("overlay"), MsFlags::empty(), Some(options.as_str()))?;
    Err(Command::new(program).args(arguments).current_dir(&merged).exec().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_commands_cannot_see_is_refused() {
        for (path, visible) in [
            ("/tmp/checkout/target/release/offshoot-benches", false),
            ("/var/tmp/target/release/offshoot-benches", false),
            ("/srv/tmp/target/release/offshoot-benches", true),
            ("/tmpfs/target/release/offshoot-benches", true),
        ] {
            assert_eq!(check_visible(Path::new(path)).is_ok(), visible, "{path}");
        }
        let error = check_visible(Path::new("/tmp/benches")).unwrap_err().to_string();
        assert!(error.contains("set CARGO_TARGET_DIR"), "{error}");
    }

    #[test]
    fn laps_are_found_among_other_lines() {
        let found = laps("hello\nlap\tgit add\t1500\nlap\tbroken\n");
        let took = Duration::from_nanos(1500);
        assert_eq!(found, [Lap { label: "git add".to_owned(), took }]);
    }

    #[test]
    fn other_command_lines_are_not_for_helpers() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(run(&words("exec --smoke")).is_none());
        assert!(run(&words("helper-lap label")).is_none());
    }
}
