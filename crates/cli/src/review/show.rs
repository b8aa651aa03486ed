//! A piece of a change, as lines.

use anstyle::Style;
use offshoot_engine::diff::{LineKind, TextPick, write_hunk};
use offshoot_engine::file::{Body, Entry};
use offshoot_engine::review::{Decision, Item, Piece, PieceKind};
use offshoot_engine::text::display_bytes;

use super::walk::letter;
use crate::render::patch::{Block, Inside, NO_NEWLINE, PatchLine, Segment, blocks, line_style};
use crate::render::styled::Styled;
use crate::render::{self, DIM, NAME};

/// Longer ones are cut: nobody reads so much of one piece.
const MOST_LINES: usize = 5_000;
/// Unchanged lines around a piece.
const CONTEXT: u32 = 3;
const PLAIN: Style = Style::new();

/// What a piece is, with its number among those of its file.
pub(crate) fn piece_name(item: &Item, at: usize) -> String {
    let Some(piece) = item.pieces.get(at) else { return String::new() };
    let word = match piece.kind {
        PieceKind::Whole => "the whole change",
        PieceKind::Rename => "the move",
        PieceKind::Mode => "the mode",
        PieceKind::Lines(_) => "hunk",
    };
    format!("{word} {}/{}", at + 1, item.pieces.len())
}

/// The lines that show a piece.
pub(crate) fn piece_lines(item: &Item, at: usize) -> Vec<Styled> {
    let Some(piece) = item.pieces.get(at) else { return Vec::new() };
    let mut lines = match &piece.kind {
        PieceKind::Lines(_) => Vec::new(),
        PieceKind::Rename => vec![Styled::of(PLAIN, moved(item))],
        PieceKind::Mode => vec![Styled::of(PLAIN, mode(item))],
        PieceKind::Whole => whole(item).into_iter().map(|line| Styled::of(PLAIN, line)).collect(),
    };
    let patch = patch(item, piece);
    lines.extend(patch_lines(&patch).into_iter().take(MOST_LINES));
    if lines.len() >= MOST_LINES {
        lines.push(Styled::of(DIM, "(the rest is not shown)"));
    }
    lines
}

/// The lines that show items which are shown as one: their names.
pub(super) fn group_lines(items: &[Item]) -> Vec<Styled> {
    let line = |item: &Item| {
        Styled::of(PLAIN, format!("{} {}", letter(&item.change), render::path(&item.change.path)))
    };
    let mut lines: Vec<Styled> = items.iter().take(MOST_LINES).map(line).collect();
    if items.len() > MOST_LINES {
        lines.push(Styled::of(DIM, "(the rest is not shown)"));
    }
    lines
}

/// Whether a piece has a text in it, or in its path.
pub(super) fn matches(item: &Item, at: usize, text: &str) -> bool {
    let Some(piece) = item.pieces.get(at) else { return false };
    let has = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(text);
    has(&item.change.path.to_bytes()) || has(&patch(item, piece))
}

/// The lines of a piece as hunks of a patch; nothing where it has none.
fn patch(item: &Item, piece: &Piece) -> Vec<u8> {
    let Some(text) = &item.text else { return Vec::new() };
    let mut out = Vec::new();
    let mut write = |text: &TextPick, context: u32| {
        for hunk in text.hunks(context) {
            write_hunk(&mut out, &text.shown(&hunk, context)).expect("memory takes everything");
        }
    };
    match (&piece.kind, &piece.decision) {
        (PieceKind::Rename | PieceKind::Mode, _) => {}
        (PieceKind::Lines(part), Decision::Edited(lines)) => {
            write(&TextPick::new(text.old(part), lines), u32::MAX / 4);
        }
        (PieceKind::Lines(part), _) => {
            write_hunk(&mut out, &text.shown(part, CONTEXT)).expect("memory takes everything");
        }
        (PieceKind::Whole, Decision::Edited(lines)) => {
            write(&TextPick::new(text.whole_before(), lines), CONTEXT);
        }
        (PieceKind::Whole, _) => write(text, CONTEXT),
    }
    out
}

fn patch_lines(patch: &[u8]) -> Vec<Styled> {
    let mut lines = Vec::new();
    for block in blocks(patch) {
        match block {
            Block::Header(line) | Block::Hunk { line, .. } => {
                lines.push(Styled::of(NAME, render::harmless(line)));
            }
            Block::Context(line) => {
                let segments = [Segment { changed: false, text: line.text.to_vec() }];
                push_line(&mut lines, LineKind::Context, &segments, &line);
            }
            Block::Change { removed, added } => {
                let inside = Inside::of(&removed, &added);
                for (kind, side) in [(LineKind::Removed, &removed), (LineKind::Added, &added)] {
                    for (at, line) in side.iter().enumerate() {
                        let segments = inside.segments(kind, at, line);
                        push_line(&mut lines, kind, &segments, line);
                    }
                }
            }
        }
    }
    lines
}

fn push_line(lines: &mut Vec<Styled>, kind: LineKind, segments: &[Segment], line: &PatchLine<'_>) {
    let sign = match kind {
        LineKind::Context => " ",
        LineKind::Removed => "-",
        LineKind::Added => "+",
    };
    let mut shown = Styled::of(line_style(kind, false), sign);
    for segment in segments {
        shown.push_bytes(line_style(kind, segment.changed), &segment.text, 1);
    }
    lines.push(shown);
    if !line.newline {
        lines.push(Styled::of(DIM, NO_NEWLINE));
    }
}

fn moved(item: &Item) -> String {
    match &item.change.moved {
        Some((from, similarity)) => {
            format!("moved from {from} to {} ({similarity}% alike)", item.change.path)
        }
        None => String::new(),
    }
}

fn mode(item: &Item) -> String {
    match (&item.change.before, &item.change.after) {
        (Some(before), Some(after)) => {
            format!("mode {:04o} becomes {:04o}", before.meta.mode, after.meta.mode)
        }
        _ => String::new(),
    }
}

/// A change that has no pieces, in words.
fn whole(item: &Item) -> Vec<String> {
    let change = &item.change;
    let mut lines = match (&change.before, &change.after) {
        (None, Some(after)) => vec![format!("new: {}", described(after))],
        (Some(before), None) => vec![format!("gone: {}", described(before))],
        (Some(before), Some(after)) => {
            let mut lines = Vec::new();
            if before.kind() != after.kind() || before.content_hash() != after.content_hash() {
                lines.push(format!("before: {}", described(before)));
                lines.push(format!("after:  {}", described(after)));
            }
            if before.meta.mode != after.meta.mode {
                lines.push(mode(item));
            }
            lines
        }
        (None, None) => Vec::new(),
    };
    lines.extend(Some(moved(item)).filter(|text| !text.is_empty()));
    lines
}

fn described(entry: &Entry) -> String {
    let mode = entry.meta.mode;
    match &entry.body {
        Body::File { size, .. } => format!("file of {}, mode {mode:04o}", render::bytes(*size)),
        Body::Directory(_) => format!("directory, mode {mode:04o}"),
        Body::Symlink { target } => format!("symbolic link to {}", display_bytes(target)),
        Body::Fifo => format!("pipe, mode {mode:04o}"),
    }
}
