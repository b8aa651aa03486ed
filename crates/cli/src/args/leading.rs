//! Options in front of a command.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// The arguments with the options that stand in front of a command put behind its name. clap checks which options exclude one another only among those
/// that stand together: without this, `-w a discard b` would be taken for either.
pub(super) fn behind_command<'a>(
    arguments: &'a [OsString],
    grammar: &Command,
) -> Option<Vec<OsString>> {
    let leads = arguments.get(1)?.as_encoded_bytes().first() == Some(&b'-');
    // Who writes the command first pays nothing; groups have no options, but some may be given between their name and that of the command.
    let between = arguments.get(2)?.as_encoded_bytes().first() == Some(&b'-');
    if !leads && !between {
        return None;
    }
    let everywhere = known_everywhere(grammar);
    let mut options = Vec::new();
    let mut take = |mut left: &'a [OsString]| {
        while let Some(count) = left.first().and_then(|word| length(word, &everywhere)) {
            options.extend_from_slice(left.get(..count)?);
            left = left.get(count..)?;
        }
        left.split_first()
    };
    let (name, mut left) = take(arguments.get(1..)?)?;
    // What is in a command is made when it is wanted, with everything below it; it has to know the options that are not its own.
    let mut command = grammar.find_subcommand(name)?.clone().args(&everywhere);
    command.build();
    let (mut at, mut names) = (&command, vec![name.clone()]);
    while at.has_subcommands() {
        let (name, rest) = take(left)?;
        at = at.find_subcommand(name)?;
        names.push(name.clone());
        left = rest;
    }
    let moved = !options.is_empty();
    let first = arguments.first().cloned();
    moved.then(|| {
        first.into_iter().chain(names).chain(options).chain(left.iter().cloned()).collect()
    })
}

/// The options of a command line that every command has, wherever they stand.
pub(super) fn everywhere(arguments: &[OsString], grammar: &Command) -> Vec<OsString> {
    let known = known_everywhere(grammar);
    let mut found: Vec<OsString> = arguments.iter().take(1).cloned().collect();
    let mut left = arguments.get(1..).unwrap_or_default();
    while let Some(word) = left.first().filter(|word| *word != "--") {
        let count = length(word, &known);
        let taken = &left[..count.unwrap_or(1).min(left.len())];
        if count.is_some() {
            found.extend_from_slice(taken);
        }
        left = &left[taken.len()..];
    }
    found
}

/// The options that every command has.
fn known_everywhere(grammar: &Command) -> Vec<Arg> {
    grammar.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect()
}

/// How many words an option takes; nothing where a word is no option that every command has.
fn length(word: &OsStr, everywhere: &[Arg]) -> Option<usize> {
    let text = word.to_string_lossy();
    let takes_value = |arg: &Arg| arg.get_action().takes_values();
    if let Some(long) = text.strip_prefix("--") {
        let (name, value) =
            long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let arg = everywhere.iter().find(|arg| arg.get_long() == Some(name))?;
        return Some(1 + usize::from(takes_value(arg) && value.is_none()));
    }
    let mut letters = text.strip_prefix('-').filter(|letters| !letters.is_empty())?.chars();
    while let Some(letter) = letters.next() {
        let arg = everywhere.iter().find(|arg| arg.get_short() == Some(letter))?;
        if takes_value(arg) {
            return Some(1 + usize::from(letters.as_str().is_empty()));
        }
    }
    Some(1)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::{Cli, parse};

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn options_in_front_are_put_behind_the_command() {
        for (line, moved) in [
            ("offshoot -w a discard b", "offshoot discard -w a b"),
            ("offshoot -qwa --vault=v status", "offshoot status -qwa --vault=v"),
            ("offshoot -q -w a exec -- ls -w", "offshoot exec -q -w a -- ls -w"),
            ("offshoot --json vault -c a=b list", "offshoot vault list --json -c a=b"),
            ("offshoot vault --json list", "offshoot vault list --json"),
        ] {
            let found = behind_command(&words(line), &Cli::command());
            assert_eq!(found, Some(words(moved)), "{line}");
        }
        for line in [
            "offshoot",
            "offshoot status -w a",
            "offshoot exec -- ls",
            "offshoot --help",
            "offshoot -w a nonsense",
            "offshoot -w",
            "offshoot --json vault",
            "offshoot exec -w a ls",
        ] {
            assert_eq!(behind_command(&words(line), &Cli::command()), None, "{line}");
        }
    }

    /// Wherever an option stands, it excludes what it excludes.
    #[test]
    fn options_in_front_exclude_others_too() {
        for line in [
            "offshoot -w a discard b",
            "offshoot -w a undo b",
            "offshoot -w a commit b",
            "offshoot -w a status b",
            "offshoot -w a pull b",
            "offshoot -w a exec --ephemeral -- ls",
            "offshoot -w a exec --from b -- ls",
            "offshoot --json exec --stream -- ls",
            "offshoot --json logs -f 01abc",
            "offshoot --vault v ps --all",
            "offshoot -w a status -w b",
            "offshoot --vault a vault --vault b list",
        ] {
            assert!(parse(&words(line)).is_err(), "{line}");
        }
        for line in [
            "offshoot -w a status",
            "offshoot --json --vault v ps",
            "offshoot -c a=1 status -c b=2",
        ] {
            assert!(parse(&words(line)).is_ok(), "{line}");
        }
    }
}
