//! What to do about an error: text, with commands in it that a program can run as they are.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a line for a shell is given to.
const SHELL: [&str; 2] = ["sh", "-c"];

/// What to do about an error. Commands in it are kept as lists of arguments, so that nobody has to find them in the text.
///
/// ```
/// use offshoot_protocol::Hint;
///
/// let hint = Hint::command("offshoot binding move").arg("/my docs").words("DIR").text(" says where it is now");
/// assert_eq!(hint.to_string(), "`offshoot binding move '/my docs' DIR` says where it is now");
/// let commands = hint.commands();
/// assert_eq!(commands[0].argv, ["offshoot", "binding", "move", "/my docs", "DIR"]);
/// assert_eq!(commands[0].placeholders, [4]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    parts: Vec<Part>,
    unchanged: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Command(SuggestedCommand),
}

/// A command that a hint names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuggestedCommand {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Which of `argv` stand for something that the reader has to fill in, such as `DIR`, counted from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub placeholders: Vec<usize>,
}

impl Hint {
    /// A hint that begins with a command; see [`Hint::words`].
    pub fn command(words: &str) -> Self {
        Self::default().then(words)
    }

    /// Adds text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Text(text.into()));
        self
    }

    /// Adds a further command; see [`Hint::words`].
    #[must_use]
    pub fn then(mut self, words: &str) -> Self {
        self.parts.push(Part::Command(SuggestedCommand::default()));
        self.words(words)
    }

    /// Adds words that are known beforehand to the command at the end of the hint. Those in capitals, and `...`, are for the reader to fill in.
    #[must_use]
    pub fn words(mut self, words: &str) -> Self {
        let command = self.last();
        for word in words.split_whitespace() {
            if is_placeholder(word) {
                command.placeholders.push(command.argv.len());
            }
            command.argv.push(word.to_owned());
        }
        self
    }

    /// Adds one argument, whatever characters it has, to the command at the end of the hint.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.last().argv.push(argument.into());
        self
    }

    /// Adds a line for a shell, which may hold several commands.
    #[must_use]
    pub fn shell(mut self, line: impl Into<String>) -> Self {
        let argv = SHELL.iter().map(|word| (*word).to_owned()).chain([line.into()]).collect();
        self.parts.push(Part::Command(SuggestedCommand { argv, placeholders: Vec::new() }));
        self
    }

    /// Adds that nothing was changed.
    #[must_use]
    pub fn unchanged(mut self) -> Self {
        self.unchanged = true;
        self
    }

    /// Leaves out that nothing was changed, where that is not so.
    #[must_use]
    pub fn changed(mut self) -> Self {
        self.unchanged = false;
        self
    }

    /// Adds another hint.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        if !self.parts.is_empty() && !other.parts.is_empty() {
            self.parts.push(Part::Text("; ".to_owned()));
        }
        self.parts.extend(other.parts);
        self.unchanged |= other.unchanged;
        self
    }

    /// The same hint with something done to each of its commands: a front end adds what its user has to repeat.
    #[must_use]
    pub fn with_each(mut self, mut change: impl FnMut(&mut SuggestedCommand)) -> Self {
        for part in &mut self.parts {
            if let Part::Command(command) = part {
                change(command);
            }
        }
        self
    }

    /// The commands that it names, in their order.
    pub fn commands(&self) -> Vec<SuggestedCommand> {
        let command = |part: &Part| match part {
            Part::Command(command) => Some(command.clone()),
            Part::Text(_) => None,
        };
        self.parts.iter().filter_map(command).collect()
    }

    /// The command at the end; a new one where there is text.
    fn last(&mut self) -> &mut SuggestedCommand {
        if !matches!(self.parts.last(), Some(Part::Command(_))) {
            self.parts.push(Part::Command(SuggestedCommand::default()));
        }
        match self.parts.last_mut() {
            Some(Part::Command(command)) => command,
            _ => unreachable!("a command was just added"),
        }
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Self::default().text(text)
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::default().text(text)
    }
}

impl SuggestedCommand {
    /// Adds arguments before the one at a place; behind all others where there is none.
    pub fn insert(&mut self, at: usize, arguments: impl IntoIterator<Item = String>) {
        let at = at.min(self.argv.len());
        let before = self.argv.len();
        self.argv.splice(at..at, arguments);
        let added = self.argv.len() - before;
        for place in self.placeholders.iter_mut().filter(|place| **place >= at) {
            *place += added;
        }
    }
}

/// The hint for people, with commands as they can be typed.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::Text(text) => f.write_str(text)?,
                Part::Command(command) => write!(f, "`{command}`")?,
            }
        }
        match (self.unchanged, self.parts.is_empty()) {
            (false, _) => Ok(()),
            (true, true) => f.write_str("nothing was changed"),
            (true, false) => f.write_str("; nothing was changed"),
        }
    }
}

/// The command as it can be typed into a shell.
impl fmt::Display for SuggestedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [program, option, line] = self.argv.as_slice()
            && [program, option] == SHELL
        {
            return f.write_str(line);
        }
        for (at, argument) in self.argv.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            match self.placeholders.contains(&at) || is_plain(argument) {
                true => f.write_str(argument)?,
                false => write!(f, "'{}'", argument.replace('\'', r"'\''"))?,
            }
        }
        Ok(())
    }
}

fn is_placeholder(word: &str) -> bool {
    word == "..." || word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Whether a shell takes a word as it is.
fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:@+,%^".contains(c);
    !word.is_empty() && word.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_survive_whatever_they_hold() {
        let name = "it's `mine`; rm -rf $HOME";
        let hint = Hint::from("look: ").then("offshoot fs cat").arg(name).text(", then go on");
        assert_eq!(
            hint.to_string(),
            r"look: `offshoot fs cat 'it'\''s `mine`; rm -rf $HOME'`, then go on"
        );
        assert_eq!(hint.commands()[0].argv, ["offshoot", "fs", "cat", name]);
        assert!(hint.commands()[0].placeholders.is_empty());
        assert_eq!(Hint::command("a").arg("").to_string(), "`a ''`");
        let line = Hint::from("try ").shell("git add a && git commit");
        assert_eq!(line.to_string(), "try `git add a && git commit`");
        assert_eq!(line.commands()[0].argv, ["sh", "-c", "git add a && git commit"]);
    }

    #[test]
    fn only_known_words_are_placeholders() {
        let hint = Hint::command("offshoot exec -w").arg("DIR").words("-- CMD ...");
        assert_eq!(hint.commands()[0].placeholders, [5, 6]);
        assert_eq!(hint.to_string(), "`offshoot exec -w DIR -- CMD ...`");
    }

    #[test]
    fn arguments_that_are_added_leave_placeholders_what_they_are() {
        let hint =
            Hint::command("offshoot fs export / DIR").text(" writes it, ").then("git status");
        let hint = hint.with_each(|command| {
            if command.argv[0] == "offshoot" {
                command.insert(3, ["--vault".to_owned(), "it's".to_owned()]);
            }
        });
        assert_eq!(
            hint.to_string(),
            r"`offshoot fs export --vault 'it'\''s' / DIR` writes it, `git status`"
        );
        assert_eq!(hint.commands()[0].placeholders, [6]);
        let mut last = Hint::command("offshoot init").commands().remove(0);
        last.insert(9, ["DIR".to_owned()]);
        assert_eq!(last.to_string(), "offshoot init DIR");
    }

    #[test]
    fn that_nothing_was_changed_comes_last_and_can_be_taken_back() {
        let hint = Hint::from("update it").unchanged();
        assert_eq!(hint.to_string(), "update it; nothing was changed");
        let other = Hint::command("offshoot recover list");
        assert_eq!(
            hint.clone().and(other.clone()).to_string(),
            "update it; `offshoot recover list`; nothing was changed"
        );
        assert_eq!(hint.changed().and(other).to_string(), "update it; `offshoot recover list`");
        assert_eq!(Hint::default().unchanged().to_string(), "nothing was changed");
    }
}
