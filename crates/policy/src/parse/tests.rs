//! Texts and what is found in them, in a short form: one command a line.
//!
//! `NAME=value` are assignments; `‹*›` is a pattern, `‹~›` a tilde, `$` something unknown that may split, `"$"` something unknown
//! that does not. `<f`, `>f`, `>>f` and `<>f` are redirections. At the end of a line stand the input (`from 0 1`, `from file f`,
//! `from text …`), `calls` for a call of a function of the same text, and `apart`. NotUnderstood things come last, after `?`.

mod bash;
mod both;
mod here;
mod limits;
mod posix;

use std::fmt::Write;

use super::parse_text;
use crate::script::{InputSource, RedirectKind, Script, ShellWord, Simple, WordPiece};

/// Compares what is found in a text with the short form of it.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let script = parse_text(text.as_bytes());
    assert_eq!(lines(&script), expected, "{text}");
}

/// The short form of a script.
fn lines(script: &Script) -> Vec<String> {
    let commands = script.commands.iter().map(command);
    commands.chain(script.unclear.iter().map(|unclear| format!("? {}", unclear.why))).collect()
}

fn command(simple: &Simple) -> String {
    let mut parts = Vec::new();
    for assignment in &simple.assignments {
        parts.push(format!("{}={}", assignment.name, word(&assignment.value)));
    }
    parts.extend(simple.words.iter().map(word));
    for redirect in &simple.redirects {
        let operator = match redirect.kind {
            RedirectKind::Read => "<",
            RedirectKind::Write => ">",
            RedirectKind::Append => ">>",
            RedirectKind::ReadWrite => "<>",
        };
        parts.push(format!("{operator}{}", word(&redirect.target)));
    }
    match &simple.input {
        InputSource::Inherited => {}
        InputSource::Pipe(places) => {
            let mut from = "from".to_owned();
            for place in places {
                write!(from, " {place}").expect("a string takes everything");
            }
            parts.push(from);
        }
        InputSource::Text(text) => parts.push(format!("from text {}", word(text))),
        InputSource::Several => parts.push("from several".to_owned()),
        InputSource::File(file) => parts.push(format!("from file {}", word(file))),
    }
    if simple.calls_function {
        parts.push("calls".to_owned());
    }
    if simple.apart {
        parts.push("apart".to_owned());
    }
    parts.join(" ")
}

fn word(word: &ShellWord) -> String {
    let mut shown = String::new();
    for piece in &word.pieces {
        match piece {
            WordPiece::Literal(text) if text.is_empty() => shown.push_str("''"),
            WordPiece::Literal(text) => {
                shown.push_str(&text.replace('\n', "\\n").replace(' ', "_"))
            }
            WordPiece::Pattern(text) | WordPiece::Tilde(text) => {
                write!(shown, "‹{text}›").expect("a string takes everything");
            }
            WordPiece::Unknown { splits: true } => shown.push('$'),
            WordPiece::Unknown { splits: false } => shown.push_str("\"$\""),
        }
    }
    shown
}
