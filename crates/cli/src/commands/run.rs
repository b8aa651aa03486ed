//! `offshoot run`: a command for the person in front of the terminal.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;
use offshoot_engine::exec::{CommandLine, ExecutionTimeout};

use super::exec::{self, Ask, Form, Input, Options, timeout};
use crate::context::Context;
use crate::error::Result;
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  offshoot run                         start your shell ($SHELL) in a fork of this folder
  offshoot run -w fix                  start it in workspace fix, which is forked if there is none
  offshoot run -w fix vim README.md    run an editor there
  offshoot run --read-only less README.md
  echo data | offshoot run wc -c       use pipes where there is no terminal

The command gets a terminal of its own: Ctrl-C goes to the command, and closing the window ends it.
At the end, run shows what changed and how to undo it. The exit code is the command's, as with
`offshoot exec`. A second `run -w fix` at a terminal joins the one that is running there: both see
the same files, and the first shows what changed when both have ended.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// Command to run, with its arguments [default: $SHELL, or /bin/sh]
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    command: Vec<OsString>,
    /// End the command after this time, such as 30s; none or 0 sets no limit [default: run.timeout]
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    timeout: Option<ExecutionTimeout>,
    #[command(flatten)]
    options: Options,
    /// Use pipes even at a terminal
    #[arg(short = 'T', long)]
    no_terminal: bool,
    /// Do not record the output for `offshoot logs`
    #[arg(long, conflicts_with = "json")]
    no_record: bool,
}

/// Runs the command; the exit code is the command's.
pub(crate) fn run(args: &RunArgs, context: &Context) -> Result<u8> {
    // One document on standard output and a terminal there exclude each other.
    let json = context.output.is_json();
    let attended = terminal::is_attended() && !args.no_terminal && !json;
    let mut ask = Ask {
        timeout: args.timeout,
        default_timeout: context.config().run.timeout,
        shell: args.command.is_empty(),
        session: true,
        timeout_key: "run.timeout",
        input: if attended { Input::Terminal } else { Input::Stream },
        record: !args.no_record,
        ..Ask::new(CommandLine::Argv(command(&args.command)), &args.options, context)
    };
    exec::perform(&mut ask, if json { Form::Json } else { Form::Person }, context)
}

/// What to run: what was asked for, else the user's shell.
fn command(asked: &[OsString]) -> Vec<OsString> {
    if !asked.is_empty() {
        return asked.to_vec();
    }
    let shell = std::env::var_os("SHELL").filter(|shell| Path::new(shell).is_absolute());
    vec![shell.unwrap_or_else(|| "/bin/sh".into())]
}
