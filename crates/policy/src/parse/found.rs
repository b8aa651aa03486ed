//! What was found so far in a text.

use crate::script::{InputSource, NotUnderstood, Script, ShellWord, Simple, WordPiece};

use super::dialect::Dialect;

/// More commands than this are not listed: a text with more is unclear.
const MAX_COMMANDS: usize = 2048;
/// More functions than this are not looked at: a text with more is unclear.
const MAX_FUNCTIONS: usize = 64;
/// More reasons than this tell nobody anything.
const MAX_UNCLEAR: usize = 16;
/// The largest number of places that one pipe may add to all commands that read it.
const MAX_PIPE: usize = 1 << 14;

/// What was found so far in a text.
#[derive(Default)]
pub(super) struct Found {
    pub(super) commands: Vec<Simple>,
    pub(super) unclear: Vec<NotUnderstood>,
    /// The functions that are surely defined where the reader stands.
    pub(super) functions: Vec<String>,
    /// The bodies of all functions: name, and the places of their commands.
    pub(super) bodies: Vec<(String, usize, usize)>,
    /// Something was read that dash reads in another way than bash.
    pub(super) differs: bool,
    /// Arithmetic looks at variables: bash evaluates their values, and runs substitutions that it finds there.
    pub(super) arithmetic: bool,
    /// There is a literal text that has substitutions in it, or parts of one.
    pub(super) hidden: bool,
    /// Words that braces made.
    pub(super) braced: usize,
}

/// How much was found at some time.
#[derive(Default)]
pub(super) struct Mark {
    commands: usize,
    unclear: usize,
    bodies: usize,
    arithmetic: bool,
}

impl Found {
    /// How much there is now.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            commands: self.commands.len(),
            unclear: self.unclear.len(),
            bodies: self.bodies.len(),
            arithmetic: self.arithmetic,
        }
    }

    /// Takes back all that was found since.
    pub(super) fn forget(&mut self, since: &Mark) {
        self.commands.truncate(since.commands);
        self.unclear.truncate(since.unclear);
        self.bodies.truncate(since.bodies);
        self.arithmetic = since.arithmetic;
    }

    /// Adds a command and says where it is.
    pub(super) fn push(&mut self, mut simple: Simple) -> usize {
        self.look_into_literals(&simple);
        simple.calls_function = self.calls_function(&simple);
        self.commands.push(simple);
        self.commands.len() - 1
    }

    /// Whether there are more commands than anybody looks at.
    pub(super) fn is_full(&self) -> bool {
        self.commands.len() >= MAX_COMMANDS
    }

    /// Whether there are more functions than anybody looks at.
    pub(super) fn has_all_functions(&self) -> bool {
        self.bodies.len() >= MAX_FUNCTIONS
    }

    /// Remembers that something was not understood.
    pub(super) fn unclear(&mut self, text: &str, why: &str) {
        if self.unclear.len() < MAX_UNCLEAR && self.unclear.iter().all(|known| known.why != why) {
            self.unclear.push(NotUnderstood::new(text, why));
        }
    }

    /// Remembers that some of the text was not read. No number of other reasons hides that.
    pub(super) fn unread(&mut self, text: &str, why: &str) {
        if self.unclear.iter().all(|known| known.why != why) {
            self.unclear.push(NotUnderstood::unread(text, why));
        }
    }

    /// Gives an input to all commands from `start` on that have none of their own.
    pub(super) fn feed(&mut self, start: usize, input: &InputSource) {
        for simple in self.commands.iter_mut().skip(start) {
            if simple.input == InputSource::Inherited {
                simple.input.clone_from(input);
            }
        }
    }

    /// Lets the commands from `middle` on read what those from `start` up to there write.
    pub(super) fn pipe(&mut self, start: usize, middle: usize) {
        let (sources, readers) = (middle - start, self.commands.len() - middle);
        let mut places: Vec<usize> = (start..middle).collect();
        if sources.saturating_mul(readers) > MAX_PIPE {
            places.truncate(MAX_PIPE / readers.max(1));
            self.unread("", "too many commands write to a pipe that too many read");
        }
        self.feed(middle, &InputSource::Pipe(places));
    }

    /// All commands from `start` on run in a process of their own.
    pub(super) fn apart(&mut self, start: usize) {
        for simple in self.commands.iter_mut().skip(start) {
            simple.apart = true;
        }
    }

    /// What can be said only when all is read.
    pub(super) fn finish(&mut self, text: &str, dialect: Dialect) {
        if dialect == Dialect::Bash && self.arithmetic && self.hidden {
            self.unclear(text, "arithmetic may run what a variable holds");
        }
        self.functions_can_be_undone(text);
        self.feed_functions();
    }

    pub(super) fn into_script(self) -> Script {
        Script { commands: self.commands, unclear: self.unclear }
    }

    fn calls_function(&self, simple: &Simple) -> bool {
        let Some([WordPiece::Literal(name)]) =
            simple.words.first().map(|word| word.pieces.as_slice())
        else {
            return false;
        };
        !is_special_builtin(name) && self.functions.iter().any(|function| function == name)
    }

    fn look_into_literals(&mut self, simple: &Simple) {
        let values = simple.assignments.iter().map(|assignment| &assignment.value);
        for word in simple.words.iter().chain(values) {
            for piece in &word.pieces {
                if let WordPiece::Literal(text) = piece {
                    self.look_into(text);
                }
            }
        }
        let first = simple.words.first().map_or("", ShellWord::beginning);
        let numeric =
            |word: &ShellWord| word.beginning().starts_with('-') && word.beginning().contains('i');
        self.arithmetic |= first == "let"
            || matches!(first, "declare" | "typeset" | "local") && simple.words.iter().any(numeric);
    }

    fn look_into(&mut self, text: &str) {
        if !text.contains(['$', '`']) {
            return;
        }
        let runs = |text: &str| text.contains("$(") || text.contains('`');
        self.hidden |= runs(text) || text.contains("[$") || text.ends_with('$');
        // Builtins of bash evaluate the index of `name[index]` wherever they take a name.
        if text.split_once('[').is_some_and(|(name, index)| {
            name.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && runs(index)
        }) {
            self.unclear(text, "an index of an array may run a substitution");
        }
    }

    /// With these about, a name may stand for something else than the function that the text defines, or the text for
    /// other words.
    fn functions_can_be_undone(&mut self, text: &str) {
        let named = |name: &str| {
            self.commands
                .iter()
                .any(|simple| simple.words.iter().any(|word| word.beginning() == name))
        };
        let extended = ["?(", "*(", "+(", "@(", "!("];
        let surprise = named("shopt") && extended.iter().any(|opening| text.contains(opening));
        if !self.bodies.is_empty() && named("unset") {
            self.commands.iter_mut().for_each(|simple| simple.calls_function = false);
        }
        if surprise {
            self.unclear.push(NotUnderstood::new(text, "extended patterns may be switched on"));
        }
    }

    /// What a function reads where it is called with a pipe or a file goes to the commands of its body.
    fn feed_functions(&mut self) {
        for (name, start, end) in std::mem::take(&mut self.bodies) {
            let inside = start..end;
            let mut inputs = Vec::new();
            for (place, simple) in self.commands.iter().enumerate() {
                let called = simple.words.first().is_some_and(|word| word.beginning() == name);
                if called && !inside.contains(&place) && simple.input != InputSource::Inherited {
                    inputs.push(simple.input.clone());
                }
            }
            let Some(first) = inputs.pop() else { continue };
            let input = inputs.into_iter().fold(first, either);
            for simple in &mut self.commands[start..end] {
                if simple.input == InputSource::Inherited {
                    simple.input.clone_from(&input);
                }
            }
        }
    }
}

/// One of two inputs; what is known of both where they are pipes.
fn either(one: InputSource, other: InputSource) -> InputSource {
    match (one, other) {
        (InputSource::Pipe(mut places), InputSource::Pipe(more)) => {
            places.extend(more);
            InputSource::Pipe(places)
        }
        (pipe @ InputSource::Pipe(_), _) | (_, pipe @ InputSource::Pipe(_)) => pipe,
        (one, other) if one == other => one,
        _ => InputSource::Several,
    }
}

/// What a POSIX shell looks up before functions.
fn is_special_builtin(name: &str) -> bool {
    matches!(
        name,
        "break"
            | ":"
            | "continue"
            | "."
            | "eval"
            | "exec"
            | "exit"
            | "export"
            | "readonly"
            | "return"
            | "set"
            | "shift"
            | "times"
            | "trap"
            | "unset"
    )
}
