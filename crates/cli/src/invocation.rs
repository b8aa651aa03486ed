//! What was given on this command line that the commands which are suggested to its user need as well.
//!
//! Whoever makes a hint names what only they know. Which vault was named, and where vaults are, only the command line knows:
//! it is added here, to every command that is shown or printed as JSON.

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::{ArgMatches, Command};
use offshoot_protocol::{Hint, SuggestedCommand};

static INVOCATION: OnceLock<Invocation> = OnceLock::new();

/// What was given on a command line.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// The words that call the command, without the program.
    command: Vec<String>,
    workspace: Option<String>,
    vault: Option<String>,
    home: Option<String>,
    settings: Vec<String>,
    grammar: fn() -> Command,
    /// What that makes, once it is wanted.
    whole: OnceLock<Command>,
}

/// Commands that know neither vaults nor settings of one call.
const WITHOUT_VAULTS: [&str; 6] =
    ["completions", "config", "man", "models", "providers", "version"];

/// Commands that are about all vaults, or name theirs themselves.
const VAULT_BY_NAME: [&[&str]; 9] = [
    &["init"],
    &["doctor"],
    &["policy", "init"],
    &["policy", "test"],
    &["vault", "create"],
    &["vault", "delete"],
    &["vault", "import"],
    &["vault", "list"],
    &["vault", "rename"],
];

/// Commands that work on one workspace; those of a group are all meant.
const ON_A_WORKSPACE: [&str; 17] = [
    "checkpoint",
    "commit",
    "conflicts",
    "diff",
    "discard",
    "exec",
    "export",
    "fs",
    "history",
    "log",
    "pull",
    "redo",
    "resolve",
    "review",
    "run",
    "status",
    "undo",
];

/// Options that say which workspace is meant, or that none is.
const NAMES_WORKSPACE: [&str; 5] = ["-w", "--workspace", "--vault-wide", "--head", "--settle"];

/// Remembers what was given, for all that is suggested from now on.
pub(crate) fn remember(invocation: Invocation) {
    // Only one command line is read.
    drop(INVOCATION.set(invocation));
}

/// A hint whose commands mean what this command line meant.
pub(crate) fn completed(hint: Hint) -> Hint {
    match INVOCATION.get() {
        Some(invocation) => {
            hint.with_each(|command| invocation.complete(command, invocation.workspace.as_deref()))
        }
        None => hint,
    }
}

/// A command to type next, as it is shown without quotes: the last one that a hint names. It is made where the workspace is known, and names it
/// where that has to be named.
pub(crate) fn next(hint: Hint) -> String {
    let last = hint.commands().pop();
    let completed = last.map(|mut command| {
        if let Some(invocation) = INVOCATION.get() {
            invocation.complete(&mut command, None);
        }
        command.to_string()
    });
    completed.unwrap_or_default()
}

/// A sentence whose commands mean the vault that this command line meant, and name the workspace themselves where they are about one.
pub(crate) fn said(hint: Hint) -> String {
    let hint = match INVOCATION.get() {
        Some(invocation) => hint.with_each(|command| invocation.complete(command, None)),
        None => hint,
    };
    hint.to_string()
}

/// A line for a shell whose commands of Offshoot mean what this command line meant.
pub(crate) fn completed_line(line: &str) -> String {
    match INVOCATION.get() {
        Some(invocation) => invocation.complete_line(line),
        None => line.to_owned(),
    }
}

/// The same for a command about one workspace.
pub(crate) fn next_in(workspace: &str, command: &str) -> String {
    next(Hint::command(command).words("-w").arg(workspace))
}

impl Invocation {
    /// What clap found, with the grammar that suggested commands are read by.
    pub(crate) fn new(found: &ArgMatches, grammar: fn() -> Command) -> Self {
        let (mut at, mut command) = (found, Vec::new());
        while let Some((name, below)) = at.subcommand() {
            command.push(name.to_owned());
            at = below;
        }
        let text = |id: &str| at.try_get_one::<String>(id).ok().flatten().cloned();
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let named_vault = match words.as_slice() {
            ["gc"] | ["vault", "check" | "compact" | "gc" | "info" | "pack"] => text("name"),
            _ => None,
        };
        let home = at.try_get_one::<PathBuf>("home").ok().flatten();
        let settings = at.try_get_many::<String>("config").ok().flatten();
        Self {
            workspace: text("workspace").or_else(|| text("named").filter(|it| is_name(it))),
            vault: named_vault.or_else(|| text("vault")),
            home: home.and_then(|home| home.to_str()).map(str::to_owned),
            settings: settings.into_iter().flatten().cloned().collect(),
            command,
            grammar,
            whole: OnceLock::new(),
        }
    }

    /// The same, with what another reading of the command line found beside it.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            workspace: self.workspace.or(other.workspace),
            vault: self.vault.or(other.vault),
            home: self.home.or(other.home),
            ..self
        }
    }

    /// The words that call the command.
    pub(crate) fn into_words(self) -> Vec<String> {
        self.command
    }

    /// Adds to a command of Offshoot what it needs to mean the same.
    pub(crate) fn complete(&self, suggested: &mut SuggestedCommand, workspace: Option<&str>) {
        if let [shell, option, line] = suggested.argv.as_mut_slice()
            && (shell.as_str(), option.as_str()) == ("sh", "-c")
        {
            *line = self.complete_line(line);
            return;
        }
        if let Some((at, added)) = self.missing(&suggested.argv, workspace) {
            suggested.insert(at, added);
        }
    }

    /// The same for a line of commands, of which only those of Offshoot are looked at. What calls a command has no quotes.
    fn complete_line(&self, line: &str) -> String {
        let complete = |command: &str| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            let Some((at, added)) = self.missing(&words, None) else { return command.to_owned() };
            let added = SuggestedCommand { argv: added, placeholders: Vec::new() };
            let parts = [words[..at].join(" "), added.to_string(), words[at..].join(" ")];
            parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" ")
        };
        line.split(" && ").map(complete).collect::<Vec<_>>().join(" && ")
    }

    /// What a command of Offshoot lacks to mean the same, and where that goes.
    fn missing(&self, argv: &[String], workspace: Option<&str>) -> Option<(usize, Vec<String>)> {
        let given = workspace.is_some() || self.vault.is_some() || self.home.is_some();
        if !given && self.settings.is_empty() {
            return None;
        }
        if argv.first().is_none_or(|program| program != "offshoot") || argv.iter().any(is_help) {
            return None;
        }
        let words = self.words(argv);
        let group = words.first().copied().unwrap_or_default();
        if WITHOUT_VAULTS.contains(&group) {
            return None;
        }
        let options = argv.iter().take_while(|word| *word != "--");
        let has = |names: &[&str]| options.clone().any(|word| names.contains(&word.as_str()));
        let at = 1 + words.len();
        let mut added = Vec::new();
        let mut add = |option: &str, value: &str| added.extend([option, value].map(str::to_owned));
        // The name of a workspace is the only word without an option that such a command takes there.
        let named = match group {
            "commit" | "discard" | "pull" | "redo" | "status" | "undo" => {
                // All of them are meant by `--all`.
                argv.get(at).is_some_and(|word| !word.starts_with('-') || word == "--all")
            }
            _ => false,
        };
        if let Some(workspace) = workspace
            && ON_A_WORKSPACE.contains(&group)
            && !named
            && !has(&NAMES_WORKSPACE)
        {
            add("-w", workspace);
        }
        if let Some(vault) = &self.vault
            && !VAULT_BY_NAME.contains(&words.as_slice())
            && !has(&["--vault"])
        {
            add("--vault", vault);
        }
        if let Some(home) = &self.home
            && !has(&["--home"])
        {
            add("--home", home);
        }
        // Settings of one call are meant for that command.
        if self.command == words {
            self.settings.iter().for_each(|setting| add("-c", setting));
        }
        Some((at, added)).filter(|(_, added)| !added.is_empty())
    }

    /// The words of a list of arguments that call a command.
    fn words<'a>(&self, argv: &'a [String]) -> Vec<&'a str> {
        let whole = self.whole.get_or_init(self.grammar);
        let (mut at, mut words) = (whole, Vec::new());
        for word in argv.iter().skip(1) {
            let Some(found) = at.find_subcommand(word) else { break };
            words.push(word.as_str());
            at = found;
        }
        words
    }
}

/// Whether a word can be the name of a workspace; to `commit` some give a message.
fn is_name(word: &str) -> bool {
    !word.contains(char::is_whitespace)
}

fn is_help(word: &String) -> bool {
    word == "--help"
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::CommandFactory;

    use super::*;
    use crate::args::{Cli, parse};

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    /// A suggestion as it is shown to somebody who typed a line.
    fn shown(typed: &str, suggested: &str) -> String {
        let (_, invocation) = parse(&words(typed)).unwrap_or_else(|error| panic!("{error}"));
        let mut command = Hint::command(suggested).commands().remove(0);
        invocation.complete(&mut command, invocation.workspace.as_deref());
        command.to_string()
    }

    #[test]
    fn what_was_given_is_repeated_where_it_is_needed() {
        for (typed, suggested, expected) in [
            ("commit -w fix", "commit --exclude PATH", "commit -w fix --exclude PATH"),
            ("commit fix", "commit --exclude PATH", "commit -w fix --exclude PATH"),
            ("commit -w fix", "fs export / DIR", "fs export -w fix / DIR"),
            ("exec -w fix -- ls -w other", "exec -- env", "exec -w fix -- env"),
            ("status -w fix", "undo NAME", "undo NAME"),
            ("status -w fix", "status -w other", "status -w other"),
            ("undo -w fix", "undo --vault-wide", "undo --vault-wide"),
            ("undo -w fix", "op log", "op log"),
            ("status --vault v", "gc", "gc --vault v"),
            ("status --vault v", "exec -w NAME CMD", "exec --vault v -w NAME CMD"),
            ("status --vault v", "kill EXEC --vault w", "kill EXEC --vault w"),
            ("status --vault v", "vault list", "vault list"),
            ("vault check v", "vault check --repair", "vault check --vault v --repair"),
            ("--home /h ls", "vault list", "vault list --home /h"),
            ("--home /h --vault v ls", "--vault w ...", "--home /h --vault w ..."),
            ("--home /h ls", "config show", "config show"),
            ("--vault v exec ls", "exec --help", "exec --help"),
            ("commit -c ui.color=never", "commit -m TEXT", "commit -c ui.color=never -m TEXT"),
            ("commit -c ui.color=never", "pull", "pull"),
        ] {
            let typed = format!("offshoot {typed}");
            let found = shown(&typed, &format!("offshoot {suggested}"));
            assert_eq!(found, format!("offshoot {expected}"), "{typed}");
        }
        assert_eq!(shown("offshoot status --vault v", "git status"), "git status");
        let message = ["offshoot", "commit", "Fix it"].map(OsString::from);
        assert_eq!(parse(&message).unwrap().1.workspace, None);
    }

    #[test]
    fn all_commands_that_are_told_apart_are_commands() {
        let whole = Cli::command();
        let groups = WITHOUT_VAULTS.iter().chain(&ON_A_WORKSPACE).map(std::slice::from_ref);
        for path in groups.chain(VAULT_BY_NAME) {
            let found = path.iter().try_fold(&whole, |at, word| at.find_subcommand(word));
            assert!(found.is_some(), "{path:?}");
        }
    }
}
