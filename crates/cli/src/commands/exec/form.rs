//! The forms that an answer has.

use std::io::Write;

use offshoot_protocol::ExecEventDoc;

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people: output as it comes, a few words at the end.
    People,
    /// For people who sit in front of it: output as it comes, and at the end what changed and what to do about it.
    Person,
    /// One envelope at the end.
    Json,
    /// One event a line.
    Stream,
}

impl Form {
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::People | Self::Person)
    }
}

/// Prints one event of a stream.
pub(super) fn print_event(event: &ExecEventDoc) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(&event_line(event))?;
    out.flush()
}

/// One event of a stream, as a line.
pub(super) fn event_line(event: &ExecEventDoc) -> Vec<u8> {
    // Into memory that cannot fail: all that these documents have is text and numbers.
    let mut line = serde_json::to_vec(event).unwrap_or_default();
    line.push(b'\n');
    line
}
