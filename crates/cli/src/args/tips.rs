//! What people type that is no command, and the command that they mean.
//!
//! A wrong tip is worse than none: tips come from this table, and from real names that are a slip of the finger away.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::CliError;
use offshoot_protocol::Hint;

/// What to do here instead.
type Answer = fn() -> Hint;

/// Words of other tools, and what to do here instead.
const ANSWERS: [(&[&str], Answer); 15] = [
    (&["switch", "checkout", "co", "use", "attach", "enter", "cd", "goto"], || {
        Hint::from(
            "no workspace is the current one: add `-w NAME` to a command, or run `export OFFSHOOT_WORKSPACE=NAME`",
        )
    }),
    (&["restore", "reset", "rollback"], || {
        Hint::command("offshoot undo")
            .text(" takes back the last operation, ")
            .then("offshoot checkpoint restore NAME")
            .text(" goes back to a checkpoint, ")
            .then("offshoot fs revert PATH")
            .text(" restores one file")
    }),
    (&["prune", "clean", "cleanup"], || {
        Hint::command("offshoot gc")
            .text(" deletes unreferenced data, ")
            .then("offshoot workspace delete NAME")
            .text(" deletes a workspace")
    }),
    (&["rm", "remove", "delete"], || {
        Hint::command("offshoot workspace delete NAME")
            .text(" deletes a workspace, ")
            .then("offshoot fs rm PATH")
            .text(" a file in one")
    }),
    (&["create", "branch", "clone"], || {
        Hint::command("offshoot new NAME").text(" forks a workspace")
    }),
    (&["add", "stage"], || {
        Hint::from("nothing is staged: ")
            .then("offshoot commit")
            .text(" takes all changes, ")
            .then("offshoot commit --only PATH")
            .text(" some of them; ")
            .then("offshoot binding add DIR")
            .text(" adds a folder")
    }),
    (&["list"], || {
        Hint::command("offshoot ls")
            .text(" lists workspaces, ")
            .then("offshoot vault list")
            .text(" vaults, ")
            .then("offshoot execs")
            .text(" commands")
    }),
    (&["cat", "less", "more", "head", "tail"], || {
        Hint::command("offshoot fs cat PATH").text(" prints a file of a workspace")
    }),
    (&["tree", "stat", "find"], || {
        Hint::command("offshoot fs tree")
            .text(" shows the files of a workspace, ")
            .then("offshoot fs stat PATH")
            .text(" one of them")
    }),
    (&["cp", "mv", "mkdir", "write"], || {
        Hint::command("offshoot fs --help").text(" lists the commands for files of a workspace")
    }),
    (&["push", "submit", "finish", "land", "sync"], || {
        Hint::command("offshoot commit")
            .text(" brings the changes into the folder, ")
            .then("offshoot export --git BRANCH")
            .text(" to a branch")
    }),
    (&["rename"], || {
        Hint::command("offshoot workspace rename OLD NEW")
            .text(" or ")
            .then("offshoot vault rename OLD NEW")
    }),
    (&["revert"], || {
        Hint::command("offshoot undo")
            .text(" takes back the last operation, ")
            .then("offshoot fs revert PATH")
            .text(" one file")
    }),
    (&["save", "stash", "snap"], || {
        Hint::command("offshoot checkpoint create NAME").text(" marks a state to come back to")
    }),
    (&["stop", "cancel", "abort"], || {
        Hint::command("offshoot ps")
            .text(" lists running commands, ")
            .then("offshoot kill EXEC")
            .text(" ends one")
    }),
];

/// The error for a word that is no command; none where clap has something else to say.
pub(super) fn unknown_command(
    error: &clap::Error,
    arguments: &[OsString],
    grammar: fn() -> Command,
) -> Option<CliError> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let whole = grammar();
    let (parent, path) = parent_of(&whole, word, arguments);
    if !parent.has_subcommands() {
        let told = CliError::usage(format!("`{path}` has no commands of its own"));
        return Some(told.hint(Hint::command(&path).words("--help").text(" shows how it is used")));
    }
    let told = CliError::usage(format!("`{path}` has no command `{word}`"));
    let is_top = path == "offshoot";
    if let Some((_, answer)) =
        ANSWERS.iter().find(|(words, _)| is_top && words.contains(&word.as_str()))
    {
        return Some(told.hint(answer()));
    }
    let slip =
        nearest(word, parent.get_subcommands().flat_map(Command::get_name_and_visible_aliases));
    Some(match slip.or_else(|| synonym(word, parent).filter(|_| !is_top)) {
        Some(name) => told
            .hint(Hint::from("did you mean ").then(&path).arg(name).text("?"))
            .candidates(vec![name.to_owned()]),
        None => told.hint(Hint::command(&path).words("--help").text(" lists the commands")),
    })
}

/// What the commands of groups are called, and what other tools call the same.
const SYNONYMS: [(&[&str], &[&str]); 9] = [
    (
        &["delete", "remove", "rm", "drop", "clear"],
        &["remove", "del", "delete", "rm", "destroy", "drop", "erase", "discard", "clear"],
    ),
    (&["create", "add", "init"], &["create", "new", "add", "make", "init"]),
    (&["list", "log", "ls"], &["list", "ls", "all"]),
    (&["show"], &["list", "ls", "get", "explain"]),
    (&["rename", "move", "mv"], &["rename", "mv", "move"]),
    (&["show", "info", "stat"], &["show", "info", "view", "describe", "inspect", "status"]),
    (&["restore", "revert"], &["restore", "revert", "rollback", "reset", "checkout"]),
    (&["check", "test"], &["check", "verify", "fsck", "validate", "test"]),
    (&["export"], &["backup", "dump"]),
];

/// The command of a group that other tools call so.
fn synonym(word: &str, parent: &Command) -> Option<&'static str> {
    let called = SYNONYMS.iter().filter(|(_, words)| words.contains(&word));
    called
        .flat_map(|(names, _)| *names)
        .find(|name| parent.get_subcommands().any(|command| command.get_name() == **name))
        .copied()
}

/// Options of other tools: the command, the option, and what to do here instead.
const OPTIONS: [(&str, &[&str], Answer); 2] = [
    ("offshoot commit", &["-a", "--all"], || {
        Hint::from("all changes are taken: ")
            .then("offshoot commit -m TEXT")
            .text("; `--only PATH` takes some of them")
    }),
    ("offshoot commit", &["--amend"], || {
        Hint::command("offshoot undo")
            .text(" takes the last commit back, and ")
            .then("offshoot commit -m TEXT")
            .text(" makes it again")
    }),
];

/// The error for an option of another tool; none where clap has something else to say.
pub(super) fn unknown_option(
    error: &clap::Error,
    arguments: &[OsString],
    grammar: fn() -> Command,
) -> Option<CliError> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let option = error.get(ContextKind::InvalidArg).and_then(text)?;
    let (_, path) = parent_of(&grammar(), &option, arguments);
    let fits = |(of, options, _): &&(&str, &[&str], Answer)| {
        path == **of && options.contains(&option.as_str())
    };
    let (_, _, answer) = OPTIONS.iter().find(fits)?;
    Some(CliError::usage(format!("`{path}` has no option `{option}`")).hint(answer()))
}

/// The command below which a word was looked for, and how it is called.
fn parent_of<'c>(whole: &'c Command, word: &str, arguments: &[OsString]) -> (&'c Command, String) {
    let (mut parent, mut path) = (whole, "offshoot".to_owned());
    for argument in arguments.iter().skip(1).take_while(|argument| *argument != word) {
        if let Some(found) = argument.to_str().and_then(|name| parent.find_subcommand(name)) {
            path = format!("{path} {}", found.get_name());
            parent = found;
        }
    }
    (parent, path)
}

/// Takes suggestions out of an error that look like nothing that was typed.
pub(super) fn without_strangers(mut error: clap::Error) -> clap::Error {
    let pairs = [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ];
    for (typed, suggested) in pairs {
        let Some(found) = error.get(suggested).and_then(text) else { continue };
        let typed = error.get(typed).and_then(text);
        if typed.is_none_or(|typed| !is_near(&typed, &found)) {
            error.remove(suggested);
        }
    }
    // An option of another command is never what was meant here.
    error.remove(ContextKind::SuggestedSubcommand);
    // Nor does anybody mean to pass an option as a value.
    error.remove(ContextKind::Suggested);
    error
}

fn text(value: &ContextValue) -> Option<String> {
    match value {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = names.filter(|name| is_near(word, name));
    near.min_by_key(|name| strsim::osa_distance(word, name))
}

/// Whether one is a slip away from the other: a letter in short words, two in longer ones.
fn is_near(word: &str, name: &str) -> bool {
    const SHORT: usize = 5;
    let letters = |text: &str| text.trim_start_matches('-').chars().count();
    let most = if letters(word).min(letters(name)) < SHORT { 1 } else { 2 };
    letters(word) > 1 && strsim::osa_distance(word, name) <= most
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use clap::CommandFactory;
    use offshoot_protocol::SuggestedCommand;

    use super::super::{Cli, parse};
    use super::*;

    fn told(line: &str) -> CliError {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = parse(&arguments).unwrap_err();
        unknown_command(&error, &arguments, Cli::command)
            .unwrap_or_else(|| panic!("{line}: {error}"))
    }

    #[test]
    fn no_answer_is_a_command() {
        let whole = Cli::command();
        for word in ANSWERS.iter().flat_map(|(words, _)| *words) {
            assert!(whole.find_subcommand(word).is_none(), "{word}");
        }
    }

    /// Fails where a command cannot be run as it is shown, alone or with what a command line adds to it.
    fn can_be_run(named: &SuggestedCommand) {
        let line = "offshoot status -w fix --vault v --home /h -c diff.context=3";
        let given: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let (_, invocation) = parse(&given).unwrap();
        let mut completed = named.clone();
        invocation.complete(&mut completed, Some("fix"));
        for command in [named, &completed] {
            let words = command.argv.iter().enumerate().map(|(at, word)| {
                match (word.as_str(), command.placeholders.contains(&at)) {
                    ("...", true) => "status",
                    (_, true) => "sample",
                    (word, false) => word,
                }
            });
            let arguments: Vec<OsString> = words.map(OsString::from).collect();
            match parse(&arguments) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::DisplayHelp => {}
                Err(error) => panic!("{command}: {error}"),
            }
        }
    }

    /// The commands that a source file builds, with a sample for each argument that is known only when it runs.
    fn built(source: &str) -> Vec<SuggestedCommand> {
        let begins = ["Hint::command(\"", ".then(\""];
        let rests = begins.iter().flat_map(|begin| source.split(begin).skip(1));
        let commands = rests.filter(|rest| rest.starts_with("offshoot ")).map(|rest| {
            let (words, mut rest) = rest.split_once("\")").unwrap();
            let mut hint = Hint::command(words);
            loop {
                rest = rest.trim_start();
                if let Some((words, behind)) =
                    rest.strip_prefix(".words(\"").and_then(|rest| rest.split_once("\")"))
                {
                    (hint, rest) = (hint.words(words), behind);
                } else if let Some(argument) = rest.strip_prefix(".arg(") {
                    let mut open = 1;
                    let end = argument.find(|c| {
                        open += i32::from(c == '(') - i32::from(c == ')');
                        open == 0
                    });
                    (hint, rest) = (hint.arg("sample"), &argument[end.unwrap() + 1..]);
                } else {
                    return hint.commands().remove(0);
                }
            }
        });
        commands.collect()
    }

    /// Every command that any hint of the product names can be run as it is shown, once the words for the reader are filled in.
    #[test]
    fn hints_can_be_run() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut left: Vec<PathBuf> =
            ["cli/src", "engine/src", "workspace/src"].iter().map(|dir| crates.join(dir)).collect();
        let mut found = 0;
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            let commands = built(&fs::read_to_string(&path).unwrap());
            commands.iter().for_each(can_be_run);
            found += commands.len();
        }
        assert!(found > 100, "{found}");
    }

    /// So can every command that an answer names.
    #[test]
    fn answers_can_be_run() {
        let answers = ANSWERS.iter().map(|(_, answer)| *answer);
        for answer in answers.chain(OPTIONS.iter().map(|(_, _, answer)| *answer)) {
            for named in answer().commands() {
                can_be_run(&named);
            }
        }
    }

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let hint = |line: &str| told(line).hint.unwrap_or_default().to_string();
        assert_eq!(hint("offshoot statsu"), "did you mean `offshoot status`?");
        assert_eq!(hint("offshoot workspace lst"), "did you mean `offshoot workspace list`?");
        assert_eq!(hint("offshoot -w fix comit"), "did you mean `offshoot commit`?");
        assert_eq!(hint("offshoot frobnicate"), "`offshoot --help` lists the commands");
        for (typed, meant) in [
            ("workspace remove", "workspace delete"),
            ("vault remove x", "vault delete"),
            ("vault status", "vault info"),
            ("checkpoint destroy x", "checkpoint delete"),
            ("checkpoint add", "checkpoint create"),
            ("recover delete 01ab", "recover drop"),
            ("cache remove npm", "cache clear"),
            ("binding rm etc", "binding remove"),
            ("binding rename a b", "binding move"),
            ("op list", "op log"),
            ("fs delete a", "fs rm"),
            ("sandbox list", "sandbox show"),
        ] {
            let expected = format!("did you mean `offshoot {meant}`?");
            assert_eq!(hint(&format!("offshoot {typed}")), expected, "{typed}");
        }
        assert_eq!(
            hint("offshoot workspace frobnicate"),
            "`offshoot workspace --help` lists the commands"
        );
        assert!(hint("offshoot cat a.txt").starts_with("`offshoot fs cat PATH` prints"));
        let lost = told("offshoot help discard b");
        assert_eq!(lost.message, "`offshoot discard` has no commands of its own");
        assert_eq!(
            lost.hint.unwrap_or_default().to_string(),
            "`offshoot discard --help` shows how it is used"
        );
        assert!(hint("offshoot prune").starts_with("`offshoot gc`"));
        assert!(hint("offshoot switch fix").contains("OFFSHOOT_WORKSPACE"));
        assert!(hint("offshoot add .").contains("nothing is staged"));
    }

    #[test]
    fn options_of_other_tools_are_answered() {
        for line in ["offshoot commit -a", "offshoot commit -am text", "offshoot ci fix --all"] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let error = parse(&arguments).unwrap_err();
            let told = unknown_option(&error, &arguments, Cli::command)
                .unwrap_or_else(|| panic!("{line}"));
            assert!(told.hint.is_some_and(|hint| hint.to_string().contains("commit -m")), "{line}");
        }
        let arguments = ["offshoot", "pull", "-a"].map(OsString::from);
        let error = parse(&arguments).unwrap_err();
        assert!(unknown_option(&error, &arguments, Cli::command).is_none());
    }
}
