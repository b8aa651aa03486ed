//! A patch word by word.

use offshoot_engine::diff::{LineKind, diff_words};

use super::patch::{Block, NO_NEWLINE, PatchLine, blocks, line_style};
use super::{BOLD, NAME, harmless, paint};

/// How changed words are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    /// By colours.
    Colours,
    /// By `[-old-]` and `{+new+}`.
    Brackets,
}

/// Shows a patch with the words that changed inside of lines. Nothing in it steers a terminal.
pub(crate) fn word_diff(patch: &[u8], marks: Marks) -> String {
    let mut out = String::new();
    for block in blocks(patch) {
        match block {
            Block::Header(line) => out.push_str(&(paint(BOLD, &harmless(line)) + "\n")),
            Block::Hunk { line, .. } => out.push_str(&(paint(NAME, &harmless(line)) + "\n")),
            Block::Context(line) => {
                out.push_str(&(harmless(line.text) + "\n"));
                if !line.newline {
                    out.push_str(&format!("{NO_NEWLINE}\n"));
                }
            }
            Block::Change { removed, added } => push_words(&mut out, &removed, &added, marks),
        }
    }
    out
}

fn push_words(out: &mut String, removed: &[PatchLine<'_>], added: &[PatchLine<'_>], marks: Marks) {
    for span in diff_words(&joined(removed), &joined(added)) {
        // A mark never goes over the end of a line, so that each line can be read alone.
        for piece in span.text.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            out.push_str(&marked(&harmless(text), span.kind, marks));
            if text.len() < piece.len() {
                out.push('\n');
            }
        }
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    let missing = |lines: &[PatchLine<'_>]| lines.last().is_some_and(|line| !line.newline);
    if missing(removed) || missing(added) {
        out.push_str(&format!("{NO_NEWLINE}\n"));
    }
}

fn joined(lines: &[PatchLine<'_>]) -> Vec<u8> {
    lines.iter().flat_map(|line| line.text.iter().copied().chain([b'\n'])).collect()
}

fn marked(text: &str, kind: LineKind, marks: Marks) -> String {
    match (kind, marks) {
        _ if text.is_empty() => String::new(),
        (LineKind::Context, _) => text.to_owned(),
        (LineKind::Removed, Marks::Brackets) => format!("[-{text}-]"),
        (LineKind::Added, Marks::Brackets) => format!("{{+{text}+}}"),
        (kind, Marks::Colours) => paint(line_style(kind, false), text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(patch: &[u8]) -> String {
        anstream::adapter::strip_str(&word_diff(patch, Marks::Brackets)).to_string()
    }

    #[test]
    fn words_stand_in_brackets() {
        let patch = b"@@ -1,2 +1,2 @@\n fn f() {\n-    size(1)\n+    length(1)\n";
        assert_eq!(plain(patch), "@@ -1,2 +1,2 @@\nfn f() {\n    [-size-]{+length+}(1)\n");
    }

    #[test]
    fn lines_that_come_and_go_are_whole() {
        assert_eq!(plain(b"@@ -1 +1,2 @@\n a\n+b c\n"), "@@ -1 +1,2 @@\na\n{+b c+}\n");
        assert_eq!(plain(b"@@ -1,2 +0,0 @@\n-a\n-b\n"), "@@ -1,2 +0,0 @@\n[-a-]\n[-b-]\n");
    }

    #[test]
    fn colours_take_the_place_of_brackets() {
        let shown = word_diff(b"@@ -1 +1 @@\n-a b\n+a c\n", Marks::Colours);
        let words = |kind, text| paint(line_style(kind, false), text);
        let expected =
            format!("a {}{}\n", words(LineKind::Removed, "b"), words(LineKind::Added, "c"));
        assert!(shown.ends_with(&expected), "{shown:?}");
    }
}
