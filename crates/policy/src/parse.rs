//! From bytes to a [`Script`]: every simple command of a text for the shell.
//!
//! The reader is written by hand, for three reasons. It reads a text as dash and as bash do, because `/bin/sh` may be either.
//! Its work grows with the length of the text alone and its depth is bounded, whatever the text. And what it is not sure of it
//! calls unclear, where a shell that wants to run things would guess. Tests hold it against real shells, and against a parser
//! that others keep.

mod ansi;
mod brace;
mod command;
mod compound;
mod dialect;
mod document;
mod dollar;
mod found;
mod list;
mod merge;
mod parameter;
mod pending;
mod reader;
mod redirect;
mod test_command;
#[cfg(test)]
mod tests;
mod word;

use std::borrow::Cow;

use crate::script::{NotUnderstood, Script, ShellWord, Simple};
use dialect::Dialect;
use found::Found;
use reader::Reader;

/// The longest text that is looked at, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;

/// What a text for `/bin/sh` asks for, be that dash or bash: where they read it differently both readings are in the script.
pub fn parse_text(text: &[u8]) -> Script {
    if text.len() > MAX_TEXT {
        return only_unread(&text[..64], "the text is longer than 64 KiB");
    }
    if text.contains(&0) {
        return only_unread(text, "there is a NUL byte in the text");
    }
    let valid = String::from_utf8_lossy(text);
    let bash = read(&valid, Dialect::Bash);
    let differs = bash.differs || !bash.unclear.is_empty();
    let mut script = if differs {
        let dash = read(&valid, Dialect::Dash);
        merge::both(bash.into_script(), dash.into_script())
    } else {
        bash.into_script()
    };
    if matches!(valid, Cow::Owned(_)) {
        script.unclear.push(NotUnderstood::new(&valid, "it is not UTF-8"));
    }
    // Shells use these bytes as marks of their own, and have been confused by them.
    if text.iter().any(|byte| matches!(byte, 1 | 0x7f)) {
        script.unclear.push(NotUnderstood::new(&valid, "there is a control character in the text"));
    }
    script
}

/// What an argument list asks for: one program with literal arguments.
pub fn parse_argv<A: AsRef<[u8]>>(arguments: &[A]) -> Script {
    let mut script = Script::default();
    let mut simple = Simple::default();
    for argument in arguments {
        let text = String::from_utf8_lossy(argument.as_ref());
        if matches!(text, Cow::Owned(_)) {
            script.unclear.push(NotUnderstood::new(&text, "an argument is not UTF-8"));
        }
        simple.words.push(ShellWord::new(text));
    }
    if !simple.words.is_empty() {
        script.commands.push(simple);
    }
    script
}

fn read(text: &str, dialect: Dialect) -> Found {
    let mut reader = Reader::new(text, dialect);
    reader.program();
    reader.found.finish(text, dialect);
    reader.found
}

fn only_unread(text: &[u8], why: &str) -> Script {
    let text = String::from_utf8_lossy(&text[..text.len().min(64)]);
    Script { commands: Vec::new(), unclear: vec![NotUnderstood::unread(&text, why)] }
}
