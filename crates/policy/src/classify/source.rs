//! Where code comes from that a command reads: what is fetched or decoded is code that nobody can see beforehand.

use offshoot_vocabulary::EffectCategory;

use crate::judged::Judged;
use crate::script::{InputSource, Script, ShellWord, Simple};

use super::Classifier;

/// Programs whose output does not look like their input, so that nobody sees what will run. Those with letters do so only where
/// one of them is among the options.
const DISGUISES: &[(&str, &str)] = &[
    ("base32", "dD"),
    ("base64", "dD"),
    ("basenc", "dD"),
    ("brotli", "dc"),
    ("bunzip2", ""),
    ("bzcat", ""),
    ("bzip2", "dc"),
    ("gpg", ""),
    ("gunzip", ""),
    ("gzip", "dc"),
    ("lz4", "dc"),
    ("openssl", ""),
    ("rev", ""),
    ("tr", ""),
    ("unxz", ""),
    ("uudecode", ""),
    ("xxd", "r"),
    ("xz", "dc"),
    ("xzcat", ""),
    ("zcat", ""),
    ("zstd", "dc"),
    ("zstdcat", ""),
];

/// Parts of code that decodes something.
const DECODERS: &[&str] =
    &["b64decode", "base64", "Base64", "fromhex", "unhexlify", "atob(", "pack(", "codecs"];

/// Code of which only the end of its script shows where it comes from.
pub(super) struct Pending {
    /// The place of what runs it among what was judged.
    judged: usize,
    level: usize,
    sources: Sources,
}

/// Where code may come from.
pub(super) enum Sources {
    /// From these commands of the script.
    Pipe(Vec<usize>),
    /// From something that is substituted into a word.
    Substitutions,
}

impl Classifier<'_> {
    /// What is put down next runs code from there.
    pub(super) fn pend(&mut self, level: usize, sources: Sources) {
        self.pending.push(Pending { judged: self.judged.len(), level, sources });
    }

    /// Looks at the sources of code now that all commands of a script are judged. Those of the command at `index` end at
    /// `bounds[index + 1]`.
    pub(super) fn settle(&mut self, script: &Script, bounds: &[usize]) {
        if self.pending.is_empty() {
            return;
        }
        let level = self.level;
        let (now, later): (Vec<Pending>, Vec<Pending>) =
            std::mem::take(&mut self.pending).into_iter().partition(|code| code.level >= level);
        self.pending = later;
        for code in now {
            let why = self.hidden(script, bounds, code.sources);
            if let (Some(why), Some(judged)) = (why, self.judged.get_mut(code.judged)) {
                let category = EffectCategory::HostEscapeRisk;
                judged.categories = judged.categories.with(category);
                judged.reasons.push(crate::judged::Reason { category, why: why.into() });
            }
        }
    }

    fn hidden(&self, script: &Script, bounds: &[usize], sources: Sources) -> Option<&'static str> {
        let commands = &script.commands;
        let mut open = match sources {
            Sources::Pipe(places) => places,
            Sources::Substitutions => {
                (0..commands.len()).filter(|index| commands[*index].apart).collect()
            }
        };
        let mut seen = vec![false; commands.len()];
        while let Some(index) = open.pop() {
            let Some(simple) = commands.get(index) else { continue };
            if std::mem::replace(&mut seen[index], true) {
                continue;
            }
            let judged = &self.judged[bounds[index]..bounds[index + 1]];
            if judged.iter().any(|judged| judged.categories.contains(EffectCategory::Networked)) {
                return Some("runs code that comes from the network");
            }
            if judged.iter().any(|judged| disguises(judged) || has_decoder(judged)) {
                return Some("runs code that is decoded first");
            }
            if let InputSource::Pipe(before) = &simple.input {
                open.extend(before);
            }
            if simple.calls_function {
                open.extend(0..commands.len());
            }
        }
        None
    }
}

fn disguises(judged: &Judged) -> bool {
    let Some((program, arguments)) = judged.words.split_first() else { return false };
    let path = program.literal().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((_, letters)) = DISGUISES.iter().find(|(known, _)| *known == name) else {
        return false;
    };
    let gives = |word: &ShellWord| match word.beginning().strip_prefix('-') {
        Some(option) => match option.strip_prefix('-') {
            Some(long) => letters.contains(|letter| long.starts_with(letter)),
            None => option.contains(|letter| letters.contains(letter)),
        },
        None => words_are_open(word),
    };
    letters.is_empty() || arguments.iter().any(gives)
}

/// Whether a command is given code that decodes something.
fn has_decoder(judged: &Judged) -> bool {
    let decodes = |word: &ShellWord| {
        let text = word.display();
        text.contains('(') && DECODERS.iter().any(|part| text.contains(part))
    };
    judged.words.iter().skip(1).any(decodes)
}

fn words_are_open(word: &ShellWord) -> bool {
    word.literal().is_none()
}

/// What a command prints, where that is known before it runs.
pub(super) fn output(simple: &Simple) -> Option<String> {
    let (program, arguments) = simple.words.split_first()?;
    let program = program.literal()?;
    match program.rsplit('/').next()? {
        "echo" => echo(arguments),
        "printf" => printf(arguments),
        "cat" if arguments.is_empty() => match &simple.input {
            InputSource::Text(text) => text.literal().map(std::borrow::Cow::into_owned),
            _ => None,
        },
        _ => None,
    }
}

/// What `echo` prints. Shells do not agree whether it reads escapes, so a text with some is taken as if it did.
fn echo(arguments: &[ShellWord]) -> Option<String> {
    let mut rest = arguments;
    while let Some((word, behind)) = rest.split_first()
        && matches!(word.literal()?.as_ref(), "-n" | "-e" | "-E" | "-ne" | "-en")
    {
        rest = behind;
    }
    let words: Option<Vec<_>> = rest.iter().map(ShellWord::literal).collect();
    unescaped(&words?.join(" "))
}

/// What `printf` prints where its format is plain, or `%s` alone.
fn printf(arguments: &[ShellWord]) -> Option<String> {
    let (format, arguments) = arguments.split_first()?;
    let format = unescaped(&format.literal()?)?;
    if !format.contains('%') {
        return Some(format);
    }
    let (before, behind) = format.split_once("%s")?;
    if before.contains('%') || behind.contains('%') {
        return None;
    }
    let mut text = String::new();
    for word in arguments {
        text.push_str(before);
        text.push_str(&word.literal()?);
        text.push_str(behind);
    }
    Some(text)
}

/// A text with its escapes read; nothing where one is not known.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&letter, behind) = rest.split_first()?;
        rest = behind;
        match letter {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            b'\\' | b'"' | b'\'' => bytes.push(letter),
            b'x' => bytes.push(number(&mut rest, 16, 2)?),
            b'0' => bytes.push(number(&mut rest, 8, 3).unwrap_or(0)),
            b'1'..=b'7' => {
                let mut from = &text.as_bytes()[text.len() - rest.len() - 1..];
                bytes.push(number(&mut from, 8, 3)?);
                rest = from;
            }
            _ => return None,
        }
    }
    String::from_utf8(bytes).ok()
}

fn number(rest: &mut &[u8], radix: u32, longest: usize) -> Option<u8> {
    let digits = rest.iter().take(longest).take_while(|byte| char::from(**byte).is_digit(radix));
    let count = digits.count();
    let (digits, behind) = rest.split_at(count);
    *rest = behind;
    let text = std::str::from_utf8(digits).ok()?;
    u32::from_str_radix(text, radix).ok().and_then(|value| u8::try_from(value).ok())
}
