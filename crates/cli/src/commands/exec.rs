//! `offshoot exec`: one command in a workspace.

mod answer;
mod request;
mod setup;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use offshoot_workspace::{ExecutionTimeout, ProxyRuntime};

use crate::commands::vault::compact;
use crate::config::parse_duration;
use crate::context::Context;
use crate::error::Result;

const EXAMPLES: &str = "\
Examples:
  offshoot exec -- cargo test                     fork a workspace of this folder and run there
  offshoot exec -w fix -- sh -c 'echo hi > f'     run in workspace fix
  offshoot exec -w fix --shell 'make && make test'
  offshoot exec --json -- npm test                one JSON envelope: output, exit code, what changed
  offshoot exec --read-only -- rg TODO            any write fails
  offshoot exec --timeout 30s --net host -- curl -s localhost:8080
  echo data | offshoot exec -i -- wc -c           with this standard input

The folder itself is not touched: see what changed with `offshoot diff`, take it back with
`offshoot undo`. The exit code is the command's; 124 time is over, 125 Offshoot failed,
126 cannot be executed, 127 not found, 128+N ended by signal N.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExecArgs {
    /// The command and its arguments
    #[arg(last = true, value_name = "CMD", required_unless_present = "shell")]
    command: Vec<OsString>,
    /// A text for /bin/sh, instead of a command
    #[arg(long, value_name = "TEXT", conflicts_with = "command")]
    shell: Option<OsString>,
    /// How long it may take: a duration such as 30s, or none [default: exec.timeout]
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    timeout: Option<ExecutionTimeout>,
    /// Where to start, inside the workspace [default: the current folder's place in it]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// What the command can reach
    #[arg(long, value_enum, default_value_t = Net::None)]
    net: Net,
    /// Make any write to the workspace fail
    #[arg(long)]
    read_only: bool,
    /// Fork a new workspace from this REF [default: head]
    #[arg(long, value_name = "REF", conflicts_with = "workspace")]
    from: Option<String>,
    /// Throw the new workspace away when it was not used for a while
    #[arg(long, conflicts_with = "workspace")]
    ephemeral: bool,
    /// When to keep the state before the command as a checkpoint
    #[arg(long, value_enum, default_value_t = Checkpoint::Auto)]
    checkpoint: Checkpoint,
    /// Pass a variable on, or set one: NAME or NAME=VALUE
    #[arg(short, long, value_name = "NAME[=VALUE]")]
    env: Vec<OsString>,
    /// Give the command this standard input; without it there is none
    #[arg(short = 'i', long)]
    stdin: bool,
    /// Add the changes as a patch
    #[arg(long)]
    diff: bool,
    /// Print one JSON event a line as things happen, the envelope last
    #[arg(long, conflicts_with = "json")]
    stream: bool,
    /// Wait for a workspace in which something else runs, for as long as it takes or for TIME
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, value_parser = wait, default_missing_value = "365d")]
    wait: Option<Duration>,
    /// How to make the workspace a directory [default: exec.driver]
    #[arg(long, value_enum)]
    driver: Option<DriverName>,
}

/// Aliases that people bring along.
#[derive(Debug, Subcommand)]
pub(crate) enum ProxyCommand {
    /// The same as `offshoot exec`
    Exec(Box<ExecArgs>),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Net {
    /// A loopback interface of its own
    None,
    /// Everything that the host reaches
    Host,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Checkpoint {
    /// Before commands that change something
    Auto,
    /// Before every command
    Always,
    /// Before none
    Never,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DriverName {
    /// The first that works
    Auto,
    /// The kernel's overlayfs over the layers of the vault
    Overlay,
    /// A plain copy
    Copy,
}

fn timeout(text: &str) -> Result<ExecutionTimeout, String> {
    match (text, parse_duration(text)) {
        ("none", _) => Ok(ExecutionTimeout::None),
        (_, Some(duration)) if !duration.is_zero() => {
            Ok(ExecutionTimeout::Millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
        }
        _ => Err("expected a duration such as 30s or 5m, or none".to_owned()),
    }
}

fn wait(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "expected a duration such as 30s".to_owned())
}

/// Runs the command; the exit code is the command's.
pub(crate) fn run(args: &ExecArgs, context: &Context) -> Result<u8> {
    let answer = answer::Answer::new(args, context);
    let prepared = setup::open(args, context)
        .and_then(|place| request::build(args, context, &place).map(|request| (place, request)));
    let (place, request) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return answer.refuse(args, context, error),
    };
    let options = setup::options(context)?;
    let runtime = ProxyRuntime::new(&place.vault.vault, &place.vault.name, &options);
    let mut live = answer.live(context);
    let envelope = runtime.run(request, &mut live);
    drop(live);
    let code = answer.finish(context, &envelope);
    if let Some((workspace, _)) = &envelope.result.workspace {
        compact::after_command(context, &place.vault, workspace);
    }
    code
}
