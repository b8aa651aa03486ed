//! Line diffs of two byte strings.
//!
//! Nothing here assumes an encoding: a line is a run of bytes up to and including `\n`, so CRLF
//! files, files without a final newline and invalid UTF-8 all keep every byte.

use std::ops::Range;

use imara_diff::sources::{ByteLines, byte_lines};
use imara_diff::{Algorithm, Diff, Hunk as Change, InternedInput, Token, TokenSource};

/// How a line diff is presented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOptions {
    /// Unchanged lines shown on either side of a change.
    pub context: u32,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { context: 3 }
    }
}

/// The difference between two texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextDiff {
    /// The changed regions, in order, with their context. Empty when the texts are identical.
    pub hunks: Vec<Hunk>,
    /// How many lines were added.
    pub added: u64,
    /// How many lines were removed.
    pub removed: u64,
}

/// One changed region with its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The number of the first line on the old side, counted from 1; when `before_lines` is 0, the
    /// number of the line after which the new lines go, which is 0 at the start of the file.
    pub before_start: u32,
    /// How many lines the hunk covers on the old side.
    pub before_lines: u32,
    /// Like `before_start`, for the new side.
    pub after_start: u32,
    /// How many lines the hunk covers on the new side.
    pub after_lines: u32,
    /// The lines, in the order a unified diff prints them.
    pub lines: Vec<Line>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// On which side the line exists.
    pub kind: LineKind,
    /// The bytes of the line without its `\n`; a `\r` before it is kept.
    pub text: Vec<u8>,
    /// False when the file ends here without a newline.
    pub newline: bool,
}

/// On which side a line exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// On both sides.
    Context,
    /// Only on the old side.
    Removed,
    /// Only on the new side.
    Added,
}

/// Compares two texts line by line.
pub fn diff_text(before: &[u8], after: &[u8], options: &TextOptions) -> TextDiff {
    if before == after {
        return TextDiff::default();
    }
    let input = intern(before, after);
    let changes = placed_changes(&input);
    TextDiff {
        added: changes.iter().map(|change| change.after.len() as u64).sum(),
        removed: changes.iter().map(|change| change.before.len() as u64).sum(),
        hunks: groups(&changes, options.context)
            .map(|group| build_hunk(&input, group, options.context))
            .collect(),
    }
}

/// Counts the lines (added, removed) between two texts, as [`diff_text`] would, without building
/// hunks.
pub fn count_changes(before: &[u8], after: &[u8]) -> (u64, u64) {
    if before == after {
        return (0, 0);
    }
    let input = intern(before, after);
    match compute(&input) {
        Some(diff) => (diff.count_additions().into(), diff.count_removals().into()),
        None => (input.after.len() as u64, input.before.len() as u64),
    }
}

/// Whether content is binary by git's rule: a NUL among its first 8000 bytes.
pub fn is_binary(bytes: &[u8]) -> bool {
    const LOOKED_AT: usize = 8000;
    bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0)
}

type Input<'a> = InternedInput<&'a [u8]>;

/// A text as a source of lines.
struct Lines<'a>(&'a [u8]);

impl<'a> TokenSource for Lines<'a> {
    type Token = &'a [u8];
    type Tokenizer = ByteLines<'a>;

    fn tokenize(&self) -> Self::Tokenizer {
        byte_lines(self.0)
    }

    /// Room is reserved for this many lines. The library's own guess extrapolates from the first 20
    /// lines, so a large file that begins with blank lines would reserve many times its size; a
    /// small cap costs only a few reallocations.
    fn estimate_tokens(&self) -> u32 {
        const MOST: u32 = 1 << 16;
        byte_lines(self.0).estimate_tokens().min(MOST)
    }
}

fn intern<'a>(before: &'a [u8], after: &'a [u8]) -> Input<'a> {
    InternedInput::new(Lines(before), Lines(after))
}

/// Finds which lines changed, or nothing when a side has more lines than the library can number.
fn compute(input: &Input<'_>) -> Option<Diff> {
    const MOST_LINES: usize = i32::MAX as usize;
    let lines = input.before.len().max(input.after.len());
    (lines < MOST_LINES).then(|| Diff::compute(algorithm(lines), input))
}

/// The histogram algorithm reads best, but its time grows with the square of the number of
/// scattered changes: 0.1 s for 10,000 lines of which every second changed, a minute for 200,000.
/// Myers handles those in milliseconds.
fn algorithm(lines: usize) -> Algorithm {
    const MOST_LINES_FOR_HISTOGRAM: usize = 10_000;
    if lines <= MOST_LINES_FOR_HISTOGRAM { Algorithm::Histogram } else { Algorithm::Myers }
}

/// The changes, moved to where a reader expects them.
fn placed_changes(input: &Input<'_>) -> Vec<Change> {
    match compute(input) {
        Some(mut diff) => {
            diff.postprocess_lines(input);
            diff.hunks().collect()
        }
        None => vec![everything(input)],
    }
}

/// Where two texts differ, as ranges of lines, each moved as far down as it goes: the same change is then found in the same
/// place whatever surrounds it, which is what merging needs.
pub(crate) fn changed_lines(before: &[u8], after: &[u8]) -> Vec<Change> {
    let input = intern(before, after);
    match compute(&input) {
        Some(mut diff) => {
            diff.postprocess_no_heuristic(&input);
            diff.hunks().collect()
        }
        None => vec![everything(&input)],
    }
}

/// Where two texts differ, as ranges of lines, each where a reader expects it: what [`diff_text`] shows.
pub(crate) fn changes_for_people(before: &[u8], after: &[u8]) -> Vec<(Range<u32>, Range<u32>)> {
    if before == after {
        return Vec::new();
    }
    let changes = placed_changes(&intern(before, after)).into_iter();
    changes.map(|change| (change.before, change.after)).collect()
}

/// A text with too many lines to compare is one change.
fn everything(input: &Input<'_>) -> Change {
    Change { before: 0..line_count(&input.before), after: 0..line_count(&input.after) }
}

fn line_count(tokens: &[Token]) -> u32 {
    u32::try_from(tokens.len()).unwrap_or(u32::MAX)
}

/// Splits changes into runs whose context would touch or overlap, as a unified diff prints them.
fn groups(changes: &[Change], context: u32) -> impl Iterator<Item = &[Change]> {
    let most_between = context.saturating_mul(2);
    changes.chunk_by(move |previous, next| next.before.start - previous.before.end <= most_between)
}

fn build_hunk(input: &Input<'_>, changes: &[Change], context: u32) -> Hunk {
    let before = with_context(changes, |change| &change.before, context, line_count(&input.before));
    let after = with_context(changes, |change| &change.after, context, line_count(&input.after));
    Hunk {
        before_start: displayed_start(&before),
        before_lines: before.end - before.start,
        after_start: displayed_start(&after),
        after_lines: after.end - after.start,
        lines: hunk_lines(input, changes, &before),
    }
}

/// The lines of one side from the first change to the last, widened by the context that exists.
fn with_context(
    changes: &[Change],
    side: impl Fn(&Change) -> &Range<u32>,
    context: u32,
    lines: u32,
) -> Range<u32> {
    let start = changes.first().map_or(0, |change| side(change).start);
    let end = changes.last().map_or(0, |change| side(change).end);
    start.saturating_sub(context)..end.saturating_add(context).min(lines)
}

/// A unified diff counts lines from 1, but names the line before an empty range.
pub(crate) fn displayed_start(range: &Range<u32>) -> u32 {
    if range.is_empty() { range.start } else { range.start + 1 }
}

fn hunk_lines(input: &Input<'_>, changes: &[Change], before: &Range<u32>) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut push = |kind, side: &[Token], range: Range<u32>| {
        let tokens = &side[range.start as usize..range.end as usize];
        lines.extend(tokens.iter().map(|token| line(kind, input.interner[*token])));
    };
    let mut position = before.start;
    for change in changes {
        push(LineKind::Context, &input.before, position..change.before.start);
        push(LineKind::Removed, &input.before, change.before.clone());
        push(LineKind::Added, &input.after, change.after.clone());
        position = change.before.end;
    }
    push(LineKind::Context, &input.before, position..before.end);
    lines
}

pub(crate) fn line(kind: LineKind, bytes: &[u8]) -> Line {
    match bytes.strip_suffix(b"\n") {
        Some(text) => Line { kind, text: text.to_vec(), newline: true },
        None => Line { kind, text: bytes.to_vec(), newline: false },
    }
}

#[cfg(test)]
mod tests;
