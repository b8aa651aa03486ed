//! The command line as clap reads it.

mod describe;
mod tips;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode as ProcessExit;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueHint};
use offshoot_protocol::{Document, ErrorBody, ErrorDocument, ExitCode};

use crate::commands::{
    binding, cache, checkpoint, commit, completions, config, conflicts, diff, discard, doctor,
    exec, execs, export, fs, gc, history, init, log, logs, man, merge, op, policy, ps, pull,
    recover, resolve, revert, review, run, show, snapshot, status, vault, version, workspace,
};
use crate::complete;
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
7 newer format, 8 busy, 9 inside of a workspace, 130 interrupted, 143 terminated; `exec` and
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

/// Options that every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Work on this workspace [default: $OFFSHOOT_WORKSPACE, else the only one; commands that only read use the most recent one]
    #[arg(short, long, global = true, value_name = "NAME", add = complete::workspaces())]
    pub(crate) workspace: Option<String>,
    /// Work on this vault [default: $OFFSHOOT_VAULT, else the one of the current folder]
    #[arg(long, global = true, value_name = "NAME", add = complete::vaults())]
    pub(crate) vault: Option<String>,
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print only errors and the data asked for
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Set a configuration key for this command, as KEY=VALUE
    #[arg(short = 'c', long = "config", global = true, value_name = "KEY=VALUE")]
    pub(crate) config: Vec<String>,
    /// Keep vaults in this directory [default: $OFFSHOOT_HOME, $XDG_DATA_HOME/offshoot or ~/.local/share/offshoot]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) home: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
// Building the options of all commands takes longer than most commands do: clap builds those of the one that is asked for.
#[command(defer = true)]
pub(crate) enum Command {
    /// Create a vault from a folder, or bring it up to date
    Init(init::InitArgs),
    /// Create, list and check vaults
    #[command(subcommand)]
    Vault(vault::VaultCommand),
    /// Manage the folders of a vault
    #[command(subcommand)]
    Binding(binding::BindingCommand),
    /// List and clear package caches
    #[command(subcommand)]
    Cache(cache::CacheCommand),
    /// Fork, list and delete workspaces
    #[command(subcommand, visible_alias = "ws")]
    Workspace(workspace::WorkspaceCommand),
    /// List workspaces, as `workspace list` does
    #[command(hide = true)]
    Ls(workspace::LsArgs),
    /// Fork a workspace, as `workspace create` does
    #[command(hide = true, alias = "fork", after_help = workspace::CREATE_EXAMPLES)]
    New(workspace::CreateArgs),
    /// Mark states of a workspace and go back to them
    #[command(subcommand)]
    Checkpoint(checkpoint::CheckpointCommand),
    /// Create checkpoints
    #[command(subcommand, hide = true)]
    Snapshot(snapshot::SnapshotCommand),
    /// Run one command in a workspace
    Exec(Box<exec::ExecArgs>),
    /// Run a shell, or any command, in a workspace in this terminal
    #[command(aliases = ["shell", "sh"])]
    Run(Box<run::RunArgs>),
    /// Run commands
    #[command(subcommand, hide = true)]
    Proxy(exec::ProxyCommand),
    /// Explain and test which commands may run
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// List commands that ran
    Execs(execs::ExecsArgs),
    /// Print the output of a command
    Logs(logs::LogsArgs),
    /// List running commands
    Ps(ps::PsArgs),
    /// End a running command
    Kill(ps::KillArgs),
    /// Keep or drop what interrupted commands left
    #[command(subcommand)]
    Recover(recover::RecoverCommand),
    /// Show what changed in a workspace
    #[command(alias = "st")]
    Status(status::StatusArgs),
    /// Show the difference between two states
    Diff(diff::DiffArgs),
    /// Merge workspaces, checkpoints or snapshots
    Merge(merge::MergeArgs),
    /// List the conflicts of a workspace
    Conflicts(conflicts::ConflictsArgs),
    /// Resolve conflicts
    Resolve(resolve::ResolveArgs),
    /// Review the changes of a workspace, hunk by hunk
    Review(review::ReviewArgs),
    /// Show the history of a workspace
    Log(log::LogArgs),
    /// Show a snapshot, checkpoint, workspace, exec or operation
    Show(show::ShowArgs),
    /// Undo the last operation
    Undo(revert::RevertArgs),
    /// Redo what was undone
    Redo(revert::RevertArgs),
    /// Show the operation log, or go back in it
    #[command(subcommand)]
    Op(op::OpCommand),
    /// Bring the changes of a workspace into the folder
    #[command(aliases = ["apply", "ci"])]
    Commit(commit::CommitArgs),
    /// Merge the changes of the folder into a workspace
    Pull(pull::PullArgs),
    /// Discard a workspace and its changes
    Discard(discard::DiscardArgs),
    /// Export a workspace's history to a git branch
    Export(export::ExportArgs),
    /// Read and change files of a workspace without running anything
    #[command(subcommand)]
    Fs(fs::FsCommand),
    /// Delete unreferenced data
    Gc(gc::GcArgs),
    /// List the versions of a file
    History(history::HistoryArgs),
    /// Show or change the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Check that this machine can run Offshoot
    Doctor(doctor::DoctorArgs),
    /// Print the version
    Version(version::VersionArgs),
    /// Print shell completions
    Completions(completions::CompletionsArgs),
    /// Print or install the manual pages
    Man(man::ManArgs),
}

// A workspace that is named without an option. A doc comment here, and on whatever else is flattened into the options of a
// command, would take the place of what the command says about itself.
#[derive(Clone, Debug, Args)]
pub(crate) struct Named {
    /// Workspace, as with -w
    #[arg(value_name = "WORKSPACE", conflicts_with = "workspace", add = complete::workspaces())]
    named: Option<String>,
}

impl Named {
    /// What was typed.
    pub(crate) fn text(&self) -> Option<&str> {
        self.named.as_deref()
    }
}

impl Command {
    /// The workspace that is named without an option.
    pub(crate) fn named(&self) -> Option<&str> {
        let named = match self {
            Self::Status(args) => &args.named,
            Self::Undo(args) | Self::Redo(args) => &args.named,
            Self::Commit(args) => &args.named,
            Self::Pull(args) => &args.named,
            Self::Discard(args) => &args.named,
            _ => return None,
        };
        named.named.as_deref()
    }
}

/// Reads the command line.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(arguments)
}

/// Prints what clap has to say; as a document where the caller wants JSON.
pub(crate) fn report_parse_error(error: clap::Error, arguments: &[OsString]) -> ProcessExit {
    let json = arguments.iter().take_while(|a| *a != "--").any(|a| a == "--json");
    // To clap's own command for help every word is the name of a command.
    let error = match json && arguments.iter().any(|word| word == "help") {
        true => {
            let plain = arguments.iter().filter(|word| *word != "--json");
            Cli::try_parse_from(plain).err().unwrap_or(error)
        }
        false => error,
    };
    let tip = tips::unknown_command(&error, arguments);
    if let Some(error) = tip.or_else(|| tips::unknown_option(&error, arguments)) {
        return ProcessExit::from(report_error(&error, json).number());
    }
    if json && error.kind() == ErrorKind::DisplayHelp {
        let document = Document::new(describe::describe(arguments), Vec::new());
        return match finish_write(print_json(&document)) {
            Ok(()) => ProcessExit::SUCCESS,
            Err(error) => ProcessExit::from(report_error(&error, false).number()),
        };
    }
    let error = tips::without_strangers(error);
    let asked_for_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if json && !asked_for_help {
        let text = error.to_string();
        // The first paragraph says what is wrong, over several lines where arguments are missing.
        let paragraph = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
        let message = paragraph.collect::<Vec<_>>().join(" ");
        let message = message.trim_start_matches("error: ");
        let mut body = ErrorBody::new(ExitCode::Usage, message);
        body.hint = Some("see --help".to_owned());
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

#[cfg(test)]
mod tests;
