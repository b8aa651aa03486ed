//! Commands that name what they work on by an argument of their own, beside the option that every command has.

use clap::ArgMatches;
use clap::error::ErrorKind;

/// What an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Vault,
    Workspace,
}

use Target::{Vault, Workspace};

/// The commands, and the argument of each that means the same as an option of every command. Some of these arguments are options of their own.
const TARGETS: [(&[&str], &str, Target); 25] = [
    (&["commit"], "named", Workspace),
    (&["discard"], "named", Workspace),
    (&["gc"], "name", Vault),
    (&["init"], "--name", Vault),
    (&["merge"], "--into", Workspace),
    (&["new"], "name", Workspace),
    (&["pull"], "named", Workspace),
    (&["redo"], "named", Workspace),
    (&["snapshot", "create"], "of", Workspace),
    (&["status"], "named", Workspace),
    (&["undo"], "named", Workspace),
    (&["vault", "check"], "name", Vault),
    (&["vault", "compact"], "name", Vault),
    (&["vault", "create"], "name", Vault),
    (&["vault", "delete"], "name", Vault),
    (&["vault", "gc"], "name", Vault),
    (&["vault", "import"], "--name", Vault),
    (&["vault", "info"], "name", Vault),
    (&["vault", "maintain"], "name", Vault),
    (&["vault", "pack"], "name", Vault),
    (&["vault", "rename"], "from", Vault),
    (&["workspace", "create"], "name", Workspace),
    (&["workspace", "delete"], "name", Workspace),
    (&["workspace", "rename"], "from", Workspace),
    (&["workspace", "show"], "name", Workspace),
];

impl Target {
    fn id(self) -> &'static str {
        match self {
            Self::Vault => "vault",
            Self::Workspace => "workspace",
        }
    }

    fn option(self) -> &'static str {
        match self {
            Self::Vault => "--vault",
            Self::Workspace => "-w",
        }
    }
}

/// Refuses a command line whose option names another vault or workspace than its argument. What the environment says is only a default.
pub(super) fn agree(found: &ArgMatches) -> Result<(), clap::Error> {
    let (mut at, mut words) = (found, Vec::new());
    while let Some((name, below)) = at.subcommand() {
        words.push(name);
        at = below;
    }
    let Some((_, argument, target)) = TARGETS.iter().find(|(of, ..)| *of == words.as_slice())
    else {
        return Ok(());
    };
    let given = |id: &str| at.try_get_one::<String>(id).ok().flatten();
    match (given(target.id()), given(argument.trim_start_matches('-'))) {
        (Some(by_option), Some(by_argument)) if by_option != by_argument => {
            let (option, kind) = (target.option(), target.id());
            let written = match argument.starts_with('-') {
                true => format!("{argument} {by_argument}"),
                false => by_argument.clone(),
            };
            let message = match words.as_slice() {
                // No name has blanks in it.
                ["commit"] if by_argument.contains(char::is_whitespace) => format!(
                    "`{option} {by_option}` names the {kind} already; to describe the commit: -m '{written}'\n"
                ),
                _ => format!(
                    "`{option} {by_option}` and `{written}` name two different {kind}s: give only one of them\n"
                ),
            };
            Err(clap::Error::raw(ErrorKind::ArgumentConflict, message))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::CommandFactory;

    use super::*;
    use crate::args::{Cli, parse};

    fn read(line: &str) -> Result<(), clap::Error> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        parse(&words).map(drop)
    }

    #[test]
    fn two_targets_are_refused_wherever_they_stand() {
        for (line, said) in [
            ("--vault y vault delete x", "`--vault y` and `x` name two different vaults"),
            ("vault delete x --vault y", "`--vault y` and `x` name two different vaults"),
            ("vault --vault y rename x z", "`--vault y` and `x` name two different vaults"),
            ("-w a workspace delete b", "`-w a` and `b` name two different workspaces"),
            ("ws rm b --workspace=a", "`-w a` and `b` name two different workspaces"),
            ("-w a fork b", "`-w a` and `b` name two different workspaces"),
            ("-w a discard b", "`-w a` and `b` name two different workspaces"),
            ("merge x --into b -w a", "`-w a` and `--into b` name two different workspaces"),
            ("init --name x --vault y", "`--vault y` and `--name x` name two different vaults"),
            ("-w a undo --vault-wide", "'--workspace <NAME>' cannot be used with '--vault-wide'"),
            ("undo --vault-wide b", "'--vault-wide' cannot be used with '[WORKSPACE]'"),
            ("redo b --vault-wide", "'[WORKSPACE]' cannot be used with '--vault-wide'"),
            ("op -w a restore 01ab --vault-wide", "'--workspace <NAME>'"),
            ("-w a pull --head", "'--workspace <NAME>' cannot be used with '--head'"),
        ] {
            let error = read(&format!("offshoot {line}")).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
            assert!(error.to_string().contains(said), "{line}: {error}");
        }
    }

    #[test]
    fn a_message_is_no_name() {
        let words = ["offshoot", "commit", "-w", "fix", "Fix it"].map(OsString::from);
        let error = parse(&words).unwrap_err().to_string();
        assert!(error.contains("to describe the commit: -m 'Fix it'"), "{error}");
    }

    #[test]
    fn one_target_may_be_named_twice() {
        for line in [
            "-w a workspace delete a",
            "status a -w a",
            "--vault x vault delete x",
            "--vault y workspace delete b",
            "merge x --into a -w a",
            "-w a vault compact x",
        ] {
            read(&format!("offshoot {line}")).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }

    /// Every argument that is listed is one of its command, and none that names a target is forgotten.
    #[test]
    fn the_list_is_complete() {
        let mut whole = Cli::command();
        whole.build();
        for (words, argument, _) in TARGETS {
            let found = words.iter().try_fold(&whole, |at, word| at.find_subcommand(word));
            let mut arguments = found.unwrap_or_else(|| panic!("{words:?}")).get_arguments();
            let argument = argument.trim_start_matches('-');
            assert!(arguments.any(|arg| arg.get_id() == argument), "{words:?} {argument}");
        }
        let top = whole.get_subcommands().map(|command| (vec![command.get_name()], command));
        let groups = ["snapshot", "vault", "workspace"]
            .map(|name| (name, whole.find_subcommand(name).unwrap()));
        let below = groups.iter().flat_map(|(name, group)| {
            group.get_subcommands().map(|command| (vec![*name, command.get_name()], command))
        });
        for (words, command) in top.chain(below) {
            let names = |id: &str| match words.len() {
                1 => id == "named",
                _ => !matches!(id, "to" | "file" | "subcommand"),
            };
            for arg in command.get_positionals().filter(|arg| names(arg.get_id().as_str())) {
                let is_listed =
                    TARGETS.iter().any(|(of, id, _)| *of == words && arg.get_id() == id);
                assert!(is_listed, "{words:?} {}", arg.get_id());
            }
        }
    }
}
