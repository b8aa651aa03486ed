//! Simple commands and assignments.

use std::ops::Range;

use crate::script::{Assignment, InputSource, ShellWord, Simple};

use super::reader::{Reader, Result, Stop};
use super::word::How;

/// A simple command that is being read.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) simple: Simple,
    /// Where its first word is in the text.
    pub(super) first: Range<usize>,
    /// It has descriptors or documents besides files.
    pub(super) other_redirects: bool,
    /// Here-documents that it reads: how many are pending.
    pub(super) documents: usize,
    /// Commands in `>(…)` that read what it writes.
    pub(super) readers: Vec<Range<usize>>,
}

impl Draft {
    fn is_empty(&self) -> bool {
        let simple = &self.simple;
        simple.words.is_empty()
            && simple.assignments.is_empty()
            && simple.redirects.is_empty()
            && !self.other_redirects
    }
}

impl Reader<'_> {
    /// Reads a simple command, or a function that is defined without the word `function`.
    pub(super) fn simple(&mut self) -> Result<()> {
        let mut draft = Draft { documents: self.pending.len(), ..Draft::default() };
        loop {
            self.blanks();
            match self.peek() {
                0 | b'\n' | b';' | b'|' | b')' => break,
                b'&' if self.second() == b'>' && self.bash() => self.redirect(&mut draft)?,
                b'&' => break,
                b'(' => return self.parenthesis_after(&draft),
                b'<' | b'>' if self.second() == b'(' => {
                    if !self.bash() {
                        return Err(Stop::Refused);
                    }
                    self.argument(&mut draft)?;
                }
                b'<' | b'>' => self.redirect(&mut draft)?,
                b'0'..=b'9' | b'{' if self.descriptor_is_here() => self.redirect(&mut draft)?,
                _ if draft.simple.words.is_empty() && self.assignment(&mut draft)? => {}
                _ => self.argument(&mut draft)?,
            }
        }
        if draft.is_empty() {
            return Err(self.refused("a command is missing"));
        }
        self.push(draft);
        Ok(())
    }

    /// Adds a command that was read to what was found.
    pub(super) fn push(&mut self, draft: Draft) {
        let mut simple = draft.simple;
        simple.apart = self.apart > 0;
        let place = self.found.push(simple);
        self.own_documents(draft.documents, place);
        for readers in draft.readers {
            for reader in &mut self.found.commands[readers] {
                if reader.input == InputSource::Inherited {
                    reader.input = InputSource::Pipe(vec![place]);
                }
            }
        }
    }

    fn argument(&mut self, draft: &mut Draft) -> Result<()> {
        let start = self.at;
        let before = self.found.commands.len();
        let outputs = self.byte(start) == b'>';
        let declares = draft.simple.words.first().is_some_and(is_declaration);
        let mut words = self.words(if declares { How::Declaration } else { How::Plain })?;
        if outputs || self.since(start).contains(">(") {
            draft.readers.push(before..self.found.commands.len());
        }
        if draft.simple.words.is_empty() {
            draft.first = start..self.at;
        }
        let array = declares && self.peek() == b'(' && self.since(start).ends_with('=');
        draft.simple.words.append(&mut words);
        if array {
            let mut members = self.array()?;
            if let Some(word) = draft.simple.words.last_mut() {
                word.pieces.append(&mut members.pieces);
            }
        }
        Ok(())
    }

    /// A parenthesis after words: a function, or nothing that a shell would take.
    fn parenthesis_after(&mut self, draft: &Draft) -> Result<()> {
        let simple = &draft.simple;
        let lone_word = simple.words.len() == 1
            && simple.assignments.is_empty()
            && simple.redirects.is_empty()
            && !draft.other_redirects;
        self.bump();
        self.blanks();
        if !lone_word || self.peek() != b')' {
            return Err(self.refused("a parenthesis is out of place"));
        }
        self.bump();
        let name = self.text.get(draft.first.clone()).unwrap_or("");
        self.function(name)
    }

    /// An error, where dash is known to refuse the text.
    pub(super) fn refused(&self, why: &'static str) -> Stop {
        if self.dash() { Stop::Refused } else { Stop::Error(why) }
    }

    /// Reads `name=value`, `name+=value`, `name[index]=value` or `name=(…)`; false if it is none of these.
    fn assignment(&mut self, draft: &mut Draft) -> Result<bool> {
        let Some(length) = self.assigned_name() else { return Ok(false) };
        let start = self.at;
        let name = self.name(length);
        self.skip(length);
        if self.peek() == b'[' && !(self.bash() && self.index_of_assignment(start)?) {
            self.at = start;
            return Ok(false);
        }
        if self.peek() == b'+' {
            if !self.bash() {
                self.at = start;
                return Ok(false);
            }
            self.bump();
        }
        self.bump();
        let value = if self.peek() == b'(' && self.bash() {
            self.array()?
        } else if self.peek() == b'(' {
            return Err(Stop::Refused);
        } else {
            self.value()?
        };
        draft.simple.assignments.push(Assignment { name, value });
        Ok(true)
    }

    /// How long the name is, where an assignment begins here.
    pub(super) fn assigned_name(&mut self) -> Option<usize> {
        if !(self.peek().is_ascii_alphabetic() || self.peek() == b'_') {
            return None;
        }
        let (mut at, mut length) = (self.at, 0);
        while self.byte(at).is_ascii_alphanumeric() || self.byte(at) == b'_' {
            at = self.joined(at + 1);
            length += 1;
        }
        let next = self.byte(self.joined(at + 1));
        let assigns = match self.byte(at) {
            b'=' | b'[' => true,
            b'+' => next == b'=',
            _ => false,
        };
        assigns.then_some(length)
    }

    fn name(&self, length: usize) -> String {
        let mut name = String::with_capacity(length);
        let mut at = self.joined(self.at);
        for _ in 0..length {
            name.push(char::from(self.byte(at)));
            at = self.joined(at + 1);
        }
        name
    }

    /// Passes `[index]` if `=` or `+=` follows.
    fn index_of_assignment(&mut self, start: usize) -> Result<bool> {
        let kept = self.found.mark();
        self.bump();
        let closed = self.index()?;
        let assigns =
            closed && (self.peek() == b'=' || (self.peek() == b'+' && self.second() == b'='));
        if !assigns {
            self.found.forget(&kept);
            self.go_back(start)?;
        }
        Ok(assigns)
    }

    /// The value of an assignment: up to the end of the word, without splitting and patterns.
    fn value(&mut self) -> Result<ShellWord> {
        if self.word_ends() {
            return Ok(ShellWord::new(""));
        }
        let mut words = self.words(How::Value)?;
        Ok(words.pop().unwrap_or_default())
    }

    /// The members of an array in parentheses.
    fn array(&mut self) -> Result<ShellWord> {
        self.bump();
        let mut members = ShellWord::default();
        loop {
            self.lines();
            match self.peek() {
                b')' => {
                    self.bump();
                    return Ok(members);
                }
                0 | b';' | b'&' | b'|' | b'(' => {
                    return Err(Stop::Error("the members of an array are not closed"));
                }
                b'<' | b'>' if self.second() != b'(' => {
                    return Err(Stop::Error("the members of an array are not closed"));
                }
                byte => {
                    // `[index]=value`: the index is arithmetic.
                    self.found.arithmetic |= byte == b'[';
                    for mut word in self.words(How::Plain)? {
                        members.pieces.append(&mut word.pieces);
                    }
                }
            }
        }
    }
}

/// Whether the arguments of a command may be assignments.
fn is_declaration(word: &ShellWord) -> bool {
    matches!(word.beginning(), "declare" | "export" | "local" | "readonly" | "typeset")
        && word.pieces.len() == 1
}
