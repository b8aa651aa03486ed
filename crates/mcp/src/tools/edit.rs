//! Replacing text in a file.

use offshoot_engine::{Error, Result};
use offshoot_protocol::ExitCode;
use schemars::JsonSchema;
use serde::Deserialize;

use super::files::{content, put};
use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::session::Session;

/// So many places are named.
const MOST_PLACES: usize = 8;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditArgs {
    /// The file, as with `read`.
    path: String,
    /// The text to replace, exactly as it is in the file.
    old_text: String,
    /// The text to put in its place.
    new_text: String,
    /// Replace it wherever it is.
    #[serde(default)]
    replace_all: bool,
}

pub(super) fn edit(session: &Session, arguments: &Arguments) -> Result<Answer> {
    let args: EditArgs = arguments.parse()?;
    let path = session.path(&args.path)?;
    // What cannot be done forks nothing.
    let place = session.place(arguments.workspace())?;
    let (path, _, bytes) = content(session, &place, &path)?;
    let (_, count) = replaced(&bytes, &args)?;
    let workspace = session.to_change(arguments.workspace())?;
    let place = Session::place_of(&workspace)?;
    let (path, _, bytes) = content(session, &place, &path)?;
    let (bytes, _) = replaced(&bytes, &args)?;
    let document = put(&workspace, &path, &bytes)?;
    let times = if count == 1 { String::new() } else { format!(" in {count} places") };
    Ok(Answer::framed(document, session.notes(), format!("{path} is changed{times}")))
}

/// The new content, and how often something was replaced.
fn replaced(bytes: &[u8], args: &EditArgs) -> Result<(Vec<u8>, usize)> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(mismatch("the file is no text").hint("use exec to change binary files"));
    };
    let (old, new) = (&*args.old_text, &*args.new_text);
    if old.is_empty() {
        return Err(
            Error::usage("`old_text` is empty").hint("`write` gives a file all of its content")
        );
    }
    if old == new {
        return Err(Error::usage("`old_text` and `new_text` are the same: nothing would change"));
    }
    let places: Vec<usize> = text.match_indices(old).map(|(at, _)| at).collect();
    match places.len() {
        0 => Err(not_there(text, old)),
        count if count == 1 || args.replace_all => Ok((text.replace(old, new).into_bytes(), count)),
        count => {
            let lines = places.iter().take(MOST_PLACES).map(|at| line_of(text, *at).to_string());
            let lines = lines.collect::<Vec<_>>().join(", ");
            Err(mismatch(format!("`old_text` is there {count} times, at lines {lines}"))
                .hint("add lines around it so that it fits once, or set `replace_all`"))
        }
    }
}

fn mismatch(message: impl Into<String>) -> Error {
    Error::new(ExitCode::Conflict, message)
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Why a text is not in a file, as far as that can be told.
fn not_there(text: &str, old: &str) -> Error {
    let error = mismatch("`old_text` is not in the file as given");
    if text.contains("\r\n") && !old.contains("\r\n") && text.contains(&old.replace('\n', "\r\n")) {
        return error.hint("lines of this file end with \\r\\n: give them so");
    }
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<String> = old.trim().lines().map(squeezed).collect();
    let lines: Vec<&str> = text.lines().collect();
    let fits = |at: usize| {
        wanted.iter().enumerate().all(|(offset, wanted)| {
            lines.get(at + offset).is_some_and(|line| squeezed(line) == *wanted)
        })
    };
    if let Some(at) = (0..lines.len()).find(|at| fits(*at)) {
        let there = lines[at..at + wanted.len()].join("\n");
        return error.hint(format!(
            "only white space differs. Lines {} to {} are:\n{there}",
            at + 1,
            at + wanted.len()
        ));
    }
    let first = wanted.iter().find(|line| !line.is_empty());
    let alike: Vec<String> = match first {
        Some(first) => (0..lines.len())
            .filter(|at| squeezed(lines[*at]) == *first)
            .take(MOST_PLACES)
            .map(|at| (at + 1).to_string())
            .collect(),
        None => Vec::new(),
    };
    match alike.is_empty() {
        true => error.hint("read the file again: none of its lines is the first one of `old_text`"),
        false => error.hint(format!(
            "its first line is at {}: what follows differs; read the file again from there",
            alike.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, old: &str, new: &str, all: bool) -> Result<String, String> {
        let args = EditArgs {
            path: String::new(),
            old_text: old.to_owned(),
            new_text: new.to_owned(),
            replace_all: all,
        };
        let shown = |error: Error| {
            let body = error.body();
            format!("{}; {}", body.message, body.hint.unwrap_or_default())
        };
        let (bytes, _) = replaced(text.as_bytes(), &args).map_err(shown)?;
        Ok(String::from_utf8(bytes).unwrap_or_default())
    }

    #[test]
    fn one_exact_place_is_replaced_and_all_others_say_why_not() {
        assert_eq!(edit("a\nb\n", "b\n", "c\n", false).as_deref(), Ok("a\nc\n"));
        assert_eq!(edit("x x", "x", "y", true).as_deref(), Ok("y y"));
        for (text, old, says) in [
            ("x\nx\n", "x", "2 times, at lines 1, 2"),
            ("a\r\nb\r\n", "a\nb", "end with \\r\\n"),
            (
                "fn a() {\n\tone();\n}\n",
                "fn a() {\n    one();\n}",
                "only white space differs. Lines 1 to 3 are:\nfn a() {\n\tone();",
            ),
            ("a\nb\n", "a\nc", "its first line is at 1"),
            ("a\n", "zzz", "none of its lines"),
            ("a", "", "is empty"),
        ] {
            let error = edit(text, old, "new", false).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
