//! The command line as clap reads it.

mod describe;
mod leading;
mod targets;
mod tips;

use std::ffi::OsString;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::process::ExitCode as ProcessExit;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches, Parser};
use offshoot_protocol::{Document, ErrorBody, ErrorDocument, ExitCode, Hint, ProgramVersionDoc};

use crate::commands::Command;
use crate::error::CliError;
use crate::global::Global;
use crate::invocation::{self, Invocation};
use crate::output::{finish_write, print_json, report_error};

const AFTER_HELP: &str = "\
Start here:
  offshoot exec make test        run a command in a fork of this folder
  offshoot run                   work in a fork of this folder yourself
  offshoot exec -w fix make      run in workspace fix, which is forked if there is none
  offshoot diff                  see what changed
  offshoot review                choose what is good, hunk by hunk
  offshoot commit                bring it into the folder
  offshoot undo                  take it back

Exit codes: 0 success, 1 failure, 2 usage, 3 not found, 4 conflict, 5 damaged, 6 storage,
7 newer format, 8 busy, 9 inside of a workspace, 128+N ended by signal N (130 Ctrl-C); `exec` and
`run` exit as their command does. A REF is `head`, a workspace, WORKSPACE@CHECKPOINT,
WORKSPACE@base, a checkpoint, or the start of an id.";

/// Copy-on-write workspaces for agents: fork, change, review, undo.
#[derive(Debug, Parser)]
#[command(name = "offshoot", version, after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Reads the command line; with it comes what suggested commands need of it.
pub(crate) fn parse(arguments: &[OsString]) -> Result<(Cli, Invocation), clap::Error> {
    // Taking it apart would take a tenth as long as the whole program does for a small command.
    let mut grammar = ManuallyDrop::new(Cli::command());
    let moved = leading::behind_command(arguments, &grammar);
    let arguments = moved.as_deref().unwrap_or(arguments);
    let one = one_command(&grammar, arguments).map(ManuallyDrop::new);
    let found = match one.and_then(|mut one| one.try_get_matches_from_mut(arguments).ok()) {
        Some(found) => found,
        // What is wrong, and what else there is, the whole grammar says.
        None => grammar.try_get_matches_from_mut(arguments)?,
    };
    targets::agree(&found)?;
    let cli = Cli::from_arg_matches(&found).map_err(|error| error.format(&mut grammar))?;
    Ok((cli, Invocation::new(&found, Cli::command)))
}

/// The grammar with no other command than the one that is called by the first word: clap gives every command that there is a copy of all options that
/// stand everywhere before it reads anything.
fn one_command(grammar: &clap::Command, arguments: &[OsString]) -> Option<clap::Command> {
    let command = grammar.find_subcommand(arguments.get(1)?)?.clone();
    Some(
        Global::augment_args(clap::Command::new(grammar.get_name().to_owned())).subcommand(command),
    )
}

/// What can be read of a command line that is wrong.
fn legible(arguments: &[OsString]) -> Option<Invocation> {
    let read = |arguments: &[OsString]| {
        let found = Cli::command().ignore_errors(true).try_get_matches_from(arguments).ok()?;
        Some(Invocation::new(&found, Cli::command))
    };
    let found = read(arguments)?;
    // What stands behind a word that is no command is not read.
    let options = leading::everywhere(arguments, &Cli::command());
    Some(match read(&options) {
        Some(options) => found.or(options),
        None => found,
    })
}

/// Prints what clap has to say; as a document where the caller wants JSON.
pub(crate) fn report_parse_error(error: clap::Error, arguments: &[OsString]) -> ProcessExit {
    let json = arguments.iter().take_while(|a| *a != "--").any(|a| a == "--json");
    legible(arguments).into_iter().for_each(invocation::remember);
    // To clap's own command for help every word is the name of a command.
    let error = match json && arguments.iter().any(|word| word == "help") {
        true => {
            let plain = arguments.iter().filter(|word| *word != "--json");
            Cli::try_parse_from(plain).err().unwrap_or(error)
        }
        false => error,
    };
    let tip = tips::unknown_command(&error, arguments, Cli::command);
    if let Some(error) = tip.or_else(|| tips::unknown_option(&error, arguments, Cli::command)) {
        return ProcessExit::from(report_error(&error, json).number());
    }
    if json && error.kind() == ErrorKind::DisplayHelp {
        let document = Document::new(describe::describe(arguments, Cli::command()), Vec::new());
        return printed(print_json(&document));
    }
    if json && error.kind() == ErrorKind::DisplayVersion {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let document = Document::new(ProgramVersionDoc { version }, Vec::new());
        return printed(print_json(&document));
    }
    if error.kind() == ErrorKind::MissingSubcommand {
        // clap would list those that are hidden too.
        let error = CliError::usage("the name of a command is missing").hint(help(arguments));
        return ProcessExit::from(report_error(&error, json).number());
    }
    let error = tips::without_strangers(error);
    let asked_for_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if json && !asked_for_help {
        let text = match error.kind() {
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                "the name of a command is missing".to_owned()
            }
            _ => error.to_string(),
        };
        // The first paragraph says what is wrong, over several lines where arguments are missing.
        let paragraph = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
        let message = paragraph.collect::<Vec<_>>().join(" ");
        let message = message.trim_start_matches("error: ");
        let body = ErrorBody::new(ExitCode::Usage, message).with_hint(Some(&help(arguments)));
        if finish_write(print_json(&ErrorDocument::new(body))).is_err() {
            drop(error.print());
        }
    } else {
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        // Nobody is left to tell where it is standard error that is gone.
        if let (false, Err(failed)) = (error.use_stderr(), finish_write(printed)) {
            return ProcessExit::from(report_error(&failed, false).number());
        }
    }
    let code = u8::try_from(error.exit_code()).unwrap_or(ExitCode::Usage.number());
    ProcessExit::from(code)
}

/// How the process ends after an answer to what is no command.
fn printed(written: std::io::Result<()>) -> ProcessExit {
    match finish_write(written) {
        Ok(()) => ProcessExit::SUCCESS,
        Err(error) => ProcessExit::from(report_error(&error, false).number()),
    }
}

/// Where to read how the command is used that was called.
fn help(arguments: &[OsString]) -> Hint {
    let words = legible(arguments).map(Invocation::into_words).unwrap_or_default();
    let hint = words.into_iter().fold(Hint::command("offshoot"), Hint::arg);
    hint.words("--help").text(" shows how it is used")
}

#[cfg(test)]
mod tests;
