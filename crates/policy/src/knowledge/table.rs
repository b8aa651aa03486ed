//! The types of the tables.

use crate::category::Categories;

/// A program, a builtin of the shell, or a subcommand.
#[derive(Debug)]
pub(crate) struct Tool {
    /// The first of its names.
    pub(crate) name: &'static str,
    /// What it does, for people.
    pub(crate) about: &'static str,
    /// What it is by itself.
    pub(crate) is: Categories,
    /// How its arguments are read.
    pub(crate) style: Style,
    /// Its options, sorted by name.
    pub(crate) options: &'static [(&'static str, Known)],
    /// Beginnings of options of which the rest may be anything, the longest first.
    pub(crate) prefixes: &'static [(&'static str, Known)],
    /// What the first operand is, where it differs.
    pub(crate) first: Option<First>,
    /// What the other operands are.
    pub(crate) operands: Operands,
    /// The language of code that it is given.
    pub(crate) language: Language,
    /// What its standard input is, where it is always that.
    pub(crate) input: Option<Role>,
    /// Behind an operand it takes nothing for an option, or not always.
    pub(crate) leading: bool,
    /// It adds words of its own to the command that it runs.
    pub(crate) appends: bool,
    /// Its name may end with a version.
    pub(crate) versioned: bool,
    /// What holds by number of operands.
    pub(crate) whens: &'static [When],
    /// Its subcommands, sorted by name.
    pub(crate) subs: &'static [(&'static str, &'static Self)],
    /// Subcommands whose names fit a pattern, the longest pattern first.
    pub(crate) patterns: &'static [(&'static str, &'static Self)],
    /// The subcommand that runs where none is given.
    pub(crate) default: Option<&'static Self>,
}

/// How arguments are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Options anywhere, bundled letters, long options.
    Gnu,
    /// As [`Style::Gnu`], but the first operand ends the options.
    Posix,
    /// Whole words with a single dash.
    Long,
    /// `key=value`.
    Keys,
    /// As [`Style::Gnu`], and the first argument may be letters without a dash.
    Tar,
    /// No options at all.
    None,
}

/// An option that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    /// Harmless, without a value.
    Flag,
    /// Harmless, with a value.
    Value(Role),
    /// Harmless, with a value that comes only joined to it.
    Optional,
    /// One that matters.
    Matters(&'static Effect),
}

/// What an option does.
#[derive(Debug)]
pub(crate) struct Effect {
    /// The role of its value, where it takes one.
    pub(crate) value: Option<Role>,
    /// Its value comes only joined to it.
    pub(crate) optional: bool,
    /// The value is written where one of these options is there.
    pub(crate) write_with: &'static [&'static str],
    /// It does so only with a value that fits one of these; any, where the list is empty.
    pub(crate) only: &'static [&'static str],
    /// And not with a value that fits one of these.
    pub(crate) except: &'static [&'static str],
    /// Categories on top.
    pub(crate) adds: Categories,
    /// Categories in place of the tool's own.
    pub(crate) is: Option<Categories>,
    /// The operands are these in place of the tool's own.
    pub(crate) operands: Option<&'static Operands>,
    /// The language of its value.
    pub(crate) language: Language,
    /// What the standard input is.
    pub(crate) input: Option<Role>,
    /// Why, for people.
    pub(crate) why: &'static str,
}

impl Effect {
    /// Whether nothing gets worse by it, so that it may be there without being seen.
    pub(crate) fn is_harmless(&self) -> bool {
        let value = matches!(self.value, None | Some(Role::Text | Role::Read));
        let is = self.is.is_none_or(Categories::is_read_only);
        value && is && self.adds.is_read_only() && self.operands.is_none() && self.input.is_none()
    }
}

impl Tool {
    /// Whether one of its options makes things worse.
    pub(crate) fn has_options_that_matter(&self) -> bool {
        let bad = |(_, known): &(&str, Known)| match known {
            Known::Matters(effect) => !effect.is_harmless(),
            _ => false,
        };
        self.options.iter().any(bad) || self.prefixes.iter().any(bad)
    }
}

/// What operands are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Operands {
    /// Those of the first ones.
    pub(crate) ahead: &'static [Role],
    /// That of all others.
    pub(crate) rest: Role,
}

/// What the first operand is, where it differs.
#[derive(Debug)]
pub(crate) struct First {
    /// Its role.
    pub(crate) role: Role,
    /// It is not there where one of these options is.
    pub(crate) unless: &'static [&'static str],
}

/// What a value or an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A plain value.
    Text,
    /// A path that is read.
    Read,
    /// A path that is made or changed.
    Write,
    /// The same, but `-` is the standard output.
    Output,
    /// A path that goes.
    Delete,
    /// The last operand is written, the others are read.
    LastWrite,
    /// `NAME=value`, as many as there are.
    Assignments,
    /// The name of a variable that is set.
    Variable,
    /// A directory in which the tool works.
    Directory,
    /// Data to send: `@` leads to a path that is read.
    Upload,
    /// A program and its arguments.
    Command,
    /// The same up to `;` or `+`.
    CommandUntil,
    /// A text for the shell.
    Shell,
    /// A file with code.
    Script,
    /// Code in the language of the tool.
    Code,
    /// A place in the network.
    Host,
    /// A path, or `host:path`.
    Remote,
}

/// The language of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// That of the shell.
    Shell,
    /// That of `sed`.
    Sed,
    /// That of `awk`.
    Awk,
    /// One that is not read here.
    Other(&'static str),
}

/// Something that holds by number of operands or by what options there are.
#[derive(Debug)]
pub(crate) struct When {
    /// There are at least so many operands.
    pub(crate) at_least: u16,
    /// There are at most so many operands.
    pub(crate) at_most: u16,
    /// One of the operands fits one of these; any, where the list is empty.
    pub(crate) words: &'static [&'static str],
    /// One of these options is there; any, where the list is empty.
    pub(crate) with: &'static [&'static str],
    /// None of these options is there.
    pub(crate) without: &'static [&'static str],
    /// Categories on top.
    pub(crate) adds: Categories,
    /// Categories in place of the tool's own.
    pub(crate) is: Option<Categories>,
    /// Why, for people.
    pub(crate) why: &'static str,
}

/// A variable that changes what programs do.
#[derive(Debug)]
pub(crate) struct Variable {
    /// Its name; `*` at an end stands for anything.
    pub(crate) name: &'static str,
    /// What it is to set it.
    pub(crate) adds: Categories,
    /// Values that change nothing; an empty one does not either where there are some.
    pub(crate) harmless: &'static [&'static str],
    /// It matters only where it stays set.
    pub(crate) lasting: bool,
    /// Why, for people.
    pub(crate) why: &'static str,
}

impl Variable {
    /// Whether a name is meant.
    pub(crate) fn fits(&self, name: &str) -> bool {
        if let Some(beginning) = self.name.strip_suffix('*') {
            return name.starts_with(beginning);
        }
        match self.name.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => name == self.name,
        }
    }

    /// Whether this value changes something.
    pub(crate) fn matters(&self, value: Option<&str>) -> bool {
        let harmless = |value: &str| value.is_empty() || self.harmless.contains(&value);
        let spared = !self.harmless.is_empty() && value.is_some_and(harmless);
        !self.adds.is_read_only() && !spared
    }
}

/// Where credentials lie.
#[derive(Debug)]
pub(crate) struct CredentialLocation {
    /// It lies below a home; otherwise below the root.
    pub(crate) home: bool,
    /// Its path without slashes at its ends; `*` stands for any part of one name. All below it is meant too.
    pub(crate) path: &'static str,
    /// What lies there, for people.
    pub(crate) why: &'static str,
}
