//! The common form of what is asked for: every simple command, flat, in the order of the text.

mod word;

pub use word::{ShellWord, WordPiece};

/// All that a text or an argument list asks for.
///
/// Loops, conditions, functions, subshells and substitutions are gone: what is inside counts as if it ran. A command that is only
/// defined (a function's body) counts too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Every simple command.
    pub commands: Vec<Simple>,
    /// What could not be understood; a script with one of these is at least mutating, and may do anything where something was not read.
    pub unclear: Vec<NotUnderstood>,
}

impl Script {
    /// The words of the one command that this is, where there is nothing else: no assignment, no redirection, no pipe.
    pub fn alone(&self) -> Option<&[ShellWord]> {
        let [only] = self.commands.as_slice() else { return None };
        let plain = only.assignments.is_empty()
            && only.redirects.is_empty()
            && only.input == InputSource::Inherited;
        (plain && self.unclear.is_empty()).then_some(&only.words)
    }
}

/// One program with its arguments, assignments and redirections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// `NAME=value` before the program; alone where there are no words.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments; empty for assignments or redirections alone.
    pub words: Vec<ShellWord>,
    /// Its redirections. Those of a group, a loop or any other compound command are an entry of their own without words,
    /// after the commands inside; what they give to standard input is the `input` of these too.
    pub redirects: Vec<Redirect>,
    /// Where its standard input comes from.
    pub input: InputSource,
    /// Its name is that of a function which the script has surely defined before: what runs is in the script already.
    pub calls_function: bool,
    /// It runs in a subshell, a pipeline or a substitution: a `cd` in it does not last.
    pub apart: bool,
}

/// A variable that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Its name, without an index.
    pub name: String,
    /// Its value; for an array, its members one after the other.
    pub value: ShellWord,
}

/// A redirection to or from a file. Those from one descriptor to another are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// What is done to the file.
    pub kind: RedirectKind,
    /// The file.
    pub target: ShellWord,
}

/// What a redirection does to its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
}

/// Where standard input comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum InputSource {
    /// From whoever runs the script.
    #[default]
    Inherited,
    /// From the commands before it in a pipeline: their places in [`Script::commands`]. They may come later there too, where a
    /// function is called in a pipeline or a command writes to `>(…)`.
    Pipe(Vec<usize>),
    /// From a here-document or a here-string.
    Text(ShellWord),
    /// From a file.
    File(ShellWord),
    /// From one of several texts, or from one that too many commands read to follow it.
    Several,
}

/// Something that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotUnderstood {
    /// The text, shortened.
    pub text: String,
    /// Why.
    pub why: String,
    /// Some of the text was not read: what it asks for may be anything.
    pub unread: bool,
}

impl NotUnderstood {
    /// A text, of which as much is kept as fits into a line, and why it is not understood.
    pub(crate) fn new(text: &str, why: &str) -> Self {
        let mut short: String = text.chars().take(40).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        Self { text: short, why: why.to_owned(), unread: false }
    }

    /// The same of a text of which some was not read.
    pub(crate) fn unread(text: &str, why: &str) -> Self {
        Self { unread: true, ..Self::new(text, why) }
    }
}
