//! Texts of servers, as people see them: nothing in them moves a cursor, and nothing is there that nobody sees.

use offshoot_engine::text;
use offshoot_protocol::ToolState;
use serde_json::Value;

use crate::render::{BAD, DIM, GOOD, WARN, bytes, harmless, line, paint};

/// So much of a description is shown in a list.
const SHORT: usize = 80;

/// A text of a server in one line.
pub(super) fn visible(told: &str) -> String {
    text::visible(&line(told))
}

/// A text of a server, line by line.
pub(super) fn visible_lines(told: &str) -> String {
    let lines = told.lines().map(|line| text::visible(&harmless(line.as_bytes())) + "\n");
    lines.collect()
}

/// The beginning of a description.
pub(super) fn short(text: Option<&str>) -> String {
    let text = text.and_then(|text| text.trim().lines().next()).unwrap_or_default();
    let mut cut: String = text.chars().take(SHORT).collect();
    if cut.len() < text.len() {
        cut.push_str("...");
    }
    visible(&cut)
}

/// A state, coloured.
pub(super) fn state(state: ToolState) -> String {
    let style = match state {
        ToolState::Trusted => GOOD,
        ToolState::New => WARN,
        ToolState::Changed => BAD,
        ToolState::Removed => DIM,
    };
    paint(style, state.as_str())
}

/// A part of an answer.
pub(super) fn part(part: &Value) -> String {
    let text = |key: &str| part.get(key).and_then(Value::as_str);
    match (text("type"), text("text"), text("data")) {
        (Some("text"), Some(text), _) => visible_lines(text),
        (Some(kind), _, Some(data)) => {
            let mime = text("mimeType").unwrap_or("unknown type");
            let size = bytes(data.len() as u64 / 4 * 3);
            format!("[{}: {}, {size}; --json has it]\n", visible(kind), visible(mime))
        }
        _ => visible_lines(&serde_json::to_string_pretty(part).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_of_a_server_is_obeyed_or_hidden() {
        assert_eq!(visible("a\u{1b}[2J\u{200b}b\u{e0041}"), "a^[[2J<200b>b<e0041>");
        assert_eq!(visible_lines("one\r\n\u{1b}]0;x\u{7}two\tthree"), "one\n^[]0;x^Gtwo\tthree\n");
        assert_eq!(short(Some("first\nsecond")), "first");
        assert!(short(Some(&"x".repeat(200))).ends_with("..."));
    }

    #[test]
    fn parts_are_told_by_their_kind() {
        assert_eq!(part(&json!({ "type": "text", "text": "hello" })), "hello\n");
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        assert_eq!(part(&image), "[image: image/png, 3 B; --json has it]\n");
    }
}
