//! What calls answer: a document for programs, and a short text for the model.

use offshoot_engine::Error;
use offshoot_engine::text::line;
use offshoot_protocol::{ChangeDoc, Document, ErrorDocument, Kind};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;

/// More changes are counted.
const MOST_CHANGES: usize = 30;
/// More text is cut: a model reads all of it.
pub(crate) const MOST_TEXT: usize = 24_000;

/// What a call answers.
#[derive(Debug)]
pub(crate) struct Answer {
    document: Value,
    text: String,
    is_error: bool,
}

impl Answer {
    /// A document of any shape.
    pub(crate) fn of(document: &impl Serialize, text: impl Into<String>) -> Self {
        let document = serde_json::to_value(document).unwrap_or_default();
        Self { document, text: text.into(), is_error: false }
    }

    /// A result in the frame that `--json` prints.
    pub(crate) fn framed<T: Kind>(result: T, notes: Vec<String>, text: impl Into<String>) -> Self {
        let mut text = text.into();
        for note in &notes {
            text = format!("{}\nnote: {note}", text.trim_end());
        }
        Self::of(&Document::new(result, notes), text)
    }

    /// Marks it as something that did not work.
    #[must_use]
    pub(crate) fn failed(mut self, failed: bool) -> Self {
        self.is_error = failed;
        self
    }
}

impl From<Answer> for CallToolResult {
    fn from(answer: Answer) -> Self {
        let content = vec![ContentBlock::text(answer.text)];
        let mut result = match answer.is_error {
            true => Self::error(content),
            false => Self::success(content),
        };
        result.structured_content = Some(answer.document);
        result
    }
}

/// An error that the model can act on.
pub(crate) fn failure(error: &Error) -> CallToolResult {
    let body = error.body();
    let mut text = body.message.clone();
    if let Some(hint) = &body.hint {
        text = format!("{text}\nhint: {hint}");
    }
    if !body.candidates.is_empty() && error.hint.is_none() {
        text = format!("{text}\nperhaps: {}", body.candidates.join(", "));
    }
    let document = serde_json::to_value(ErrorDocument::new(body)).unwrap_or_default();
    Answer { document, text, is_error: true }.into()
}

/// Bytes as a text that no terminal obeys: of what is no letter, lines and tabs stay.
pub(crate) fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let stays = |letter: &char| !letter.is_control() || matches!(letter, '\n' | '\t');
    text.chars().filter(stays).collect()
}

/// The start of a text, and how much is missing.
pub(crate) fn start(text: &str, most: usize) -> String {
    match text.len() <= most {
        true => text.to_owned(),
        false => {
            let end = text.floor_char_boundary(most);
            format!("{}\n[{} more bytes]", &text[..end], text.len() - end)
        }
    }
}

/// The end of a text, and how much is missing.
pub(crate) fn end(text: &str, most: usize) -> String {
    match text.len() <= most {
        true => text.to_owned(),
        false => {
            let start = text.ceil_char_boundary(text.len() - most);
            format!("[{start} bytes before]\n{}", &text[start..])
        }
    }
}

/// Changes, a line each.
pub(crate) fn changes(all: &[ChangeDoc]) -> String {
    let lines = all.iter().take(MOST_CHANGES).map(|change| {
        let from = change.from.as_ref().map(|from| format!(" (from {})", from.as_str()));
        format!("{} {}{}\n", change.kind, line(change.path.as_str()), from.unwrap_or_default())
    });
    let mut text: String = lines.collect();
    if all.len() > MOST_CHANGES {
        text.push_str(&format!("and {} more\n", all.len() - MOST_CHANGES));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_letters() {
        assert_eq!(start("abc", 3), "abc");
        assert_eq!(start("äöü", 3), "ä\n[4 more bytes]");
        assert_eq!(end("äöü", 3), "[4 bytes before]\nü");
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left_in_a_text() {
        assert_eq!(plain(b"a\tb\r\n\x1b[31mc\x07\xff"), "a\tb\n[31mc\u{fffd}");
    }
}
