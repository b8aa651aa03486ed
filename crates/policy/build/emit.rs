//! Writes the tables as bytes. `src/knowledge/index.rs` says how they lie, and `src/knowledge/decode.rs` reads each thing in
//! the order in which it is written here.

use std::cmp::Reverse;

use crate::Source;
use crate::codes::{HARMLESS, ROLES, STYLES, bit};
use crate::format::{CredentialLocation, Effect, Tool, Variable, When};
use crate::writer::Writer;

/// The content of the generated file.
pub(crate) fn tables(sources: &[Source]) -> Vec<u8> {
    let (mut names, mut tools, mut body) = (Vec::new(), Writer::default(), Writer::default());
    for (number, tool) in sources.iter().flat_map(|source| &source.file.tool).enumerate() {
        let number = u16::try_from(number).expect("fewer than 65536 tools");
        names.extend(tool.names.split_whitespace().map(|name| (name, number)));
        let start = body.record(|record| record.tool(tool, &Inherited::default()));
        tools.bytes(start.to_le_bytes());
    }
    let variables = sources.iter().flat_map(|source| &source.file.variable);
    let variables = body.record(|record| record.variables(variables));
    let places = sources.iter().flat_map(|source| &source.file.place);
    let places = body.record(|record| record.places(places));
    names.sort_unstable();

    let mut front = Writer::default();
    front.bytes(u32::try_from(names.len()).expect("fewer names than bytes").to_le_bytes());
    front.bytes((tools.position() / 4).to_le_bytes());
    front.bytes(variables.to_le_bytes());
    front.bytes(places.to_le_bytes());
    for (name, number) in names {
        front.bytes(body.position().to_le_bytes());
        front.bytes(number.to_le_bytes());
        front.bytes(u16::try_from(name.len()).expect("a short name").to_le_bytes());
        body.bytes(name);
    }
    [front.written, tools.written, body.written].concat()
}

/// What a subcommand has from the tools around it where it says nothing itself.
#[derive(Clone, Copy, Default)]
struct Inherited<'a> {
    style: Option<&'a str>,
    language: Option<&'a str>,
}

/// Names, and the number of what each leads to.
type Names<'a> = Vec<(&'a str, usize)>;

impl Writer {
    fn tool(&mut self, tool: &Tool, outer: &Inherited<'_>) {
        let style = tool.style.as_deref().or(outer.style);
        let language = tool.language.as_deref().or(outer.language);
        self.list(&tool.option, |writer, effect| writer.effect(effect, language));
        self.list(&tool.sub, |writer, sub| writer.tool(sub, &Inherited { style, language }));
        self.text(tool.names.split_whitespace().next().unwrap_or_default());
        self.text(&tool.about);
        self.categories(&tool.is);
        self.byte(code(&STYLES, style.unwrap_or("gnu")));
        let (options, prefixes) = options(tool);
        self.names(&options);
        self.names(&prefixes);
        self.option(tool.first.as_deref(), |writer, word| {
            writer.role(word);
            writer.texts(&tool.unless);
        });
        self.operands(tool.operands.as_deref().unwrap_or("text"));
        self.text(language.unwrap_or_default());
        self.option(tool.input.as_deref(), Self::role);
        self.flag(tool.leading);
        self.flag(tool.appends);
        self.flag(tool.versioned);
        self.list(&tool.when, Self::when);
        let (subs, patterns) = subcommands(tool);
        self.names(&subs);
        self.names(&patterns);
        self.option(tool.sub.iter().position(|sub| sub.default), Self::number);
    }

    fn names(&mut self, names: &Names<'_>) {
        self.list(names, |writer, (name, number)| {
            writer.text(name);
            writer.number(*number);
        });
    }

    fn effect(&mut self, effect: &Effect, spoken: Option<&str>) {
        self.option(effect.value.as_deref(), Self::role);
        self.flag(effect.optional);
        self.texts(&effect.write_with);
        self.texts(&effect.only);
        self.texts(&effect.except);
        self.categories(effect.adds.as_deref().unwrap_or_default());
        self.option(effect.is.as_deref(), Self::categories);
        self.option(effect.operands.as_deref(), Self::operands);
        self.text(effect.language.as_deref().or(spoken).unwrap_or_default());
        self.option(effect.input.as_deref(), Self::role);
        self.text(&effect.why);
    }

    fn when(&mut self, when: &When) {
        self.number(when.operands_at_least.unwrap_or(0).into());
        self.number(when.operands_at_most.unwrap_or(u16::MAX).into());
        self.texts(&when.words);
        self.texts(&when.with);
        self.texts(&when.without);
        self.categories(when.adds.as_deref().unwrap_or_default());
        self.option(when.is.as_deref(), Self::categories);
        self.text(&when.why);
    }

    /// The roles of the first operands and that of all others.
    fn operands(&mut self, words: &str) {
        let mut roles = Vec::new();
        let mut words = words.split_whitespace();
        while let Some(word) = words.next() {
            if word == "skip" {
                let count = words.next().and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
                roles.extend(std::iter::repeat_n("text", count));
            } else {
                roles.push(word);
            }
        }
        let rest = roles.pop().unwrap_or("text");
        self.list(&roles, |writer, word| writer.role(word));
        self.role(rest);
    }

    fn role(&mut self, word: &str) {
        self.byte(code(&ROLES, word));
    }

    /// Read-only is the empty set.
    fn categories(&mut self, words: &str) {
        let bits = words
            .split_whitespace()
            .filter(|word| *word != "read_only")
            .map(|word| bit(word.parse().unwrap_or_else(|error| panic!("{error}"))));
        self.byte(bits.fold(0, |set, bit| set | bit));
    }

    fn variables<'a>(&mut self, variables: impl Iterator<Item = &'a Variable>) {
        let each = |variable: &'a Variable| {
            variable.names.split_whitespace().map(move |name| (name, variable))
        };
        let all: Vec<(&str, &Variable)> = variables.flat_map(each).collect();
        self.list(&all, |writer, (name, variable)| {
            writer.text(name);
            writer.categories(&variable.adds);
            writer.texts(&variable.harmless);
            writer.flag(variable.lasting);
            writer.text(&variable.why);
        });
    }

    fn places<'a>(&mut self, places: impl Iterator<Item = &'a CredentialLocation>) {
        let mut all = Vec::new();
        for place in places {
            for (home, paths) in [(true, &place.home), (false, &place.absolute)] {
                all.extend(paths.split_whitespace().map(|path| (home, path, &place.why)));
            }
        }
        self.list(&all, |writer, (home, path, why)| {
            writer.flag(*home);
            writer.text(path.trim_matches('/'));
            writer.text(why);
        });
    }
}

/// The place of a word in a list.
fn code<T>(list: &[(&str, T)], word: &str) -> u8 {
    let place = list.iter().position(|(known, _)| *known == word);
    let place = place.unwrap_or_else(|| panic!("{word} is a word that the tables do not know"));
    u8::try_from(place).expect("a short list")
}

/// The options sorted by name, and those that end with `*`, the longest first.
fn options(tool: &Tool) -> (Names<'_>, Names<'_>) {
    let harmless = [
        ("flags", &tool.flags),
        ("values", &tool.values),
        ("reads", &tool.reads),
        ("optional", &tool.optional),
    ];
    let mut all = Names::new();
    for (list, names) in harmless {
        let code = code(&HARMLESS, list).into();
        all.extend(names.split_whitespace().map(|name| (name, code)));
    }
    for (number, effect) in tool.option.iter().enumerate() {
        let code = HARMLESS.len() + number;
        all.extend(effect.names.split_whitespace().map(|name| (name, code)));
    }
    let (mut prefixes, mut options): (Names<'_>, Names<'_>) =
        all.into_iter().partition(|(name, _)| name.ends_with('*'));
    options.sort_unstable();
    prefixes.sort_by_key(|(name, _)| Reverse(name.len()));
    for (name, _) in &mut prefixes {
        *name = name.trim_end_matches('*');
    }
    (options, prefixes)
}

/// The subcommands sorted by name, and those whose names have a `*`, the longest first.
fn subcommands(tool: &Tool) -> (Names<'_>, Names<'_>) {
    let mut all = Names::new();
    for (number, sub) in tool.sub.iter().enumerate() {
        all.extend(sub.names.split_whitespace().map(|name| (name, number)));
    }
    let (mut patterns, mut subs): (Names<'_>, Names<'_>) =
        all.into_iter().partition(|(name, _)| name.contains('*'));
    subs.sort_unstable();
    patterns.sort_by_key(|(name, _)| Reverse(name.len()));
    (subs, patterns)
}
