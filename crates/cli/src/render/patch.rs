//! A patch in colours, and the parts it is made of.

use anstyle::Style;
use offshoot_engine::diff::{LineKind, Span, diff_words};

use super::{BAD, BOLD, GOOD, NAME, harmless, paint};

/// A line of a file in a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PatchLine<'a> {
    /// Its bytes without the newline.
    pub(crate) text: &'a [u8],
    /// Whether a newline follows in the file.
    pub(crate) newline: bool,
}

/// A part of a patch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Block<'a> {
    /// A line about a file.
    Header(&'a [u8]),
    /// The line that begins a hunk.
    Hunk {
        /// The line.
        line: &'a [u8],
        /// The number of its first line on the old side.
        before: u64,
        /// The number of its first line on the new side.
        after: u64,
    },
    /// A line that is on both sides.
    Context(PatchLine<'a>),
    /// Lines that stand in each other's place.
    Change {
        /// Those that are gone.
        removed: Vec<PatchLine<'a>>,
        /// Those that came.
        added: Vec<PatchLine<'a>>,
    },
}

/// Takes a patch of ours apart. What a line is follows from the counts of its hunk, not from how it looks.
pub(crate) fn blocks(patch: &[u8]) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut left = (0, 0);
    let mut kind = LineKind::Context;
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.first() == Some(&b'\\') {
            without_newline(blocks.last_mut(), kind);
        } else if left == (0, 0) {
            match ranges(line) {
                Some([before, before_lines, after, after_lines]) => {
                    left = (before_lines, after_lines);
                    blocks.push(Block::Hunk { line, before, after });
                }
                None => blocks.push(Block::Header(line)),
            }
        } else {
            let (sign, text) = line.split_first().unwrap_or((&b' ', b""));
            kind = match sign {
                b'-' => LineKind::Removed,
                b'+' => LineKind::Added,
                _ => LineKind::Context,
            };
            left.0 = left.0.saturating_sub(u64::from(kind != LineKind::Added));
            left.1 = left.1.saturating_sub(u64::from(kind != LineKind::Removed));
            push_line(&mut blocks, kind, PatchLine { text, newline: true });
        }
    }
    blocks
}

fn push_line<'a>(blocks: &mut Vec<Block<'a>>, kind: LineKind, line: PatchLine<'a>) {
    let block = match (kind, blocks.last_mut()) {
        (LineKind::Context, _) => Block::Context(line),
        (LineKind::Removed, Some(Block::Change { removed, added })) if added.is_empty() => {
            return removed.push(line);
        }
        (LineKind::Added, Some(Block::Change { added, .. })) => return added.push(line),
        (LineKind::Removed, _) => Block::Change { removed: vec![line], added: Vec::new() },
        (LineKind::Added, _) => Block::Change { removed: Vec::new(), added: vec![line] },
    };
    blocks.push(block);
}

fn without_newline(block: Option<&mut Block<'_>>, kind: LineKind) {
    let line = match (block, kind) {
        (Some(Block::Context(line)), _) => Some(line),
        (Some(Block::Change { removed, .. }), LineKind::Removed) => removed.last_mut(),
        (Some(Block::Change { added, .. }), _) => added.last_mut(),
        _ => None,
    };
    if let Some(line) = line {
        line.newline = false;
    }
}

/// The numbers of `@@ -1,2 +3,4 @@`.
fn ranges(line: &[u8]) -> Option<[u64; 4]> {
    let text = std::str::from_utf8(line).ok()?.strip_prefix("@@ -")?;
    let (before, rest) = text.split_once(" +")?;
    let (after, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(u64, u64)> {
        match text.split_once(',') {
            Some((start, lines)) => Some((start.parse().ok()?, lines.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((before, before_lines), (after, after_lines)) = (range(before)?, range(after)?);
    Some([before, before_lines, after, after_lines])
}

/// What says that a line has no newline.
pub(crate) const NO_NEWLINE: &str = "\\ No newline at end of file";

/// The style of lines that are gone or came, and of what exactly changed in them.
pub(crate) fn line_style(kind: LineKind, changed: bool) -> Style {
    let style = match kind {
        LineKind::Context => return Style::new(),
        LineKind::Removed => BAD,
        LineKind::Added => GOOD,
    };
    if changed { style.invert() } else { style }
}

/// A patch for people: in colours, and without characters that steer a terminal.
pub(crate) fn coloured(patch: &[u8]) -> String {
    let mut out = String::new();
    for block in blocks(patch) {
        match block {
            Block::Header(line) => out.push_str(&(paint(BOLD, &harmless(line)) + "\n")),
            Block::Hunk { line, .. } => out.push_str(&(paint(NAME, &harmless(line)) + "\n")),
            Block::Context(line) => {
                out.push_str(&format!(" {}\n", harmless(line.text)));
                out.push_str(&ending(line));
            }
            Block::Change { removed, added } => {
                let inside = Inside::of(&removed, &added);
                for (kind, sign, lines) in
                    [(LineKind::Removed, "-", &removed), (LineKind::Added, "+", &added)]
                {
                    for (number, line) in lines.iter().enumerate() {
                        out.push_str(&coloured_line(
                            kind,
                            sign,
                            &inside.segments(kind, number, line),
                        ));
                        out.push_str(&ending(*line));
                    }
                }
            }
        }
    }
    out
}

fn coloured_line(kind: LineKind, sign: &str, segments: &[Segment]) -> String {
    let plain = line_style(kind, false);
    // Neighbours in one style are painted together.
    let mut out = String::new();
    let mut together = sign.to_owned();
    for segment in segments {
        if segment.changed {
            out.push_str(&paint(plain, &std::mem::take(&mut together)));
            out.push_str(&paint(line_style(kind, true), &harmless(&segment.text)));
        } else {
            together.push_str(&harmless(&segment.text));
        }
    }
    out + &paint(plain, &together) + "\n"
}

fn ending(line: PatchLine<'_>) -> String {
    if line.newline { String::new() } else { format!("{NO_NEWLINE}\n") }
}

/// Some bytes of a line that changed or did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) changed: bool,
    pub(crate) text: Vec<u8>,
}

/// What exactly changed inside of lines that stand in each other's place.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    removed: Vec<Vec<Segment>>,
    added: Vec<Vec<Segment>>,
}

impl Inside {
    /// Compares the lines word by word. Where they have little in common, or are very many, nothing is found: all of it
    /// changed.
    pub(crate) fn of(removed: &[PatchLine<'_>], added: &[PatchLine<'_>]) -> Self {
        const MOST_BYTES: usize = 20_000;
        let (before, after) = (joined(removed), joined(added));
        if before.is_empty() || after.is_empty() || before.len() + after.len() > MOST_BYTES {
            return Self::default();
        }
        let spans = diff_words(&before, &after);
        if !are_alike(&spans, before.len().max(after.len())) {
            return Self::default();
        }
        let side = |own: LineKind| {
            by_line(spans.iter().filter(|s| s.kind == own || s.kind == LineKind::Context))
        };
        Self { removed: side(LineKind::Removed), added: side(LineKind::Added) }
    }

    /// The segments of one line; the whole line where nothing finer is known.
    pub(crate) fn segments(&self, kind: LineKind, at: usize, line: &PatchLine<'_>) -> Vec<Segment> {
        let known = match kind {
            LineKind::Removed => self.removed.get(at),
            LineKind::Added => self.added.get(at),
            LineKind::Context => None,
        };
        match known {
            Some(segments) => segments.clone(),
            None => vec![Segment { changed: false, text: line.text.to_vec() }],
        }
    }
}

fn joined(lines: &[PatchLine<'_>]) -> Vec<u8> {
    lines.iter().flat_map(|line| line.text.iter().copied().chain([b'\n'])).collect()
}

/// Whether at least a third of the longer text is in both; blanks do not count.
fn are_alike(spans: &[Span], longer: usize) -> bool {
    let common = spans.iter().filter(|span| span.kind == LineKind::Context);
    let common = common.flat_map(|span| &span.text).filter(|byte| !byte.is_ascii_whitespace());
    common.count() * 3 >= longer
}

fn by_line<'s>(spans: impl Iterator<Item = &'s Span>) -> Vec<Vec<Segment>> {
    let mut lines = vec![Vec::new()];
    for span in spans {
        for piece in span.text.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            if let Some(line) = lines.last_mut().filter(|_| !text.is_empty()) {
                let changed = span.kind != LineKind::Context;
                line.push(Segment { changed, text: text.to_vec() });
            }
            if text.len() < piece.len() {
                lines.push(Vec::new());
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests;
