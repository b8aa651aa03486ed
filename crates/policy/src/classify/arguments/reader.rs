//! Goes through the arguments of a tool by the style in which they are written.

use std::borrow::Cow;

use crate::knowledge::{Effect, Known, Role, Style, Tool};
use crate::script::ShellWord;

use super::{Given, Reading, Strange, Value};
use crate::classify::pattern::fits;
use crate::classify::words;

/// Reads arguments one by one.
pub(super) struct Reader<'w> {
    reading: Reading<'w>,
    arguments: &'w [ShellWord],
    next: usize,
    /// No options follow.
    ended: bool,
    /// How many roles of operands ahead of the rest are used up.
    place: usize,
}

impl<'w> Reader<'w> {
    pub(super) fn new(name: &'static str, tool: &'static Tool, arguments: &'w [ShellWord]) -> Self {
        let reading =
            Reading { chain: vec![tool], names: vec![Cow::Borrowed(name)], ..Reading::default() };
        Self { reading, arguments, next: 0, ended: false, place: 0 }
    }

    /// Reads all of them.
    pub(super) fn read(mut self) -> Reading<'w> {
        self.bundle_without_dash();
        while self.reading.command.is_none()
            && let Some(word) = self.take()
        {
            self.argument(word);
        }
        self.reading
    }

    fn argument(&mut self, word: &'w ShellWord) {
        let start = word.beginning();
        let Tool { style, leading, .. } = *self.reading.tool();
        if leading && start.starts_with('-') && !self.reading.operands.is_empty() {
            self.reading.strange.push(Strange::Late(word));
        }
        if self.ended || style == Style::None {
            self.operand(word);
        } else if style == Style::Keys {
            self.key(word);
        } else if start == "--" && word.pieces.len() == 1 && style != Style::Long {
            self.ended = true;
            self.reading.dashes = true;
        } else if start.len() > 1 && start.starts_with('-') {
            self.option(word, style);
        } else if start.len() > 1 && start.starts_with('+') && self.has_plus() {
            self.whole(word, start);
        } else {
            if words::may_be_option(word) {
                self.reading.strange.push(Strange::Injected(word));
            }
            self.operand(word);
        }
    }

    fn take(&mut self) -> Option<&'w ShellWord> {
        let word = self.arguments.get(self.next)?;
        self.next += 1;
        Some(word)
    }

    /// The first argument of `tar` and its like.
    fn bundle_without_dash(&mut self) {
        if self.reading.tool().style != Style::Tar {
            return;
        }
        let Some(word) = self.arguments.first() else { return };
        let start = word.beginning();
        if start.is_empty() || start.starts_with(['-', '/', '.']) {
            return;
        }
        self.next = 1;
        let digits = start.bytes().all(|byte| byte.is_ascii_digit());
        if digits && self.known("-#").is_some() {
            return self.operand(word);
        }
        self.letters(word, start, 0, false);
    }

    fn operand(&mut self, word: &'w ShellWord) {
        let tool = self.reading.tool();
        if !tool.subs.is_empty() || !tool.patterns.is_empty() {
            return self.subcommand(tool, word);
        }
        let operands = self.reading.overrides().last().unwrap_or(&tool.operands);
        while operands.ahead.get(self.place) == Some(&Role::Assignments) {
            if words::assignment(word).is_some() {
                return self.reading.assignments.push(word);
            }
            self.place += 1;
        }
        let role = operands.ahead.get(self.place).copied().unwrap_or(operands.rest);
        if role == Role::Command && self.is_late_option(word) {
            return self.option(word, tool.style);
        }
        if role == Role::Command {
            self.reading.command = Some(&self.arguments[self.next - 1..]);
            return;
        }
        self.place += 1;
        self.reading.operands.push(word);
        if tool.style == Style::Posix {
            self.ended = true;
        }
    }

    /// Whether an option that matters stands where a command should: `flock FILE -c TEXT`.
    fn is_late_option(&self, word: &ShellWord) -> bool {
        let start = word.beginning();
        self.ended
            && !self.reading.dashes
            && start.starts_with('-')
            && matches!(self.known(start), Some((_, Known::Matters(_), _)))
    }

    fn subcommand(&mut self, tool: &'static Tool, word: &'w ShellWord) {
        let literal = word.literal();
        let found = match literal.as_deref() {
            Some(name) => named(tool, name),
            None => tool.patterns.last().filter(|(name, _)| *name == "*").map(|(_, sub)| *sub),
        };
        if literal.is_none() || found.is_none() {
            self.reading.strange.push(Strange::Subcommand(word));
        }
        if let Some(sub) = found {
            self.reading.chain.push(sub);
            self.reading.names.push(literal.unwrap_or_else(|| word.display().into()));
            self.ended = false;
        } else {
            self.reading.lost = true;
            self.next = self.arguments.len();
        }
    }

    fn option(&mut self, word: &'w ShellWord, style: Style) {
        let start = word.beginning();
        if style == Style::Long || start.starts_with("--") {
            self.whole(word, start);
        } else if !self.whole_if_known(word, start) {
            self.letters(word, start, 1, true);
        }
    }

    fn key(&mut self, word: &'w ShellWord) {
        let start = word.beginning();
        if start.starts_with('-') && start.len() > 1 {
            return self.whole(word, start);
        }
        match start.find('=') {
            Some(at) => match self.known(&start[..=at]) {
                Some((name, known, outer)) => {
                    let value = Some(Value::Joined(word, at + 1));
                    self.give(name, known, value, outer);
                }
                None => self.reading.strange.push(Strange::Option(word)),
            },
            None => {
                if words::may_be_anything(word) {
                    self.reading.strange.push(Strange::Injected(word));
                }
                self.operand(word);
            }
        }
    }

    /// An option that is a whole word.
    fn whole(&mut self, word: &'w ShellWord, start: &'w str) {
        if self.whole_if_known(word, start) {
            return;
        }
        let name = start.split('=').next().unwrap_or(start);
        match self.abbreviated(name) {
            Some((name, known, outer)) => self.valued(name, known, outer, word, start.find('=')),
            None => self.reading.strange.push(Strange::Option(word)),
        }
    }

    fn whole_if_known(&mut self, word: &'w ShellWord, start: &'w str) -> bool {
        let equals = start.find('=');
        let complete = word.pieces.len() == 1;
        // A name that goes on with something unknown is not known.
        if !complete && equals.is_none() {
            return self.beginning_if_known(word, start);
        }
        let found = complete.then(|| self.known_whole(start)).flatten();
        if let Some((name, known, outer)) = found {
            self.valued(name, known, outer, word, None);
            return true;
        }
        if let Some(at) = equals
            && let Some((name, known, outer)) = self.known_whole(&start[..at])
        {
            self.valued(name, known, outer, word, Some(at));
            return true;
        }
        self.beginning_if_known(word, start)
    }

    fn beginning_if_known(&mut self, word: &'w ShellWord, start: &str) -> bool {
        let Some((name, known, outer)) = self.by_beginning(start) else { return false };
        let value = self.joined_value(known, word, name.len());
        self.give(name, known, Some(value), outer);
        true
    }

    /// An option with its value, if it takes one: behind `=`, or the next word.
    fn valued(
        &mut self,
        name: &'static str,
        known: Known,
        outer: bool,
        word: &'w ShellWord,
        equals: Option<usize>,
    ) {
        if let Some(at) = equals {
            let value = self.joined_value(known, word, at + 1);
            return self.give(name, known, Some(value), outer);
        }
        let value = if takes_next(known) { self.next_value(known) } else { None };
        self.give(name, known, value, outer);
    }

    fn next_value(&mut self, known: Known) -> Option<Value<'w>> {
        if takes_command(known) {
            return Some(Value::Words(self.until_end()));
        }
        let word = self.take()?;
        self.spills(word);
        self.looks_like_an_option(word);
        Some(Value::Word(word))
    }

    /// A value that looks like an option that matters: if the option before it takes no value after all, it is one.
    fn looks_like_an_option(&mut self, word: &'w ShellWord) {
        let start = word.beginning();
        let name = start.split('=').next().unwrap_or(start);
        if name.len() > 1
            && name.starts_with('-')
            && let Some((_, Known::Matters(effect), _)) = self.known(name)
            && !effect.is_harmless()
        {
            self.reading.strange.push(Strange::Injected(word));
        }
    }

    fn joined_value(&mut self, known: Known, word: &'w ShellWord, skip: usize) -> Value<'w> {
        self.spills(word);
        if takes_command(known) {
            return Value::JoinedWords(word, skip, self.until_end());
        }
        Value::Joined(word, skip)
    }

    /// The words up to `;`, or up to a `+` behind `{}`.
    fn until_end(&mut self) -> &'w [ShellWord] {
        let start = self.next;
        let mut before = Cow::Borrowed("");
        while let Some(word) = self.take() {
            // One that is not known may be the end, and what follows may be options.
            if word.literal().is_none() {
                self.reading.strange.push(Strange::Injected(word));
            }
            let text = word.literal().unwrap_or_default();
            if text == ";" || (text == "+" && before == "{}") {
                return &self.arguments[start..self.next - 1];
            }
            before = text;
        }
        &self.arguments[start..]
    }

    /// Letters that are options of their own, from a byte of the word's first piece on.
    fn letters(&mut self, word: &'w ShellWord, start: &'w str, from: usize, joins: bool) {
        let text = &start[from..];
        for (at, letter) in text.char_indices() {
            let behind = from + at + letter.len_utf8();
            if letter.is_ascii_digit() && self.known("-#").is_some() {
                continue;
            }
            let mut buffer = [b'-'; 5];
            let length = letter.encode_utf8(&mut buffer[1..]).len();
            let name = std::str::from_utf8(&buffer[..=length]).unwrap_or_default();
            let Some((name, known, outer)) = self.known(name) else {
                return self.reading.strange.push(Strange::Option(word));
            };
            let joined = behind < start.len() || word.pieces.len() > 1;
            if joins && joined && takes_value(known) {
                let value = self.joined_value(known, word, behind);
                return self.give(name, known, Some(value), outer);
            }
            let value = if takes_next(known) { self.next_value(known) } else { None };
            self.give(name, known, value, outer);
        }
        if word.pieces.len() > 1 {
            self.reading.strange.push(Strange::Injected(word));
        }
    }

    fn give(&mut self, name: &'static str, known: Known, value: Option<Value<'w>>, outer: bool) {
        self.reading.options.push(Given { name, known, value, outer });
    }

    /// A value that may become several words may bring options with it.
    fn spills(&mut self, word: &'w ShellWord) {
        if words::spills(word) {
            self.reading.strange.push(Strange::Injected(word));
        }
    }

    /// The tools whose options count here, the innermost first, and whether they are around it. The options of what runs by
    /// default come before those of the tools around.
    fn tools(&self) -> impl Iterator<Item = (&'static Tool, bool)> + use<'_, 'w> {
        let innermost = self.reading.tool();
        let around = self.reading.chain.iter().rev().skip(1).map(|tool| (*tool, true));
        let own = [Some(innermost), innermost.default].into_iter().flatten();
        own.map(|tool| (tool, false)).chain(around)
    }

    fn known(&self, name: &str) -> Option<(&'static str, Known, bool)> {
        self.tools().find_map(|(tool, outer)| {
            let index = tool.options.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
            let (name, known) = tool.options[index];
            Some((name, known, outer))
        })
    }

    /// As [`Self::known`]; where whole words are options one dash is as good as two, and numbers are options by their kind.
    fn known_whole(&self, name: &str) -> Option<(&'static str, Known, bool)> {
        if let Some(found) = self.known(name) {
            return Some(found);
        }
        let digits = name.get(1..).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        if digits && name.len() > 1 {
            return self.known(if name.starts_with('+') { "+#" } else { "-#" });
        }
        if self.reading.tool().style != Style::Long {
            return None;
        }
        match name.strip_prefix("--") {
            Some(bare) => self.known(&format!("-{bare}")),
            None => self.known(&format!("-{name}")),
        }
    }

    fn by_beginning(&self, text: &str) -> Option<(&'static str, Known, bool)> {
        self.tools().find_map(|(tool, outer)| {
            let found = tool.prefixes.iter().find(|(name, _)| text.starts_with(name))?;
            Some((found.0, found.1, outer))
        })
    }

    /// An option that matters and that this may be short for.
    fn abbreviated(&self, name: &str) -> Option<(&'static str, Known, bool)> {
        if name.len() < 3 || !name.starts_with("--") {
            return None;
        }
        self.tools().find_map(|(tool, outer)| {
            let from = tool.options.partition_point(|(known, _)| *known < name);
            let mut near = tool.options[from..].iter();
            let found = near.by_ref().take_while(|(known, _)| known.starts_with(name)).find(
                |(_, known)| matches!(known, Known::Matters(effect) if !effect.is_harmless()),
            )?;
            Some((found.0, found.1, outer))
        })
    }

    fn has_plus(&self) -> bool {
        self.tools().any(|(tool, _)| {
            let options = tool.options.iter().chain(tool.prefixes);
            options.into_iter().any(|(name, _)| name.starts_with('+'))
        })
    }
}

/// The subcommand that has this name, or whose pattern fits it.
fn named(tool: &Tool, name: &str) -> Option<&'static Tool> {
    match tool.subs.binary_search_by(|(known, _)| (*known).cmp(name)) {
        Ok(index) => Some(tool.subs[index].1),
        Err(_) => tool.patterns.iter().find(|(wanted, _)| fits(wanted, name)).map(|(_, sub)| *sub),
    }
}

/// Whether the value of an option is a command of several words.
fn takes_command(known: Known) -> bool {
    matches!(known, Known::Matters(Effect { value: Some(Role::CommandUntil), .. }))
}

/// Whether an option takes a value, joined or not.
fn takes_value(known: Known) -> bool {
    match known {
        Known::Flag => false,
        Known::Value(_) | Known::Optional => true,
        Known::Matters(effect) => effect.value.is_some(),
    }
}

/// Whether an option without a joined value takes the next word.
fn takes_next(known: Known) -> bool {
    match known {
        Known::Value(_) => true,
        Known::Matters(effect) => effect.value.is_some() && !effect.optional,
        Known::Flag | Known::Optional => false,
    }
}
