//! A conversation as text.

use std::fmt::Write;

use offshoot_provider::{Block, Content};

use crate::state::{HistoryEntry, SettledCall};

/// Longest text of one result in a summary's request.
pub(crate) const SHORT: usize = 2000;

/// What stands between the head and the tail of a text that was shortened.
const GAP: &str = "\n[...]\n";

/// A text with its middle left out, if it has more bytes than this.
pub(crate) fn shortened(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let room = bytes.saturating_sub(GAP.len());
    let head = text.floor_char_boundary(room / 2);
    let tail = text.ceil_char_boundary(text.len() - (room - room / 2));
    format!("{}{GAP}{}", &text[..head], &text[tail..])
}

/// Entries as text; results of more bytes are shortened.
pub(crate) fn of_entries(entries: &[HistoryEntry], longest: usize) -> String {
    let mut text = String::new();
    for entry in entries {
        let (who, what) = match entry {
            HistoryEntry::User(blocks) => ("User", of_blocks(blocks)),
            HistoryEntry::Note(note) => ("Note", note.clone()),
            HistoryEntry::Answer { message, .. } => ("Agent", of_blocks(&message.blocks)),
            HistoryEntry::Results(settled) => ("Results", of_results(settled, longest)),
        };
        add(&mut text, &format!("{who}:\n{}\n\n", what.trim_end()));
    }
    text
}

pub(crate) fn of_blocks(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        match &block.content {
            Content::Text { text: said, .. } => add(&mut text, &format!("{said}\n")),
            Content::ToolCall(call) => {
                add(&mut text, &format!("[calls {} {}]\n", call.name, call.arguments));
            }
            Content::Image(_) => add(&mut text, "[an image]\n"),
            Content::ToolResult(result) => add(&mut text, &of_blocks(&result.blocks)),
            Content::Reasoning { .. } | Content::Unknown { .. } => {}
        }
    }
    text
}

fn of_results(settled: &[SettledCall], longest: usize) -> String {
    let mut text = String::new();
    for SettledCall { call, report, .. } in settled {
        let failed = if report.failed { " failed" } else { "" };
        let said = shortened(&of_blocks(&report.blocks), longest);
        add(&mut text, &format!("[{}{failed}]\n{}\n", call.name, said.trim_end()));
    }
    text
}

fn add(text: &mut String, more: &str) {
    // Writing to a string cannot fail.
    text.write_str(more).expect("a string takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_head_and_tail() {
        assert_eq!(shortened("abc", 3), "abc");
        let long = format!("head{}tail", "ü".repeat(500));
        for bytes in 8..200 {
            let short = shortened(&long, bytes);
            assert!(short.len() <= bytes.max(GAP.len()), "{bytes}: {}", short.len());
        }
        let short = shortened(&long, 40);
        assert!(short.starts_with("head") && short.ends_with("tail"), "{short}");
    }
}
