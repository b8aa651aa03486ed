//! A patch with the old text on the left and the new one on the right.

use offshoot_engine::diff::LineKind;

use super::patch::{Block, Inside, NO_NEWLINE, PatchLine, Segment, blocks, line_style};
use super::styled::Styled;
use super::{BOLD, DIM, NAME, harmless, paint};

/// Less than this for each side cannot be read.
const NARROWEST: usize = 10;
/// A blank, the mark, a blank.
const MIDDLE: usize = 3;

/// Shows a patch in two columns that together are at most so wide, where that is wide enough to read. Nothing in it steers a
/// terminal.
pub(crate) fn side_by_side(patch: &[u8], width: usize) -> String {
    let blocks = blocks(patch);
    let layout = Layout::fit(&blocks, width);
    let mut out = String::new();
    let (mut left, mut right) = (0, 0);
    for block in &blocks {
        match block {
            Block::Header(line) => out.push_str(&(paint(BOLD, &harmless(line)) + "\n")),
            Block::Hunk { line, before, after } => {
                out.push_str(&(paint(NAME, &harmless(line)) + "\n"));
                (left, right) = (*before, *after);
            }
            Block::Context(line) => {
                let cell = |number| Cell::new(number, LineKind::Context, &whole(line), line);
                out.push_str(&layout.row(Some(cell(left)), Some(cell(right)), " "));
                (left, right) = (left + 1, right + 1);
            }
            Block::Change { removed, added } => {
                out.push_str(&layout.change(removed, added, left, right));
                (left, right) = (left + removed.len() as u64, right + added.len() as u64);
            }
        }
    }
    out
}

fn whole(line: &PatchLine<'_>) -> Vec<Segment> {
    vec![Segment { changed: false, text: line.text.to_vec() }]
}

/// How wide everything is.
struct Layout {
    /// Of the line numbers.
    number: usize,
    /// Of the text on each side.
    text: usize,
}

impl Layout {
    fn fit(blocks: &[Block<'_>], width: usize) -> Self {
        let lines = blocks.iter().map(|block| match block {
            Block::Change { removed, added } => removed.len().max(added.len()) as u64,
            _ => 1,
        });
        let most = lines.sum::<u64>();
        let starts = blocks.iter().map(|block| match block {
            Block::Hunk { before, after, .. } => *before.max(after),
            _ => 0,
        });
        let largest = starts.max().unwrap_or(0) + most;
        let number = largest.to_string().len();
        let text = width.saturating_sub(MIDDLE + 2 * (number + 1)) / 2;
        Self { number, text: text.max(NARROWEST) }
    }

    fn change(
        &self,
        removed: &[PatchLine<'_>],
        added: &[PatchLine<'_>],
        left: u64,
        right: u64,
    ) -> String {
        let inside = Inside::of(removed, added);
        let cell = |kind, lines: &[PatchLine<'_>], start: u64, at: usize| {
            let line = lines.get(at)?;
            Some(Cell::new(start + at as u64, kind, &inside.segments(kind, at, line), line))
        };
        let rows = (0..removed.len().max(added.len())).map(|at| {
            let old = cell(LineKind::Removed, removed, left, at);
            let new = cell(LineKind::Added, added, right, at);
            let mark = match (&old, &new) {
                (Some(_), Some(_)) => "|",
                (Some(_), None) => "<",
                _ => ">",
            };
            self.row(old, new, mark)
        });
        rows.collect()
    }

    /// One line of each side, over several rows where one is too long.
    fn row(&self, left: Option<Cell>, right: Option<Cell>, mark: &str) -> String {
        let (left, right) = (self.rows(left), self.rows(right));
        let mut out = String::new();
        for at in 0..left.len().max(right.len()) {
            let side = |rows: &[Styled]| rows.get(at).cloned().unwrap_or_default();
            let left = side(&left).padded(self.number + 1 + self.text);
            let mark = if at == 0 { mark } else { " " };
            let line = format!("{} {mark} {}", left.painted(), side(&right).painted());
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    fn rows(&self, cell: Option<Cell>) -> Vec<Styled> {
        let Some(cell) = cell else { return Vec::new() };
        let wrapped = cell.text.wrapped(self.text).into_iter().enumerate();
        wrapped
            .map(|(at, text)| {
                let number = if at == 0 { cell.number.to_string() } else { String::new() };
                let mut row = Styled::of(DIM, format!("{number:>width$} ", width = self.number));
                row.runs.extend(text.runs);
                row
            })
            .collect()
    }
}

/// A line of one side.
struct Cell {
    number: u64,
    text: Styled,
}

impl Cell {
    fn new(number: u64, kind: LineKind, segments: &[Segment], line: &PatchLine<'_>) -> Self {
        let mut text = Styled::default();
        for segment in segments {
            text.push_bytes(line_style(kind, segment.changed), &segment.text, 0);
        }
        if !line.newline {
            text.push(DIM, format!(" {NO_NEWLINE}"));
        }
        Self { number, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(patch: &[u8], width: usize) -> String {
        anstream::adapter::strip_str(&side_by_side(patch, width)).to_string()
    }

    #[test]
    fn old_is_left_and_new_is_right() {
        let patch = b"@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+more\n-three\n";
        let expected = "\
@@ -1,3 +1,4 @@
1 one           1 one
2 two         | 2 TWO
              > 3 more
3 three       <
";
        assert_eq!(plain(patch, 30), expected);
    }

    #[test]
    fn wide_characters_and_tabs_keep_the_columns_in_line() {
        let patch = "@@ -1,2 +1,2 @@\n-漢字\n+a\tb\n 字\n".as_bytes();
        let shown = plain(patch, 33);
        let columns = |line: &str| {
            let bar = line.find(['|', '2']).map(|at| super::super::styled::width(&line[..at]));
            bar.unwrap()
        };
        let lines: Vec<&str> = shown.lines().skip(1).collect();
        assert_eq!(columns(lines[0]), 16, "{shown}");
        assert!(lines[0].ends_with("| 1 a       b"), "{shown}");
    }

    #[test]
    fn long_lines_go_on_below() {
        let patch = format!("@@ -1 +1 @@\n-{}\n+short\n", "x".repeat(30));
        let shown = plain(patch.as_bytes(), 30);
        let lines: Vec<&str> = shown.lines().skip(1).collect();
        assert_eq!(lines[0], format!("1 {} | 1 short", "x".repeat(11)));
        assert_eq!(lines[1].trim_end(), format!("  {}", "x".repeat(11)));
        assert_eq!(lines.len(), 3);
    }
}
