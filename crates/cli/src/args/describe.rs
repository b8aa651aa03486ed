//! `--help --json`: commands, options and values for programs.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};
use offshoot_protocol::{ArgumentDoc, ArgumentKindDoc, CommandDoc, HelpDoc, PossibleValueDoc};

/// The command that help is asked for, with all below it.
pub(super) fn describe(arguments: &[OsString], mut whole: Command) -> HelpDoc {
    whole.build();
    let words = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    let mut at = &whole;
    for word in words.filter(|word| *word != "help") {
        at = at.find_subcommand(word).unwrap_or(at);
    }
    HelpDoc { version: env!("CARGO_PKG_VERSION").to_owned(), command: command(at) }
}

fn command(of: &Command) -> CommandDoc {
    let visible = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    let name = of.get_bin_name().unwrap_or(of.get_name()).to_owned();
    CommandDoc {
        name,
        about: text(of.get_about()),
        usage: plain(&of.clone().render_usage()),
        aliases: of.get_all_aliases().map(str::to_owned).collect(),
        arguments: arguments(of)
            .into_iter()
            .filter(|arg| !arg.is_hide_set())
            .map(argument)
            .collect(),
        examples: text(of.get_after_help()),
        commands: of.get_subcommands().filter(visible).map(command).collect(),
    }
}

/// Its own arguments, then those of every command, then help. Clap has the latter before its own, which it builds last.
fn arguments(of: &Command) -> Vec<&Arg> {
    let mut all: Vec<&Arg> = of.get_arguments().collect();
    let is_help = |arg: &Arg| matches!(arg.get_id().as_str(), "help" | "version");
    all.sort_by_key(|arg| (is_help(arg), arg.is_global_set()));
    all
}

fn argument(of: &Arg) -> ArgumentDoc {
    let takes_value = of.get_action().takes_values();
    let kind = match (of.is_positional(), takes_value) {
        (true, _) => ArgumentKindDoc::Positional,
        (false, true) => ArgumentKindDoc::Option,
        (false, false) => ArgumentKindDoc::Flag,
    };
    let values = of.get_possible_values();
    let values = values.iter().filter(|_| takes_value).map(|value| PossibleValueDoc {
        name: value.get_name().to_owned(),
        help: text(value.get_help()),
    });
    let range = of.get_num_args();
    let first = of.get_value_names().unwrap_or_default().first().filter(|_| takes_value);
    let defaults = of.get_default_values().iter().filter(|_| takes_value);
    ArgumentDoc {
        name: of.get_id().to_string(),
        kind,
        short: of.get_short().map(|short| format!("-{short}")),
        long: of.get_long().map(|long| format!("--{long}")),
        value: first.map(ToString::to_string),
        value_optional: takes_value && range.is_some_and(|range| range.min_values() == 0),
        help: text(of.get_help()),
        required: of.is_required_set(),
        repeatable: matches!(of.get_action(), ArgAction::Append | ArgAction::Count)
            || range.is_some_and(|range| range.max_values() > 1),
        global: of.is_global_set(),
        default: defaults.map(|value| value.to_string_lossy().into_owned()).next(),
        values: values.collect(),
    }
}

fn text(styled: Option<&StyledStr>) -> Option<String> {
    styled.map(plain)
}

fn plain(styled: &StyledStr) -> String {
    styled.to_string()
}
