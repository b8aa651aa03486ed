//! Reads the arguments of a tool: which are options, values, subcommands and operands.

mod reader;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::knowledge::{Effect, Known, Operands, Tool};
use crate::script::{ShellWord, WordPiece};

use super::pattern::fits;
use reader::Reader;

/// The arguments of a tool after they were taken apart.
#[derive(Debug, Default)]
pub(super) struct Reading<'w> {
    /// The tool and its subcommands, the innermost last.
    pub(super) chain: Vec<&'static Tool>,
    /// What they are called here.
    names: Vec<Cow<'w, str>>,
    /// The options that are known.
    pub(super) options: Vec<Given<'w>>,
    /// What is neither an option nor a value of one.
    pub(super) operands: Vec<&'w ShellWord>,
    /// `NAME=value` ahead of a command.
    pub(super) assignments: Vec<&'w ShellWord>,
    /// The command that the tool runs.
    pub(super) command: Option<&'w [ShellWord]>,
    /// What is not known.
    pub(super) strange: Vec<Strange<'w>>,
    /// There is a `--`.
    pub(super) dashes: bool,
    /// The subcommand is not known, and so is what follows.
    pub(super) lost: bool,
}

/// An option that is there.
#[derive(Debug)]
pub(super) struct Given<'w> {
    pub(super) name: &'static str,
    pub(super) known: Known,
    pub(super) value: Option<Value<'w>>,
    /// It belongs to a tool around the innermost one, and stands behind the subcommand.
    pub(super) outer: bool,
}

/// The value of an option.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'w> {
    /// A word of its own.
    Word(&'w ShellWord),
    /// The rest of the word, from this byte of its first piece on.
    Joined(&'w ShellWord, usize),
    /// A command of several words.
    Words(&'w [ShellWord]),
    /// The same, its first word joined to the option from this byte on.
    JoinedWords(&'w ShellWord, usize, &'w [ShellWord]),
}

/// Something that is not known.
#[derive(Debug)]
pub(super) enum Strange<'w> {
    /// An option that the tool is not known to have.
    Option(&'w ShellWord),
    /// A subcommand that the tool is not known to have.
    Subcommand(&'w ShellWord),
    /// An option behind an operand, where the tool may take it for something else.
    Late(&'w ShellWord),
    /// A word that may turn out to be an option.
    Injected(&'w ShellWord),
}

impl Given<'_> {
    /// Whether the effect holds for the value. If the value is not known, it does unless that would make things better.
    fn counts(&self, effect: &Effect) -> bool {
        if effect.only.is_empty() && effect.except.is_empty() {
            return true;
        }
        let word = self.value.map(Value::word).unwrap_or_default();
        match word.literal() {
            Some(value) => {
                let any = |list: &[&str]| list.iter().any(|wanted| fits(wanted, &value));
                (effect.only.is_empty() || any(effect.only)) && !any(effect.except)
            }
            None => effect.is.is_none_or(|is| !is.is_read_only()),
        }
    }
}

impl<'w> Value<'w> {
    /// The value as a word.
    pub(super) fn word(self) -> Cow<'w, ShellWord> {
        match self {
            Self::Word(word) => Cow::Borrowed(word),
            Self::Joined(word, skip) | Self::JoinedWords(word, skip, _) => {
                let mut pieces = word.pieces.clone();
                if let Some(WordPiece::Literal(text)) = pieces.first_mut() {
                    text.drain(..skip.min(text.len()));
                }
                pieces
                    .retain(|piece| !matches!(piece, WordPiece::Literal(text) if text.is_empty()));
                Cow::Owned(ShellWord { pieces })
            }
            Self::Words(words) => words.first().map_or_else(Cow::default, Cow::Borrowed),
        }
    }
}

impl<'w> Reading<'w> {
    /// Takes the arguments of a tool apart.
    pub(super) fn of(name: &'static str, tool: &'static Tool, arguments: &'w [ShellWord]) -> Self {
        let mut reading = Reader::new(name, tool, arguments).read();
        if let Some(default) = reading.tool().default {
            reading.chain.push(default);
        }
        reading
    }

    /// The innermost tool.
    pub(super) fn tool(&self) -> &'static Tool {
        self.chain.last().expect("a reading starts with its tool")
    }

    /// The tool with its subcommands, for people.
    pub(super) fn name(&self) -> String {
        self.names.join(" ")
    }

    /// The options that matter, with the values that they have.
    pub(super) fn effects(&self) -> impl Iterator<Item = (&Given<'w>, &'static Effect)> {
        self.options.iter().filter_map(|given| match given.known {
            Known::Matters(effect) if given.counts(effect) => Some((given, effect)),
            _ => None,
        })
    }

    /// Whether one of these options is there.
    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        self.options.iter().any(|given| names.contains(&given.name))
    }

    /// Whether one of the operands fits one of these, or `--` is there and is meant. What is not known may fit, unless it must
    /// for certain.
    pub(super) fn has_words(&self, wanted: &[&str], certain: bool) -> bool {
        let any = |word: &ShellWord| match word.literal() {
            Some(text) => wanted.iter().any(|wanted| fits(wanted, &text)),
            None => !certain,
        };
        (self.dashes && wanted.contains(&"--")) || self.operands.iter().any(|word| any(word))
    }

    /// What options say of the operands.
    pub(super) fn overrides(&self) -> impl Iterator<Item = &'static Operands> {
        let own = self.effects().filter(|(given, _)| !given.outer);
        own.filter_map(|(_, effect)| effect.operands)
    }

    /// How many operands there are: the fewest and the most.
    pub(super) fn count(&self) -> (usize, usize) {
        let words = || self.operands.iter().copied().chain(self.command.unwrap_or_default());
        let certain = words().filter(|word| !word.splits()).count();
        let most = if words().any(ShellWord::splits) { usize::MAX } else { certain };
        (certain, most)
    }
}
