//! What calls answer: a document for programs, and a short text for the model.

use offshoot_engine::Error;
use offshoot_protocol::{Document, ErrorDocument, Kind};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;

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
