//! The command line as clap reads it.

mod alone;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode as ProcessExit;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use offshoot_protocol::{ErrorBody, ErrorDocument, ExitCode};

use crate::commands::{
    binding, cache, checkpoint, commit, completions, config, conflicts, diff, discard, doctor,
    exec, execs, export, fs, gc, history, init, log, logs, merge, op, policy, ps, pull, recover,
    resolve, revert, review, run, show, snapshot, status, vault, workspace,
};

const AFTER_HELP: &str = "\
Start here:
  offshoot exec -- make test             run a command in a fork of this folder
  offshoot run -- bash                   work in a fork of this folder yourself
  offshoot workspace create fix          fork a workspace to come back to
  offshoot exec -w fix -- make           run there
  offshoot diff                          what changed
  offshoot commit -w fix                 bring it home, into the folder
  offshoot undo -w fix                   take it back

Exit codes: 0 success, 1 failure, 2 usage, 3 not found, 4 conflict, 5 damaged, 6 storage,
7 newer format, 8 busy; `exec` and `run` exit as their command does. A REF is `head`, a workspace, WORKSPACE@CHECKPOINT, WORKSPACE@base, a
checkpoint, or the start of an id.";

/// Copy-on-write workspaces for agents: fork, change, review, undo.
#[derive(Debug, Parser)]
#[command(name = "offshoot", version, after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// The workspace to work on [default: $OFFSHOOT_WORKSPACE, or for commands that only read the most recently used one]
    #[arg(short, long, global = true, value_name = "NAME")]
    pub(crate) workspace: Option<String>,
    /// The vault to work on [default: $OFFSHOOT_VAULT, or the one that this folder belongs to]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) vault: Option<String>,
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print nothing but what was asked for
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Set a configuration key for this command, as KEY=VALUE
    #[arg(short = 'c', long = "config", global = true, value_name = "KEY=VALUE")]
    pub(crate) config: Vec<String>,
    /// Where vaults are kept [default: $OFFSHOOT_HOME, $XDG_DATA_HOME/offshoot or ~/.local/share/offshoot]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Take the files of a folder into a vault, or bring them up to date
    Init(init::InitArgs),
    /// Make, list and check vaults
    #[command(subcommand)]
    Vault(vault::VaultCommand),
    /// The folders of a vault, where it has more than one
    #[command(subcommand)]
    Binding(binding::BindingCommand),
    /// List and clear package caches
    #[command(subcommand)]
    Cache(cache::CacheCommand),
    /// Fork, list and remove workspaces
    #[command(subcommand, visible_alias = "ws")]
    Workspace(workspace::WorkspaceCommand),
    /// Mark states of a workspace and come back to them
    #[command(subcommand)]
    Checkpoint(checkpoint::CheckpointCommand),
    /// Another way to make checkpoints
    #[command(subcommand, hide = true)]
    Snapshot(snapshot::SnapshotCommand),
    /// Run one command in a workspace
    Exec(Box<exec::ExecArgs>),
    /// Run a shell or any other command in a workspace, in this terminal
    Run(Box<run::RunArgs>),
    /// Another way to run commands
    #[command(subcommand, hide = true)]
    Proxy(exec::ProxyCommand),
    /// What would be decided about a command, and why
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// What was run
    Execs(execs::ExecsArgs),
    /// What a command printed
    Logs(logs::LogsArgs),
    /// What is running
    Ps(ps::PsArgs),
    /// End a command that is running
    Kill(ps::KillArgs),
    /// Keep or drop what interrupted commands left
    #[command(subcommand)]
    Recover(recover::RecoverCommand),
    /// What is changed in a workspace
    Status(status::StatusArgs),
    /// The difference of two states
    Diff(diff::DiffArgs),
    /// Bring states of files together in a workspace
    Merge(merge::MergeArgs),
    /// What a merge left to be decided
    Conflicts(conflicts::ConflictsArgs),
    /// Decide conflicts
    Resolve(resolve::ResolveArgs),
    /// Walk through the changes of a workspace and decide about each
    Review(review::ReviewArgs),
    /// The history of a workspace
    Log(log::LogArgs),
    /// A snapshot, checkpoint, workspace, exec or operation in detail
    Show(show::ShowArgs),
    /// Take back the last operation
    Undo(revert::RevertArgs),
    /// Bring back what was undone
    Redo(revert::RevertArgs),
    /// The operation log
    #[command(subcommand)]
    Op(op::OpCommand),
    /// Bring what a workspace changed into the folder
    Commit(commit::CommitArgs),
    /// Merge what changed in the folder into a workspace
    Pull(pull::PullArgs),
    /// Throw away a workspace and its changes
    Discard(discard::DiscardArgs),
    /// A workspace's history as a branch of git
    Export(export::ExportArgs),
    /// Files of a workspace, without mounting it
    #[command(subcommand)]
    Fs(fs::FsCommand),
    /// Take away what nothing needs any more
    Gc(gc::GcArgs),
    /// The versions of a file
    History(history::HistoryArgs),
    /// The configuration in force
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Whether this machine is fit for Offshoot
    Doctor(doctor::DoctorArgs),
    /// Completions for a shell
    Completions(completions::CompletionsArgs),
}

/// Reads the command line.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    match alone::parse(arguments) {
        Some(cli) => Ok(cli),
        None => Cli::try_parse_from(arguments),
    }
}

/// Prints what clap has to say; as a document where the caller wants JSON.
pub(crate) fn report_parse_error(error: &clap::Error, arguments: &[OsString]) -> ProcessExit {
    let asked_for_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    let json = arguments.iter().take_while(|a| *a != "--").any(|a| a == "--json");
    if json && !asked_for_help {
        let text = error.to_string();
        // The first paragraph says what is wrong, over several lines where arguments are missing.
        let paragraph = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
        let message = paragraph.collect::<Vec<_>>().join(" ");
        let message = message.trim_start_matches("error: ");
        let body = ErrorBody {
            code: ExitCode::Usage.word().to_owned(),
            exit_code: ExitCode::Usage.number(),
            message: message.to_owned(),
            hint: Some("see --help".to_owned()),
            candidates: Vec::new(),
        };
        crate::output::print_json(&ErrorDocument::new(body));
    } else {
        // Nothing is left to tell where even the terminal is gone.
        drop(error.print());
    }
    let code = u8::try_from(error.exit_code()).unwrap_or(ExitCode::Usage.number());
    ProcessExit::from(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    /// Whatever else there is to say, the whole says it.
    #[test]
    fn mistakes_and_help_are_those_of_the_whole() {
        for line in [
            "offshoot exec",
            "offshoot exec --help",
            "offshoot exec --bogus -- ls",
            "offshoot -w exec bogus",
            "offshoot exec --stream --json -- ls",
            "offshoot diff --bogus exec",
        ] {
            let arguments = arguments(line);
            let expected = Cli::try_parse_from(&arguments).unwrap_err().to_string();
            assert_eq!(parse(&arguments).unwrap_err().to_string(), expected, "{line}");
        }
        let other = parse(&arguments("offshoot -w exec workspace create exec")).unwrap();
        assert!(matches!(other.command, Command::Workspace(_)), "{other:?}");
    }
}
