//! Settings without what seems to be a credential.

mod line;
mod shell;
mod value;

use line::{Found, Syntax, find};
use shell::ShellText;

/// What became of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scrubbed {
    /// It holds nothing that looks like a credential.
    Whole,
    /// It holds some; this is the rest, without so many lines.
    Without(Vec<u8>, usize),
    /// It holds some, in this line at first, and parts of it cannot be left out.
    Nothing(usize),
}

/// Leaves out what seems to be a credential. In files with sections, a section whose title tells of one goes as a whole, since its lines would
/// otherwise belong to the one before.
pub fn scrub(name: &str, content: &[u8]) -> Scrubbed {
    let lines: Vec<&[u8]> = content.split_inclusive(|byte| *byte == b'\n').collect();
    match Syntax::of(name) {
        Syntax::Plain => plain(name, &lines),
        Syntax::Shell => shell(name, &lines),
        syntax => {
            let found =
                lines.iter().position(|line| find(name, syntax, &text(line)) != Found::Nothing);
            found.map_or(Scrubbed::Whole, |at| Scrubbed::Nothing(at + 1))
        }
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end().to_owned()
}

/// Settings of which each line stands for itself, or for its section.
fn plain(name: &str, lines: &[&[u8]]) -> Scrubbed {
    let (mut kept, mut dropped) = (Vec::new(), 0);
    let mut in_dropped_section = false;
    let mut at = 0;
    while at < lines.len() {
        let start = at;
        let mut whole = text(lines[at]);
        // A line that goes on in the next one goes with it.
        while whole.ends_with('\\') && at + 1 < lines.len() {
            at += 1;
            whole.pop();
            whole.push_str(&text(lines[at]));
        }
        at += 1;
        let found = find(name, Syntax::Plain, &whole);
        if whole.trim_start().starts_with('[') {
            in_dropped_section = found != Found::Nothing || line::names_credential(&whole);
        }
        let next = lines.get(at).map(|next| text(next)).unwrap_or_default();
        match found {
            Found::Open => return Scrubbed::Nothing(start + 1),
            Found::Empty if goes_on(&next) => return Scrubbed::Nothing(start + 1),
            Found::Line => dropped += at - start,
            Found::Nothing | Found::Empty if in_dropped_section => dropped += at - start,
            Found::Nothing | Found::Empty => kept.extend(lines[start..at].concat()),
        }
    }
    if dropped == 0 { Scrubbed::Whole } else { Scrubbed::Without(kept, dropped) }
}

/// Whether a line is the value of the name in the line before.
fn goes_on(line: &str) -> bool {
    line.starts_with([' ', '\t']) && !line.trim().is_empty() && !line.contains(['=', ':', '#'])
}

/// What a shell starts with: an assignment that is a line of its own can be replaced by nothing to do, and all else is left as it is.
fn shell(name: &str, lines: &[&[u8]]) -> Scrubbed {
    let (mut kept, mut dropped, mut first) = (Vec::new(), 0, None);
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
        first.get_or_insert(at + 1);
        let ends = !continues && state.is_between_commands();
        let Some(replacement) = shell::replacement(&line).filter(|_| stands_alone && ends) else {
            return Scrubbed::Nothing(at + 1);
        };
        dropped += 1;
        kept.extend_from_slice(replacement.as_bytes());
        if bytes.ends_with(b"\n") {
            kept.push(b'\n');
        }
    }
    match first {
        None => Scrubbed::Whole,
        // What is open at the end was not understood.
        Some(at) if !state.is_between_commands() => Scrubbed::Nothing(at),
        Some(_) => Scrubbed::Without(kept, dropped),
    }
}

#[cfg(test)]
mod tests;
