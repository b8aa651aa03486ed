use clap::{CommandFactory, FromArgMatches};

use super::*;

/// Command lines of all kinds.
const LINES: [&str; 37] = [
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
    "offshoot sh -w fix",
    "offshoot init --json",
    "offshoot vault list",
    "offshoot vault check --repair -q v",
    "offshoot ws create fix --from head",
    "offshoot workspace create log --from head",
    "offshoot -w exec workspace create exec",
    "offshoot fork fix",
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
];

/// Command lines that are none.
const MISTAKES: [&str; 12] = [
    "offshoot",
    "offshoot --version",
    "offshoot --help",
    "offshoot help exec",
    "offshoot exec",
    "offshoot exec --help",
    "offshoot exec --bogus -- ls",
    "offshoot vault",
    "offshoot -w exec bogus",
    "offshoot exec --stream --json -- ls",
    "offshoot diff --bogus exec",
    "offshoot undo fix --vault-wide",
];

fn arguments(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

/// Reads a command line with the options of all commands, built before anything is read.
fn parse_with_all(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut whole = Cli::command();
    whole.build();
    let moved = leading::behind_command(arguments, &Cli::command());
    let found = whole.try_get_matches_from(moved.as_deref().unwrap_or(arguments))?;
    Cli::from_arg_matches(&found)
}

/// All commands below one, each with the words that call it.
fn below(command: &clap::Command, words: &str) -> Vec<(String, clap::Command)> {
    let children = command.get_subcommands().filter(|child| child.get_name() != "help");
    children
        .flat_map(|child| {
            let called = format!("{words} {}", child.get_name());
            let mut found = below(child, &called);
            found.push((called, child.clone()));
            found
        })
        .collect()
}

#[test]
fn commands_are_read_as_with_the_options_of_all() {
    for line in LINES {
        let arguments = arguments(line);
        let (alone, _) = parse(&arguments).unwrap_or_else(|error| panic!("{error}"));
        let whole = parse_with_all(&arguments).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(format!("{alone:?}"), format!("{whole:?}"), "{line}");
    }
}

#[test]
fn mistakes_and_help_are_told_as_with_the_options_of_all() {
    let mut built = Cli::command();
    built.build();
    let helps = below(&built, "offshoot").into_iter().map(|(words, _)| format!("{words} --help"));
    for line in MISTAKES.map(str::to_owned).into_iter().chain(helps) {
        let arguments = arguments(&line);
        let whole = parse_with_all(&arguments).unwrap_err().to_string();
        assert_eq!(parse(&arguments).unwrap_err().to_string(), whole, "{line}");
    }
}

/// What is flattened into the options of a command is added after what the command says about itself, and could replace it.
#[test]
fn commands_say_the_same_about_themselves_in_lists_and_in_their_own_help() {
    let listed = Cli::command();
    let mut built = Cli::command();
    built.build();
    let (listed, mut built) = (below(&listed, "offshoot"), below(&built, "offshoot"));
    // What is below a command that also works alone is there only once it is built.
    built.retain(|(words, _)| {
        let both = ["approvals", "mcp", "models"];
        !both.iter().any(|command| words.starts_with(&format!("offshoot {command} ")))
    });
    assert!(listed.len() > 80, "{}", listed.len());
    assert_eq!(listed.len(), built.len());
    for ((words, listed), (_, built)) in listed.iter().zip(&built) {
        let about = |command: &clap::Command| command.get_about().map(ToString::to_string);
        assert_eq!(about(listed), about(built), "{words}");
        assert!(about(built).is_some() && built.get_long_about().is_none(), "{words}");
    }
}

/// The time that this takes is the reason why options are built late.
#[test]
fn only_the_options_of_the_command_at_hand_are_built() {
    let built = |command: &clap::Command| command.get_arguments().any(|arg| !arg.is_global_set());
    let mut whole = Cli::command();
    assert!(!below(&whole, "offshoot").iter().any(|(_, command)| built(command)));
    drop(whole.try_get_matches_from_mut(["offshoot", "exec", "--", "ls"]));
    let all = below(&whole, "offshoot");
    let built: Vec<&str> =
        all.iter().filter(|(_, c)| built(c)).map(|(words, _)| words.as_str()).collect();
    assert_eq!(built, ["offshoot exec"]);
}
