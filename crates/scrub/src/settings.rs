//! Settings without what seems to be a credential.

pub(crate) mod kind;
pub(crate) mod line;
mod shell;
pub(crate) mod value;

use std::borrow::Cow;

use line::{Found, Syntax, find};
use shell::ShellText;

/// What became of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scrubbed {
    /// It holds nothing that looks like a credential.
    Whole,
    /// It holds some; this is the rest.
    Without(Vec<u8>, OmittedLines),
    /// It holds some, in this line at first, and parts of it cannot be left out.
    Nothing(usize),
}

/// What is not in the copy of a settings file: numbers of lines, the first of which is 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OmittedLines {
    /// Lines that are not in it.
    pub lines: Vec<usize>,
    /// Lines that are in it without the logins of their addresses.
    pub logins: Vec<usize>,
}

impl OmittedLines {
    /// How many lines are not as they were.
    pub fn count(&self) -> usize {
        self.lines.len() + self.logins.len()
    }
}

/// What is left of the lines and the numbers of those that are not, or the number of one that cannot be left out.
type Divided = Result<(Vec<u8>, Vec<usize>), usize>;

/// Leaves out what seems to be a credential. Of an address with a login only the login goes: without the line, a tool would use another registry than the one
/// that was meant. In files with sections, a section whose title tells of a credential goes as a whole, since its lines would otherwise belong to the one before.
pub fn scrub(name: &str, content: &[u8]) -> Scrubbed {
    let syntax = Syntax::of(name);
    let mut logins = Vec::new();
    let mut lines: Vec<Cow<'_, [u8]>> = Vec::new();
    for (at, line) in content.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let without = str::from_utf8(line).ok().and_then(|line| line::without_logins(syntax, line));
        if without.is_some() {
            logins.push(at + 1);
        }
        lines.push(without.map_or(Cow::Borrowed(line), |rest| Cow::Owned(rest.into_bytes())));
    }
    let divided = match syntax {
        Syntax::Plain => plain(name, &lines),
        Syntax::Shell => shell(name, &lines),
        Syntax::Code | Syntax::Markup => {
            let found = |line: &Cow<'_, [u8]>| find(name, syntax, &text(line)) != Found::Nothing;
            match lines.iter().position(found) {
                Some(at) => Err(at + 1),
                None => Ok((lines.concat(), Vec::new())),
            }
        }
    };
    match divided {
        Err(line) => Scrubbed::Nothing(line),
        Ok((_, lines)) if lines.is_empty() && logins.is_empty() => Scrubbed::Whole,
        Ok((rest, lines)) => {
            logins.retain(|line| lines.binary_search(line).is_err());
            Scrubbed::Without(rest, OmittedLines { lines, logins })
        }
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end().to_owned()
}

/// Settings of which each line stands for itself, or for its section.
fn plain(name: &str, lines: &[Cow<'_, [u8]>]) -> Divided {
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    let mut in_dropped_section = false;
    let mut at = 0;
    while at < lines.len() {
        let start = at;
        let mut whole = text(&lines[at]);
        // A line that goes on in the next one goes with it.
        while whole.ends_with('\\') && at + 1 < lines.len() {
            at += 1;
            whole.pop();
            whole.push_str(&text(&lines[at]));
        }
        at += 1;
        let found = find(name, Syntax::Plain, &whole);
        if whole.trim_start().starts_with('[') {
            in_dropped_section = found != Found::Nothing || line::names_credential(&whole);
        }
        let next = lines.get(at).map(|next| text(next)).unwrap_or_default();
        match found {
            Found::Open => return Err(start + 1),
            Found::Empty if goes_on(&next) => return Err(start + 1),
            Found::Line if goes_on(&next) && indent(&next) > indent(&whole) => {
                return Err(start + 1);
            }
            Found::Line => dropped.extend(start + 1..=at),
            Found::Nothing | Found::Empty if in_dropped_section => dropped.extend(start + 1..=at),
            Found::Nothing | Found::Empty => kept.extend(lines[start..at].concat()),
        }
    }
    Ok((kept, dropped))
}

/// Whether a line is the value of the name in the line before.
fn goes_on(line: &str) -> bool {
    line.starts_with([' ', '\t']) && !line.trim().is_empty() && !line.contains(['=', ':', '#'])
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// What a shell starts with: an assignment that is a line of its own can be replaced by nothing to do, and all else is left as it is.
fn shell(name: &str, lines: &[Cow<'_, [u8]>]) -> Divided {
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    let mut state = ShellText::default();
    let mut continues = false;
    for (at, bytes) in lines.iter().enumerate() {
        let line = text(bytes);
        let stands_alone = !continues && state.is_between_commands();
        state.read(&line);
        continues = line.ends_with('\\');
        if matches!(find(name, Syntax::Shell, &line), Found::Nothing | Found::Empty) {
            kept.extend_from_slice(bytes);
            continue;
        }
        let ends = !continues && state.is_between_commands();
        let Some(replacement) = shell::replacement(&line).filter(|_| stands_alone && ends) else {
            return Err(at + 1);
        };
        dropped.push(at + 1);
        kept.extend_from_slice(replacement.as_bytes());
        if bytes.ends_with(b"\n") {
            kept.push(b'\n');
        }
    }
    match dropped.first() {
        // What is open at the end was not understood.
        Some(at) if !state.is_between_commands() => Err(*at),
        _ => Ok((kept, dropped)),
    }
}

#[cfg(test)]
mod tests;
