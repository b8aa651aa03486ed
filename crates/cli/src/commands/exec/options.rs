//! Options that `exec` and `run` have in common.

mod net;

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, value_parser};
use offshoot_engine::exec::ExecutionTimeout;
use offshoot_engine::settings::{parse_duration, parse_size};
use offshoot_protocol::{CheckpointMode, DriverChoice, Network};

use crate::complete;
use crate::error::CliError;
use crate::words::words;

pub(crate) use net::{Net, NetParser, net};

// Where and how a command runs.
#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Start in this directory of the workspace [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Choose what the command can reach; allow= can be repeated [default: exec.net]
    #[arg(long, value_name = "NET", value_parser = NetParser)]
    pub(crate) net: Vec<Net>,
    /// Run by this profile, such as strict; `offshoot sandbox show` lists them [default: workspace]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) sandbox: Option<String>,
    /// Run a coding agent by this preset, or by none; `offshoot presets list` lists them [default: by the program]
    #[arg(long, value_name = "PRESET", add = complete::presets())]
    pub(crate) preset: Option<String>,
    /// Switch the questions and the sandbox of the agent itself off, by its preset
    #[arg(long)]
    pub(crate) trust_agent: bool,
    /// Show the command this file or directory of the host; what it writes there is thrown away
    #[arg(long, value_name = "PATH")]
    pub(crate) show: Vec<PathBuf>,
    /// Let all processes of the command use this much memory together, such as 2GiB [default: exec.max_memory]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<u64>,
    /// Let the command have this many processes and threads [default: exec.max_processes]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub(crate) processes: Option<u64>,
    /// Let all processes of the command use this much processor time together, such as 60s [default: exec.max_cpu]
    #[arg(long, value_name = "TIME", value_parser = processor_time)]
    pub(crate) cpu: Option<Duration>,
    /// Make any write to the workspace fail
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Fork a new workspace from this REF [default: head]
    #[arg(long, value_name = "REF", conflicts_with = "workspace", add = complete::references())]
    pub(crate) from: Option<String>,
    /// Delete the new workspace once it is unused for a while
    #[arg(long, conflicts_with = "workspace")]
    pub(crate) ephemeral: bool,
    /// Keep the new workspace even if the command changes nothing
    #[arg(long)]
    pub(crate) keep: bool,
    /// Choose when to make a checkpoint before the command
    #[arg(long, value_parser = words::<CheckpointMode>(), default_value_t)]
    pub(crate) checkpoint: CheckpointMode,
    /// Pass a variable on, or set one: NAME or NAME=VALUE
    #[arg(short, long, value_name = "NAME[=VALUE]", value_parser = OsStringValueParser::new().try_map(variable))]
    pub(crate) env: Vec<OsString>,
    /// Wait until the workspace is free, at most for TIME
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, value_parser = wait, default_missing_value = "365d")]
    pub(crate) wait: Option<Duration>,
    /// Wait for a person where one has to approve the command, at most for TIME; then print the final answer
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, value_parser = wait, default_missing_value = "365d")]
    pub(crate) wait_approval: Option<Duration>,
    /// Add rules for this command, which can only restrict it: a TOML or Rego file
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Vec<PathBuf>,
    /// Compare the files of the workspace with their hashes first; run nothing where one is damaged
    #[arg(long)]
    pub(crate) verify: bool,
    /// Run without the package caches of the vault; nothing is added to them
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Mount the workspace this way [default: exec.driver]
    #[arg(long, value_parser = words::<DriverChoice>())]
    pub(crate) driver: Option<DriverChoice>,
}

impl Options {
    /// What the command can reach, where that was said, and the rules of hosts.
    pub(super) fn net(&self) -> Result<Option<(Network, Vec<String>)>, CliError> {
        net(&self.net)
    }

    /// Whether the command begins with what was meant for `--wait`, which takes a time only behind `=`.
    pub(crate) fn check_wait(&self, command: &[OsString]) -> Result<(), CliError> {
        let first = command.first().and_then(|word| word.to_str()).filter(|word| {
            word.starts_with(|first: char| first.is_ascii_digit()) && duration(word).is_some()
        });
        match (self.wait == Some(WAIT_LONG), first) {
            (true, Some(time)) => Err(CliError::usage(format!("{time} is not a command"))
                .hint(format!("write --wait={time} if it is how long to wait"))),
            _ => Ok(()),
        }
    }

    /// Whether a session that was started without these options is what is asked for.
    pub(super) fn can_join(&self) -> bool {
        let as_usual = self.checkpoint == CheckpointMode::Auto;
        let limited = self.memory.is_some() || self.processes.is_some() || self.cpu.is_some();
        as_usual
            && !limited
            && self.wait.is_none()
            && self.wait_approval.is_none()
            && self.driver.is_none()
            && !self.verify
            && !self.no_cache
    }
}

/// What `--wait` means without a time.
const WAIT_LONG: Duration = Duration::from_hours(365 * 24);

/// A variable that is passed on or set: it has a name.
pub(crate) fn variable(item: OsString) -> Result<OsString, &'static str> {
    match item.as_encoded_bytes().first() {
        None | Some(b'=') => Err("the name of the variable is missing"),
        Some(_) => Ok(item),
    }
}

/// Where a file of the host is that a command is shown: without `.` and `..`.
pub(crate) fn shown(path: &Path) -> Result<PathBuf, CliError> {
    let path = std::path::absolute(path)
        .map_err(|error| CliError::usage(format!("{}: {error}", path.display())))?;
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    Ok(plain)
}

/// A duration; a number alone is of seconds.
fn duration(text: &str) -> Option<Duration> {
    text.trim().parse().ok().map(Duration::from_secs).or_else(|| parse_duration(text))
}

/// A duration, or `none`, which 0 means too.
pub(crate) fn timeout(text: &str) -> Result<ExecutionTimeout, String> {
    match (text, duration(text)) {
        // As in the settings, and as `timeout` has it.
        ("none", _) | (_, Some(Duration::ZERO)) => Ok(ExecutionTimeout::None),
        (_, Some(duration)) => {
            Ok(ExecutionTimeout::Millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
        }
        _ => Err("expected a duration such as 30s or 5m, or none".to_owned()),
    }
}

/// No program starts with less memory.
const LEAST_MEMORY: u64 = 1 << 20;

fn memory(text: &str) -> Result<u64, String> {
    let size = parse_size(text).filter(|size| *size > 0);
    match size.ok_or_else(|| "expected a size such as 512MiB or 2GiB".to_owned())? {
        size if size < LEAST_MEMORY => {
            Err(format!("{size} bytes are too few for any program; at least 1MiB"))
        }
        size => Ok(size),
    }
}

fn processor_time(text: &str) -> Result<Duration, String> {
    let time = duration(text).filter(|time| !time.is_zero());
    time.ok_or_else(|| "expected a duration such as 60s".to_owned())
}

/// How long somebody waits.
pub(crate) fn patience(text: &str) -> Result<Duration, String> {
    wait(text)
}

fn wait(text: &str) -> Result<Duration, String> {
    duration(text).ok_or_else(|| "expected a duration such as 30s".to_owned())
}
