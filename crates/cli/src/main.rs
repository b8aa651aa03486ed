//! The `offshoot` command line: it reads settings and arguments, calls the libraries, and prints what they answer.

mod args;
mod commands;
mod complete;
mod context;
mod error;
mod fleet;
mod global;
mod inside;
mod interrupt;
mod invocation;
mod output;
mod pager;
mod progress;
mod provider_choice;
mod render;
mod review;
mod screen;
mod terminal;
mod words;
mod worker;

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::Cli;
use crate::context::Context;
use crate::error::CliError;

fn main() -> ExitCode {
    if let Some(code) = worker::serve() {
        return code;
    }
    if complete::answer(Cli::command) {
        return ExitCode::SUCCESS;
    }
    output::take_time();
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    match args::parse(&arguments) {
        Ok((cli, invocation)) => {
            invocation::remember(invocation);
            run(cli)
        }
        Err(error) => args::report_parse_error(error, &arguments),
    }
}

fn run(cli: Cli) -> ExitCode {
    let open_files = raise_file_limit();
    let json = cli.global.json;
    let started = inside::check(&cli.global, cli.command.needs_no_vault())
        .and_then(|()| Context::new(&cli.global, cli.command.needs(), open_files));
    let outcome = started.and_then(|context| {
        let code = commands::run(cli.command, &context, Cli::command);
        // What is worth knowing is so all the more where the command failed.
        context.output.finish()?;
        code
    });
    let code = outcome.unwrap_or_else(|error: CliError| {
        output::claim_answer();
        output::report_error(&error, json).number()
    });
    ExitCode::from(code)
}

/// Trees are walked with open directories, and the usual soft limit of 1,024 is for programs that use `select`. Returns
/// the limit as it was, which commands get back.
fn raise_file_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Where it is refused, deep trees fail later with an error that says so.
    let _refused = setrlimit(Resource::Nofile, raised).is_err();
    limit.current
}
