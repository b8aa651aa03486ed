//! What people type that is no command, and the command that they mean.
//!
//! A wrong tip is worse than none: tips come from this table, and from real names that are a slip of the finger away.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use super::Cli;
use crate::error::CliError;

/// Words of other tools, and what to do here instead.
const ANSWERS: [(&[&str], &str); 13] = [
    (
        &["switch", "checkout", "co", "use", "attach", "enter", "cd", "goto"],
        "no workspace is the current one: add `-w NAME` to a command, or run `export OFFSHOOT_WORKSPACE=NAME`",
    ),
    (
        &["restore", "reset", "rollback"],
        "`offshoot undo` takes back the last operation, `offshoot checkpoint restore NAME` goes back to a checkpoint, \
         `offshoot fs revert PATH` restores one file",
    ),
    (
        &["prune", "clean", "cleanup"],
        "`offshoot gc` deletes unreferenced data, `offshoot workspace delete NAME` deletes a workspace",
    ),
    (
        &["rm", "remove", "delete"],
        "`offshoot workspace delete NAME` deletes a workspace, `offshoot fs rm PATH` a file in one",
    ),
    (&["create", "branch", "clone"], "`offshoot new NAME` forks a workspace"),
    (
        &["add", "stage"],
        "nothing is staged: `offshoot commit` takes all changes, `offshoot commit --only PATH` some of them; \
         `offshoot binding add DIR` adds a folder",
    ),
    (
        &["list"],
        "`offshoot ls` lists workspaces, `offshoot vault list` vaults, `offshoot execs` commands",
    ),
    (
        &["cat", "tree", "cp", "mv", "mkdir", "write", "stat"],
        "files of a workspace are below `offshoot fs`: see `offshoot fs --help`",
    ),
    (
        &["push", "submit", "finish", "land", "sync"],
        "`offshoot commit` brings the changes into the folder, `offshoot export --git BRANCH` to a branch",
    ),
    (&["rename"], "`offshoot workspace rename OLD NEW` or `offshoot vault rename OLD NEW`"),
    (
        &["revert"],
        "`offshoot undo` takes back the last operation, `offshoot fs revert PATH` one file",
    ),
    (&["save", "stash", "snap"], "`offshoot checkpoint create NAME` marks a state to come back to"),
    (
        &["stop", "cancel", "abort"],
        "`offshoot ps` lists running commands, `offshoot kill EXEC` ends one",
    ),
];

/// The error for a word that is no command; none where clap has something else to say.
pub(super) fn unknown_command(error: &clap::Error, arguments: &[OsString]) -> Option<CliError> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let whole = Cli::command();
    let (parent, path) = parent_of(&whole, word, arguments);
    let told = CliError::usage(format!("`{path}` has no command `{word}`"));
    let is_top = path == "offshoot";
    if let Some((_, answer)) =
        ANSWERS.iter().find(|(words, _)| is_top && words.contains(&word.as_str()))
    {
        return Some(told.hint(*answer));
    }
    Some(
        match nearest(
            word,
            parent.get_subcommands().flat_map(Command::get_name_and_visible_aliases),
        ) {
            Some(name) => told
                .hint(format!("did you mean `{path} {name}`?"))
                .candidates(vec![name.to_owned()]),
            None => told.hint(format!("`{path} --help` lists the commands")),
        },
    )
}

/// Options of other tools: the command, the option, and what to do here instead.
const OPTIONS: [(&str, &[&str], &str); 2] = [
    (
        "offshoot commit",
        &["-a", "--all"],
        "all changes are taken: `offshoot commit -m TEXT`; `--only PATH` takes some of them",
    ),
    (
        "offshoot commit",
        &["--amend"],
        "`offshoot undo` takes the last commit back, and `offshoot commit -m TEXT` makes it again",
    ),
];

/// The error for an option of another tool; none where clap has something else to say.
pub(super) fn unknown_option(error: &clap::Error, arguments: &[OsString]) -> Option<CliError> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let option = error.get(ContextKind::InvalidArg).and_then(text)?;
    let (_, path) = parent_of(&Cli::command(), &option, arguments);
    let fits = |(of, options, _): &&(&str, &[&str], &str)| {
        path == **of && options.contains(&option.as_str())
    };
    let (_, _, answer) = OPTIONS.iter().find(fits)?;
    Some(CliError::usage(format!("`{path}` has no option `{option}`")).hint(*answer))
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
    use super::*;

    fn told(line: &str) -> CliError {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = super::super::parse(&arguments).unwrap_err();
        unknown_command(&error, &arguments).unwrap_or_else(|| panic!("{line}: {error}"))
    }

    #[test]
    fn no_answer_is_a_command() {
        let whole = Cli::command();
        for word in ANSWERS.iter().flat_map(|(words, _)| *words) {
            assert!(whole.find_subcommand(word).is_none(), "{word}");
        }
    }

    /// Every command that an answer names is one.
    #[test]
    fn answers_lead_somewhere() {
        let answers = ANSWERS.iter().map(|(_, answer)| *answer);
        for answer in answers.chain(OPTIONS.iter().map(|(_, _, answer)| *answer)) {
            for named in answer.split('`').skip(1).step_by(2) {
                let Some(words) = named.strip_prefix("offshoot ") else { continue };
                let whole = Cli::command();
                let mut at = &whole;
                for word in words.split(' ').take_while(|w| w.chars().all(|c| c.is_lowercase())) {
                    at = at.find_subcommand(word).unwrap_or_else(|| panic!("{named}"));
                }
            }
        }
    }

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let hint = |line| told(line).hint.unwrap_or_default();
        assert_eq!(hint("offshoot statsu"), "did you mean `offshoot status`?");
        assert_eq!(hint("offshoot workspace lst"), "did you mean `offshoot workspace list`?");
        assert_eq!(hint("offshoot -w fix comit"), "did you mean `offshoot commit`?");
        assert_eq!(hint("offshoot frobnicate"), "`offshoot --help` lists the commands");
        assert!(hint("offshoot prune").starts_with("`offshoot gc`"));
        assert!(hint("offshoot switch fix").contains("OFFSHOOT_WORKSPACE"));
        assert!(hint("offshoot add .").contains("nothing is staged"));
    }

    #[test]
    fn options_of_other_tools_are_answered() {
        for line in ["offshoot commit -a", "offshoot commit -am text", "offshoot ci fix --all"] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let error = super::super::parse(&arguments).unwrap_err();
            let told = unknown_option(&error, &arguments).unwrap_or_else(|| panic!("{line}"));
            assert!(told.hint.is_some_and(|hint| hint.contains("commit -m")), "{line}");
        }
        let arguments = ["offshoot", "pull", "-a"].map(OsString::from);
        let error = super::super::parse(&arguments).unwrap_err();
        assert!(unknown_option(&error, &arguments).is_none());
    }
}
