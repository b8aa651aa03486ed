//! Replacing an exact piece of a text, and saying why one is not there.

use offshoot_protocol::ExitCode;

use crate::error::Error;

/// So many places are named.
const MOST_PLACES: usize = 8;
/// Lines alike are looked for in no more lines than these, and shown no longer than that.
const MOST_COMPARED: usize = 20_000;
const MOST_SHOWN: usize = 12;
const MOST_LINE: usize = 200;
/// From here on two lines are alike.
const ALIKE: f64 = 0.6;

/// What is to be replaced, and by what.
///
/// ```
/// use offshoot_engine::edit::{TextEdit, replace};
///
/// let edit = TextEdit { old: "helo", new: "hello", all: false };
/// assert_eq!(replace(b"helo world", &edit)?.bytes, b"hello world");
/// # Ok::<(), offshoot_engine::edit::EditError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextEdit<'a> {
    /// The text as it is now, exactly.
    pub old: &'a str,
    /// The text in its place.
    pub new: &'a str,
    /// Wherever it is; without that it may be there only once.
    pub all: bool,
}

/// What an edit makes of a text.
///
/// ```
/// use offshoot_engine::edit::{TextEdit, replace};
///
/// let edited = replace(b"x\nx\n", &TextEdit { old: "x", new: "y", all: true })?;
/// assert_eq!((edited.count, edited.line), (2, 1));
/// # Ok::<(), offshoot_engine::edit::EditError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedText {
    /// All of the new text.
    pub bytes: Vec<u8>,
    /// How often something was replaced.
    pub count: usize,
    /// The line where it was replaced first, from 1.
    pub line: usize,
}

/// Why nothing is replaced.
///
/// ```
/// use offshoot_engine::edit::{EditError, TextEdit, replace};
///
/// let error = replace(b"x x", &TextEdit { old: "x", new: "y", all: false }).expect_err("it is there twice");
/// assert_eq!(error, EditError::Ambiguous { count: 2, lines: vec![1, 1] });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The content is not UTF-8.
    #[error("the file is no text")]
    NotText,
    /// There is nothing to look for.
    #[error("`old_text` is empty")]
    Empty,
    /// Both texts are the same.
    #[error("`old_text` and `new_text` are the same: nothing would change")]
    Same,
    /// It is there more than once.
    #[error("`old_text` is there {count} times, at lines {}", listed(lines))]
    Ambiguous {
        /// How often.
        count: usize,
        /// The lines of the first places.
        lines: Vec<usize>,
    },
    /// It would be there if its lines ended as those of the file do.
    #[error("`old_text` is not in the file as given")]
    LineEnds,
    /// It would be there but for white space.
    #[error("`old_text` is not in the file as given")]
    Spaces {
        /// The first of these lines.
        first: usize,
        /// What the file has there.
        there: String,
    },
    /// Its first line is there; what follows differs.
    #[error("`old_text` is not in the file as given")]
    Follows {
        /// Where its first line is.
        lines: Vec<usize>,
        /// What the file has at the first of these.
        there: String,
    },
    /// Something like it is there.
    #[error("`old_text` is not in the file as given")]
    Alike {
        /// The first line of what is alike.
        first: usize,
        /// What the file has there.
        there: String,
    },
    /// Nothing like it is there.
    #[error("`old_text` is not in the file as given")]
    Missing,
}

impl EditError {
    /// What to do about it.
    ///
    /// ```
    /// use offshoot_engine::edit::EditError;
    ///
    /// assert!(EditError::Missing.hint().is_some_and(|hint| hint.contains("read the file again")));
    /// ```
    pub fn hint(&self) -> Option<String> {
        let last = |first: &usize, there: &str| first + there.lines().count().max(1) - 1;
        Some(match self {
            Self::NotText => "change binary files with a command".to_owned(),
            Self::Empty => "write the file to give it all of its content".to_owned(),
            Self::Same => return None,
            Self::Ambiguous { .. } => {
                "add lines around it so that it fits once, or set `replace_all`".to_owned()
            }
            Self::LineEnds => "lines of this file end with \\r\\n: give them so".to_owned(),
            Self::Spaces { first, there } => {
                let last = last(first, there);
                format!("only white space differs. Lines {first} to {last} are:\n{there}")
            }
            Self::Follows { lines, there } => format!(
                "its first line is at {}: what follows differs. There the file has:\n{there}",
                listed(lines)
            ),
            Self::Alike { first, there } => {
                let last = last(first, there);
                format!("the nearest lines, {first} to {last}, are:\n{there}")
            }
            Self::Missing => {
                "read the file again: none of its lines is the first one of `old_text`".to_owned()
            }
        })
    }
}

impl From<EditError> for Error {
    fn from(error: EditError) -> Self {
        let code = match error {
            EditError::Empty | EditError::Same => ExitCode::Usage,
            _ => ExitCode::Conflict,
        };
        let told = Self::new(code, error.to_string());
        match error.hint() {
            Some(hint) => told.hint(hint),
            None => told,
        }
    }
}

/// Replaces an exact piece of a text.
///
/// ```
/// use offshoot_engine::edit::{TextEdit, replace};
///
/// let edit = TextEdit { old: "a\n", new: "b\n", all: false };
/// assert_eq!(replace(b"a\nc\n", &edit)?.bytes, b"b\nc\n");
/// # Ok::<(), offshoot_engine::edit::EditError>(())
/// ```
pub fn replace(content: &[u8], edit: &TextEdit<'_>) -> Result<EditedText, EditError> {
    let text = std::str::from_utf8(content).map_err(|_| EditError::NotText)?;
    let (old, new) = (edit.old, edit.new);
    if old.is_empty() {
        return Err(EditError::Empty);
    }
    if old == new {
        return Err(EditError::Same);
    }
    let places: Vec<usize> = text.match_indices(old).map(|(at, _)| at).collect();
    let line_of = |at: usize| text[..at].matches('\n').count() + 1;
    match *places {
        [] => Err(not_there(text, old)),
        [first, ..] if places.len() == 1 || edit.all => Ok(EditedText {
            bytes: text.replace(old, new).into_bytes(),
            count: places.len(),
            line: line_of(first),
        }),
        _ => {
            let lines = places.iter().take(MOST_PLACES).map(|at| line_of(*at)).collect();
            Err(EditError::Ambiguous { count: places.len(), lines })
        }
    }
}

/// Why a text is not in a file, as far as that can be told.
fn not_there(text: &str, old: &str) -> EditError {
    if text.contains("\r\n") && !old.contains("\r\n") && text.contains(&old.replace('\n', "\r\n")) {
        return EditError::LineEnds;
    }
    let wanted: Vec<String> = old.trim().lines().map(squeezed).collect();
    let lines: Vec<&str> = text.lines().collect();
    let fits = |at: usize| {
        wanted.iter().enumerate().all(|(offset, wanted)| {
            lines.get(at + offset).is_some_and(|line| squeezed(line) == *wanted)
        })
    };
    if !wanted.is_empty()
        && let Some(at) = (0..lines.len()).find(|at| fits(*at))
    {
        let there = lines[at..at + wanted.len()].join("\n");
        return EditError::Spaces { first: at + 1, there };
    }
    let Some(first) = wanted.iter().find(|line| !line.is_empty()) else {
        return EditError::Missing;
    };
    let same = (0..lines.len()).filter(|at| squeezed(lines[*at]) == *first);
    let same: Vec<usize> = same.take(MOST_PLACES).map(|at| at + 1).collect();
    if let Some(at) = same.first() {
        let there = shown(&lines, at - 1, wanted.len());
        return EditError::Follows { lines: same, there };
    }
    let short = |line: &str| line[..line.floor_char_boundary(MOST_LINE)].to_owned();
    let first = short(first);
    let likeness = |at: usize| strsim::sorensen_dice(&short(&squeezed(lines[at])), &first);
    let nearest = (0..lines.len().min(MOST_COMPARED))
        .map(|at| (at, likeness(at)))
        .max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)));
    match nearest {
        Some((at, alike)) if alike >= ALIKE => {
            EditError::Alike { first: at + 1, there: shown(&lines, at, wanted.len()) }
        }
        _ => EditError::Missing,
    }
}

/// The line without what white space it has around and between words.
fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Some lines, no more than a reader wants.
fn shown(lines: &[&str], at: usize, count: usize) -> String {
    let end = lines.len().min(at + count.clamp(1, MOST_SHOWN));
    let cut = |line: &&str| line[..line.floor_char_boundary(MOST_LINE)].to_owned();
    lines[at..end].iter().map(cut).collect::<Vec<_>>().join("\n")
}

fn listed(lines: &[usize]) -> String {
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, old: &str, all: bool) -> Result<String, String> {
        let edit = TextEdit { old, new: "new", all };
        let shown = |error: EditError| format!("{error}; {}", error.hint().unwrap_or_default());
        let edited = replace(text.as_bytes(), &edit).map_err(shown)?;
        Ok(String::from_utf8(edited.bytes).unwrap_or_default())
    }

    #[test]
    fn one_exact_place_is_replaced_and_all_others_say_why_not() {
        assert_eq!(edit("a\nb\n", "b\n", false).as_deref(), Ok("a\nnew"));
        assert_eq!(edit("x x", "x", true).as_deref(), Ok("new new"));
        for (text, old, says) in [
            ("x\nx\n", "x", "2 times, at lines 1, 2"),
            ("a\r\nb\r\n", "a\nb", "end with \\r\\n"),
            (
                "fn a() {\n\tone();\n}\n",
                "fn a() {\n    one();\n}",
                "only white space differs. Lines 1 to 3 are:\nfn a() {\n\tone();",
            ),
            (
                "a\nb\n",
                "a\nc",
                "its first line is at 1: what follows differs. There the file has:\na\nb",
            ),
            (
                "one\nlet total = add(first, second);\n",
                "let total = add(first, third);",
                "the nearest lines, 2 to 2, are:\nlet total = add(first, second);",
            ),
            ("a\n", "zzz", "none of its lines"),
            ("a", "", "is empty"),
            ("a", "new", "the same"),
        ] {
            let error = edit(text, old, false).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn what_is_shown_of_a_file_is_short() {
        let text = format!("first {}\n{}", "x".repeat(9_000), "more\n".repeat(50));
        let old = format!("first {}y\n{}", "x".repeat(9_000), "else\n".repeat(50));
        let error = edit(&text, &old, false).unwrap_err();
        assert!(error.contains("the nearest lines, 1 to 12"), "{error}");
        assert!(error.len() < 1_000, "{}", error.len());
    }
}
