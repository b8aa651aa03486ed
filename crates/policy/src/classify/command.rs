//! Commands that a tool runs: behind wrappers, in texts for the shell, for each file that is found.

use std::borrow::Cow;

use offshoot_vocabulary::{CommandPart, EffectCategory};

use crate::parse::parse_text;
use crate::script::{InputSource, ShellWord, WordPiece};

use super::arguments::Reading;
use super::draft::{Draft, Wrapper};
use super::program::Work;
use super::source::Sources;
use super::{Classifier, Scene, words};

/// The longest placeholder, as in `{1/.}`.
const LONGEST_PLACEHOLDER: usize = 8;

/// An input that nobody knows.
const FED: &InputSource = &InputSource::Pipe(Vec::new());

/// Something that a tool runs.
pub(super) struct Inner {
    what: What,
    /// The option that names it.
    option: Option<&'static str>,
    /// The tool writes to it.
    fed: bool,
}

enum What {
    /// A program and its arguments, run once for what is found.
    Until(Vec<ShellWord>),
    /// A text for the shell.
    Text(ShellWord),
}

impl Inner {
    pub(super) fn until(option: &'static str, words: Vec<ShellWord>) -> Self {
        Self { what: What::Until(words), option: Some(option), fed: false }
    }

    pub(super) fn text(text: ShellWord, option: Option<&'static str>) -> Self {
        Self { what: What::Text(text), option, fed: false }
    }

    /// A text whose commands get something that nobody knows on their input.
    pub(super) fn fed(text: ShellWord, option: &'static str) -> Self {
        Self { what: What::Text(text), option: Some(option), fed: true }
    }
}

impl Classifier<'_> {
    /// Puts down the command itself, or what it runs in its place, and what it runs besides: all that runs where the command works.
    pub(super) fn finish(&mut self, words: &[ShellWord], work: Work<'_, '_>) {
        if work.directories.is_empty() {
            return self.put_down(words, work);
        }
        let directories = self.directories.clone();
        self.go_where_it_works(&work.directories, work.scene.apart);
        self.put_down(words, work);
        self.directories = directories;
    }

    /// Goes to the directory that options name. Of several it is one outside, if there is one (`/` stands for any that is not wholly
    /// known): whether each is seen from the one before it, or only the last counts, is for the tool to say.
    fn go_where_it_works(&mut self, stated: &[ShellWord], apart: bool) {
        if let Some(outside) = stated.iter().find(|word| self.is_outside(word, apart)) {
            let to = self.directory(outside).unwrap_or_else(|| "/".to_owned());
            return self.directories.go(Some(to), false);
        }
        for word in stated {
            let to = self.directory(word);
            self.directories.go(to, false);
        }
    }

    fn put_down(&mut self, words: &[ShellWord], work: Work<'_, '_>) {
        let Work { reading, mut draft, scene, inner, .. } = work;
        let before = self.judged.len();
        let in_place = |inner: &Inner| inner.option.is_none();
        let wraps = reading.command.is_some() || inner.iter().any(in_place);
        let name = reading.name();
        if wraps {
            let label = label(&reading, &inner);
            // `sh -c TEXT A B`: the text is the first of them.
            let runs_text = reading.command.is_none() && label != name;
            let passes_arguments = runs_text && reading.operands.len() > 1;
            self.wrappers.push(Wrapper { name: label, draft, passes_arguments });
            if let Some(command) = reading.command {
                self.wrapped(&reading, command, scene);
            }
            for inner in inner.iter().filter(|inner| in_place(inner)) {
                self.inner(inner, &reading, scene);
            }
            draft = self.wrappers.pop().map(|wrapper| wrapper.draft).unwrap_or_default();
        }
        if self.judged.len() == before {
            self.emit(CommandPart::Program, words.to_vec(), draft);
        }
        for inner in inner.iter().filter(|inner| !in_place(inner)) {
            let label = format!("{name} {}", inner.option.unwrap_or_default());
            let draft = Draft::default();
            self.wrappers.push(Wrapper { name: label, draft, passes_arguments: false });
            self.inner(inner, &reading, scene);
            self.wrappers.pop();
        }
    }

    /// The command behind a wrapper.
    fn wrapped(&mut self, reading: &Reading<'_>, command: &[ShellWord], scene: &Scene<'_>) {
        if !reading.chain.iter().any(|tool| tool.appends) {
            return self.program(command, scene);
        }
        let mut words: Vec<ShellWord> = Vec::with_capacity(command.len() + 1);
        let mut replaced = false;
        let mark = placeholder(reading);
        for word in command {
            let filled = filled(word, mark.as_deref());
            replaced |= matches!(filled, Cow::Owned(_));
            words.push(filled.into_owned());
        }
        if !replaced {
            words.push(ShellWord { pieces: vec![WordPiece::Unknown { splits: true }] });
        }
        self.program(&words, scene);
    }

    fn inner(&mut self, inner: &Inner, reading: &Reading<'_>, scene: &Scene<'_>) {
        match &inner.what {
            What::Until(words) => {
                let found = self.found(reading);
                let words: Vec<ShellWord> =
                    words.iter().map(|word| replaced(word, &found)).collect();
                self.program(&words, scene);
            }
            What::Text(text) if inner.fed => {
                self.text(text, reading, &Scene { input: FED, ..*scene });
            }
            What::Text(text) => self.text(text, reading, scene),
        }
    }

    /// What stands for a path that is found: below one of the places where the search starts, one outside if there is one.
    fn found(&self, reading: &Reading<'_>) -> ShellWord {
        let places = &reading.operands;
        let outside = places.iter().find(|word| self.is_outside(word, false));
        let mut pieces = match outside.or(places.first()) {
            Some(place) => place.pieces.clone(),
            None => vec![WordPiece::Literal(".".to_owned())],
        };
        pieces.push(WordPiece::Literal("/".to_owned()));
        pieces.push(WordPiece::Unknown { splits: false });
        ShellWord { pieces }
    }

    /// A text for the shell, known or not.
    pub(super) fn text(&mut self, text: &ShellWord, reading: &Reading<'_>, scene: &Scene<'_>) {
        let lasts = matches!(reading.tool().name, "eval" | "." | "source");
        let directories = self.directories.clone();
        match text.literal() {
            Some(text) if text == "-" => {}
            Some(text) => self.parsed(&text, scene),
            None => {
                self.hidden_text(text, scene);
                self.parsed(&words::with_parameters(text), scene);
            }
        }
        if !lasts {
            self.directories = directories;
        }
    }

    fn parsed(&mut self, text: &str, scene: &Scene<'_>) {
        if self.wrappers.len() + self.level >= super::DEEPEST {
            return self.unread(vec![ShellWord::new(text)], super::TOO_DEEP);
        }
        let script = parse_text(text.as_bytes());
        self.script(&script, Some(scene));
    }

    /// A text of which parts are only known when it runs.
    fn hidden_text(&mut self, text: &ShellWord, scene: &Scene<'_>) {
        let mut draft = Draft::default();
        let why = format!("the text {} is only known when it runs", text.display());
        draft.add(EffectCategory::Mutating, why);
        self.pend(scene.level, Sources::Substitutions);
        self.emit(CommandPart::Unclear, vec![text.clone()], draft);
    }
}

/// The wrapper for people: `sudo`, `sh -c`.
fn label(reading: &Reading<'_>, inner: &[Inner]) -> String {
    let mut label = reading.name();
    if reading.command.is_none() && !inner.is_empty() {
        let names = reading.effects().filter(|(_, effect)| effect.operands.is_some());
        for (given, _) in names {
            label.push(' ');
            label.push_str(given.name);
        }
    }
    label
}

/// What the user chose to stand for what is filled in (`xargs -I NAME`).
fn placeholder(reading: &Reading<'_>) -> Option<String> {
    let chosen = ["-I", "-i", "--replace"];
    let given = reading.options.iter().rfind(|given| chosen.contains(&given.name))?;
    let word = given.value?.word();
    word.literal().map(Cow::into_owned).filter(|text| !text.is_empty())
}

/// A word into which something unknown is filled wherever there is a placeholder.
fn filled<'w>(word: &'w ShellWord, mark: Option<&str>) -> Cow<'w, ShellWord> {
    let has_mark = |piece: &WordPiece| match piece {
        WordPiece::Literal(text) => {
            mark.is_some_and(|mark| text.contains(mark)) || braces(text).is_some()
        }
        _ => false,
    };
    if !word.pieces.iter().any(has_mark) {
        return Cow::Borrowed(word);
    }
    let mut pieces = Vec::new();
    for piece in &word.pieces {
        match piece {
            WordPiece::Literal(text) => fill(text, mark, &mut pieces),
            other => pieces.push(other.clone()),
        }
    }
    Cow::Owned(ShellWord { pieces })
}

fn fill(text: &str, mark: Option<&str>, pieces: &mut Vec<WordPiece>) {
    let mut rest = text;
    loop {
        let by_mark = mark.and_then(|mark| rest.find(mark).map(|at| (at, at + mark.len())));
        let Some((from, to)) = by_mark.or_else(|| braces(rest)) else { break };
        if from > 0 {
            pieces.push(WordPiece::Literal(rest[..from].to_owned()));
        }
        pieces.push(WordPiece::Unknown { splits: false });
        rest = &rest[to..];
    }
    if !rest.is_empty() {
        pieces.push(WordPiece::Literal(rest.to_owned()));
    }
}

/// Where `{}`, `{.}`, `{1}` and their like stand.
fn braces(text: &str) -> Option<(usize, usize)> {
    text.match_indices('{').find_map(|(from, _)| {
        let near = text.as_bytes()[from + 1..].iter().take(LONGEST_PLACEHOLDER + 1);
        let length = near.take_while(|byte| !b" {,;".contains(byte)).position(|b| *b == b'}')?;
        Some((from, from + length + 2))
    })
}

/// A word with `{}` replaced by what is found.
fn replaced(word: &ShellWord, found: &ShellWord) -> ShellWord {
    let mut pieces = Vec::with_capacity(word.pieces.len());
    for piece in &word.pieces {
        match piece {
            WordPiece::Literal(text) if text.contains("{}") => {
                for (index, part) in text.split("{}").enumerate() {
                    if index > 0 {
                        pieces.extend(found.pieces.iter().cloned());
                    }
                    if !part.is_empty() {
                        pieces.push(WordPiece::Literal(part.to_owned()));
                    }
                }
            }
            other => pieces.push(other.clone()),
        }
    }
    ShellWord { pieces }
}
