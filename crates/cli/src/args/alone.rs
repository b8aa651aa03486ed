//! Reading a command line with the options of its own command alone.
//!
//! Building the options of all commands takes longer than most commands do. What is read here is read as with all of them; what is
//! not, a mistake or a request for help, is for those to tell about.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches, Subcommand};

use super::{Cli, Command, Global};
use crate::commands::{
    binding, cache, checkpoint, commit, completions, config, conflicts, diff, discard, doctor,
    exec, execs, export, fs, gc, history, init, log, logs, man, merge, op, policy, ps, pull,
    recover, resolve, revert, review, run, show, snapshot, status, vault, version, workspace,
};

type Result<T> = std::result::Result<T, clap::Error>;

/// One command.
struct Alone {
    name: &'static str,
    /// Adds its options, or its own commands.
    build: fn(clap::Command) -> clap::Command,
    read: fn(&ArgMatches) -> Result<Command>,
}

/// A command with options.
macro_rules! plain {
    ($name:literal, $args:ty, $variant:ident) => {
        Alone {
            name: $name,
            build: <$args as Args>::augment_args,
            read: |found| <$args as FromArgMatches>::from_arg_matches(found).map(Command::$variant),
        }
    };
}

/// A command that has others below it.
macro_rules! family {
    ($name:literal, $commands:ty, $variant:ident) => {
        Alone {
            name: $name,
            build: <$commands as Subcommand>::augment_subcommands,
            read: |found| {
                <$commands as FromArgMatches>::from_arg_matches(found).map(Command::$variant)
            },
        }
    };
}

const COMMANDS: [Alone; 42] = [
    plain!("init", init::InitArgs, Init),
    family!("vault", vault::VaultCommand, Vault),
    family!("binding", binding::BindingCommand, Binding),
    family!("cache", cache::CacheCommand, Cache),
    family!("workspace", workspace::WorkspaceCommand, Workspace),
    family!("ws", workspace::WorkspaceCommand, Workspace),
    plain!("ls", workspace::LsArgs, Ls),
    plain!("new", workspace::CreateArgs, New),
    family!("checkpoint", checkpoint::CheckpointCommand, Checkpoint),
    family!("snapshot", snapshot::SnapshotCommand, Snapshot),
    plain!("exec", Box<exec::ExecArgs>, Exec),
    plain!("run", Box<run::RunArgs>, Run),
    family!("proxy", exec::ProxyCommand, Proxy),
    family!("policy", policy::PolicyCommand, Policy),
    plain!("execs", execs::ExecsArgs, Execs),
    plain!("logs", logs::LogsArgs, Logs),
    plain!("ps", ps::PsArgs, Ps),
    plain!("kill", ps::KillArgs, Kill),
    family!("recover", recover::RecoverCommand, Recover),
    plain!("status", status::StatusArgs, Status),
    plain!("diff", diff::DiffArgs, Diff),
    plain!("merge", merge::MergeArgs, Merge),
    plain!("conflicts", conflicts::ConflictsArgs, Conflicts),
    plain!("resolve", resolve::ResolveArgs, Resolve),
    plain!("review", review::ReviewArgs, Review),
    plain!("log", log::LogArgs, Log),
    plain!("show", show::ShowArgs, Show),
    plain!("undo", revert::RevertArgs, Undo),
    plain!("redo", revert::RevertArgs, Redo),
    family!("op", op::OpCommand, Op),
    plain!("commit", commit::CommitArgs, Commit),
    plain!("pull", pull::PullArgs, Pull),
    plain!("discard", discard::DiscardArgs, Discard),
    plain!("export", export::ExportArgs, Export),
    family!("fs", fs::FsCommand, Fs),
    plain!("gc", gc::GcArgs, Gc),
    plain!("history", history::HistoryArgs, History),
    family!("config", config::ConfigCommand, Config),
    plain!("doctor", doctor::DoctorArgs, Doctor),
    plain!("version", version::VersionArgs, Version),
    plain!("completions", completions::CompletionsArgs, Completions),
    plain!("man", man::ManArgs, Man),
];

/// Reads a command line by the first word in it that is a command. Should that be the value of an option, the command behind it is
/// not known here, and nothing is read.
pub(super) fn parse(arguments: &[OsString]) -> Option<Cli> {
    let own = arguments.iter().skip(1).take_while(|argument| *argument != "--");
    let named = |argument: &OsString| COMMANDS.iter().find(|command| argument == command.name);
    let command = own.into_iter().find_map(named)?;
    read(command, arguments).ok()
}

fn read(command: &Alone, arguments: &[OsString]) -> Result<Cli> {
    let own = (command.build)(clap::Command::new(command.name));
    let root = Global::augment_args(clap::Command::new("offshoot"));
    let found = root.subcommand(own).subcommand_required(true).try_get_matches_from(arguments)?;
    let (_, of_command) =
        found.subcommand().ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
    Ok(Cli { global: Global::from_arg_matches(&found)?, command: (command.read)(of_command)? })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    fn arguments(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn every_command_is_known_by_every_name() {
        let whole = Cli::command();
        let mut all: Vec<&str> =
            whole.get_subcommands().flat_map(clap::Command::get_name_and_visible_aliases).collect();
        let mut known: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        all.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, all);
    }

    /// The short way reads what it takes as the whole does.
    #[test]
    fn commands_are_read_alike_both_ways() {
        for line in [
            "offshoot exec -- ls",
            "offshoot exec --json -- ls -la --json",
            "offshoot --json exec --shell ls",
            "offshoot -w fix -c diff.context=3 --vault v exec -q -c ui.color=never -- exec --version",
            "offshoot exec -w fix --timeout 30s -i --diff --net host --read-only -- a b c",
            "offshoot exec --ephemeral --from head --policy p.toml --stream -- make",
            "offshoot exec --home /tmp/h -- --help",
            "offshoot proxy exec -- ls",
            "offshoot run -w fix -- bash",
            "offshoot run",
            "offshoot init --json",
            "offshoot vault list",
            "offshoot vault check --repair -q v",
            "offshoot ws create fix --from head",
            "offshoot workspace create log --from head",
            "offshoot checkpoint create exec -w fix",
            "offshoot snapshot create fix",
            "offshoot policy explain --shell ls",
            "offshoot log -w diff",
            "offshoot diff --stat -w fix a b",
            "offshoot merge a b --into fix",
            "offshoot undo --vault-wide",
            "offshoot redo -w fix",
            "offshoot op log",
            "offshoot commit -w fix --dry-run --only a --exclude b",
            "offshoot fs write /docs/note --from ../small -w w",
            "offshoot gc --keep-age 0s",
            "offshoot config show",
            "offshoot completions bash",
            "offshoot kill 01abc",
            "offshoot show 01abc",
            "offshoot recover list",
            "offshoot cache clear npm --vault v",
            "offshoot binding add ../etc",
        ] {
            let arguments = arguments(line);
            let whole = Cli::try_parse_from(&arguments).unwrap_or_else(|error| panic!("{error}"));
            let alone = parse(&arguments).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(format!("{alone:?}"), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn what_it_does_not_read_is_left_to_the_whole() {
        for line in [
            "offshoot",
            "offshoot --version",
            "offshoot --help",
            "offshoot help exec",
            "offshoot exec",
            "offshoot exec --help",
            "offshoot exec --bogus -- ls",
            "offshoot vault",
            "offshoot -w exec bogus",
            "offshoot -w exec workspace create exec",
            "offshoot exec --stream --json -- ls",
            "offshoot diff --bogus exec",
        ] {
            assert!(parse(&arguments(line)).is_none(), "{line}");
        }
    }
}
