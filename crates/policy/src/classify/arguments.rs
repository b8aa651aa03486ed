//! Reads the arguments of a tool: which are options, values, subcommands and operands.

use std::borrow::Cow;

use crate::knowledge::{Effect, Known, Operands, Role, Style, Tool};
use crate::script::{Piece, Word};

use super::pattern::fits;
use super::words;

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
    pub(super) operands: Vec<&'w Word>,
    /// `NAME=value` ahead of a command.
    pub(super) assignments: Vec<&'w Word>,
    /// The command that the tool runs.
    pub(super) command: Option<&'w [Word]>,
    /// What is not known.
    pub(super) strange: Vec<Strange<'w>>,
    /// There is a `--`.
    pub(super) dashes: bool,
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
    Word(&'w Word),
    /// The rest of the word, from this byte of its first piece on.
    Joined(&'w Word, usize),
    /// A command of several words.
    Words(&'w [Word]),
    /// The same, its first word joined to the option from this byte on.
    JoinedWords(&'w Word, usize, &'w [Word]),
}

/// Something that is not known.
#[derive(Debug)]
pub(super) enum Strange<'w> {
    /// An option that the tool is not known to have.
    Option(&'w Word),
    /// A subcommand that the tool is not known to have.
    Subcommand(&'w Word),
    /// A word that may turn out to be an option.
    Injected(&'w Word),
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
    pub(super) fn word(self) -> Cow<'w, Word> {
        match self {
            Self::Word(word) => Cow::Borrowed(word),
            Self::Joined(word, skip) | Self::JoinedWords(word, skip, _) => {
                let mut pieces = word.pieces.clone();
                if let Some(Piece::Literal(text)) = pieces.first_mut() {
                    text.drain(..skip.min(text.len()));
                }
                pieces.retain(|piece| !matches!(piece, Piece::Literal(text) if text.is_empty()));
                Cow::Owned(Word { pieces })
            }
            Self::Words(words) => words.first().map_or_else(Cow::default, Cow::Borrowed),
        }
    }
}

impl<'w> Reading<'w> {
    /// Takes the arguments of a tool apart.
    pub(super) fn of(name: &'static str, tool: &'static Tool, arguments: &'w [Word]) -> Self {
        let mut reader =
            Reader { reading: Self::default(), arguments, next: 0, ended: false, place: 0 };
        reader.reading.chain.push(tool);
        reader.reading.names.push(Cow::Borrowed(name));
        reader.read();
        let mut reading = reader.reading;
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
        let any = |word: &Word| match word.literal() {
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
        let most = if words().any(Word::splits) { usize::MAX } else { certain };
        (certain, most)
    }
}

struct Reader<'w> {
    reading: Reading<'w>,
    arguments: &'w [Word],
    next: usize,
    /// No options follow.
    ended: bool,
    /// How many roles of operands ahead of the rest are used up.
    place: usize,
}

impl<'w> Reader<'w> {
    fn read(&mut self) {
        self.bundle_without_dash();
        while let Some(word) = self.take() {
            if self.reading.command.is_some() {
                return;
            }
            let start = word.beginning();
            let style = self.reading.tool().style;
            let open = !self.ended && style != Style::None;
            if !open {
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
            if self.reading.command.is_some() {
                return;
            }
        }
    }

    fn take(&mut self) -> Option<&'w Word> {
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

    fn operand(&mut self, word: &'w Word) {
        let tool = self.reading.tool();
        if !tool.subs.is_empty() || !tool.kinds.is_empty() {
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

    fn subcommand(&mut self, tool: &'static Tool, word: &'w Word) {
        let literal = word.literal();
        let found = literal.as_deref().and_then(|name| {
            match tool.subs.binary_search_by(|(known, _)| (*known).cmp(name)) {
                Ok(index) => Some(tool.subs[index].1),
                Err(_) => tool.kinds.iter().find(|(kind, _)| fits(kind, name)).map(|kind| kind.1),
            }
        });
        if let (Some(sub), Some(name)) = (found, literal) {
            self.reading.chain.push(sub);
            self.reading.names.push(name);
            self.ended = false;
        } else {
            self.reading.strange.push(Strange::Subcommand(word));
        }
        match found {
            Some(sub) => {
                self.reading.chain.push(sub);
                self.ended = false;
            }
            None => self.next = self.arguments.len(),
        }
    }

    fn option(&mut self, word: &'w Word, style: Style) {
        let start = word.beginning();
        if style == Style::Long || start.starts_with("--") {
            self.whole(word, start);
        } else if !self.whole_if_known(word, start) {
            self.letters(word, start, 1, true);
        }
    }

    fn key(&mut self, word: &'w Word) {
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
    fn whole(&mut self, word: &'w Word, start: &'w str) {
        if self.whole_if_known(word, start) {
            return;
        }
        let name = start.split('=').next().unwrap_or(start);
        match self.abbreviated(name) {
            Some((name, known, outer)) => self.valued(name, known, outer, word, start.find('=')),
            None => self.reading.strange.push(Strange::Option(word)),
        }
    }

    fn whole_if_known(&mut self, word: &'w Word, start: &'w str) -> bool {
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

    fn beginning_if_known(&mut self, word: &'w Word, start: &str) -> bool {
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
        word: &'w Word,
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
        Some(Value::Word(word))
    }

    fn joined_value(&mut self, known: Known, word: &'w Word, skip: usize) -> Value<'w> {
        self.spills(word);
        if takes_command(known) {
            return Value::JoinedWords(word, skip, self.until_end());
        }
        Value::Joined(word, skip)
    }

    /// The words up to `;`, or up to a `+` behind `{}`.
    fn until_end(&mut self) -> &'w [Word] {
        let start = self.next;
        let mut before = Cow::Borrowed("");
        while let Some(word) = self.take() {
            let text = word.literal().unwrap_or_default();
            if text == ";" || (text == "+" && before == "{}") {
                return &self.arguments[start..self.next - 1];
            }
            before = text;
        }
        &self.arguments[start..]
    }

    /// Letters that are options of their own, from a byte of the word's first piece on.
    fn letters(&mut self, word: &'w Word, start: &'w str, from: usize, joins: bool) {
        let text = &start[from..];
        let mut rest = text.char_indices().peekable();
        while let Some((at, letter)) = rest.next() {
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
    fn spills(&mut self, word: &'w Word) {
        if words::spills(word) {
            self.reading.strange.push(Strange::Injected(word));
        }
    }

    /// The tools whose options count here, the innermost first, and whether they are around it. The options of what runs by
    /// default count too.
    fn tools(&self) -> impl Iterator<Item = (&'static Tool, bool)> + use<'_, 'w> {
        let innermost = self.reading.tool();
        let chain = self.reading.chain.iter().rev().enumerate();
        let chain = chain.map(|(index, tool)| (*tool, index > 0));
        chain.chain(innermost.default.map(|tool| (tool, false)))
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
