//! Taking some of the changes between two texts and leaving the others.
//!
//! A [`Part`] is a place where the texts differ. Parts can be shown as hunks of a diff, divided, and each taken or left:
//! taking all of them gives the new text, taking none the old one, byte for byte.

use std::ops::Range;

use imara_diff::sources::byte_lines;

use crate::lines::{Hunk, Line, LineKind, changes_for_people, displayed_start, line};

/// Lines of the old text and the lines of the new text that stand in their place, counted from 0. Lines that are in both
/// may lie between the first and the last change of a part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The lines of the old text.
    pub before: Range<u32>,
    /// The lines of the new text.
    pub after: Range<u32>,
}

/// What a part becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take<'a> {
    /// The lines of the old text.
    Before,
    /// The lines of the new text.
    After,
    /// These lines instead of either.
    Other(&'a [u8]),
}

/// Two texts and the places where they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPick {
    before: Text,
    after: Text,
    /// Every place where they differ, with at least one line that is in both between two of them.
    changes: Vec<Part>,
}

impl TextPick {
    /// Compares two texts line by line.
    pub fn new(before: &[u8], after: &[u8]) -> Self {
        let changes = changes_for_people(before, after).into_iter();
        let changes = changes.map(|(before, after)| Part { before, after }).collect();
        Self { before: Text::new(before), after: Text::new(after), changes }
    }

    /// The places where the texts differ, in order, each as small as a line diff knows them.
    pub fn changes(&self) -> &[Part] {
        &self.changes
    }

    /// The parts that a unified diff shows as one hunk each: changes with at most twice as many lines as `context` between
    /// them are together.
    pub fn hunks(&self, context: u32) -> Vec<Part> {
        let most_between = context.saturating_mul(2);
        let near = |a: &Part, b: &Part| b.before.start - a.before.end <= most_between;
        self.changes.chunk_by(near).filter_map(joined).collect()
    }

    /// The smaller parts that a part consists of: its changes, or where it is a single one, its lines in pairs of old and
    /// new. A part that cannot be divided is given back alone.
    pub fn split(&self, part: &Part) -> Vec<Part> {
        let inner = self.inside(part);
        if inner.len() > 1 {
            return inner.to_vec();
        }
        let part = inner.first().unwrap_or(part);
        let longest = part.before.len().max(part.after.len()) as u32;
        let nth = |range: &Range<u32>, n: u32| {
            let at = |n: u32| (range.start + n).min(range.end);
            at(n)..at(n + 1)
        };
        (0..longest)
            .map(|n| Part { before: nth(&part.before, n), after: nth(&part.after, n) })
            .collect()
    }

    /// The lines of the old text that a part replaces.
    pub fn old(&self, part: &Part) -> &[u8] {
        self.before.lines(&part.before)
    }

    /// The lines of the new text that a part brings.
    pub fn new_text(&self, part: &Part) -> &[u8] {
        self.after.lines(&part.after)
    }

    /// The whole old text.
    pub fn whole_before(&self) -> &[u8] {
        &self.before.bytes
    }

    /// The whole new text.
    pub fn whole_after(&self) -> &[u8] {
        &self.after.bytes
    }

    /// A part as a hunk of a unified diff, with up to `context` unchanged lines on either side. They end where the next
    /// change begins.
    pub fn shown(&self, part: &Part, context: u32) -> Hunk {
        let (above, below) = (self.unchanged_above(part), self.unchanged_below(part));
        let (above, below) = (above.min(context), below.min(context));
        let before = part.before.start - above..part.before.end + below;
        let after = part.after.start - above..part.after.end + below;
        let mut lines = Vec::new();
        let mut push = |kind, text: &Text, range: Range<u32>| {
            lines.extend(range.map(|number| text.line(kind, number)));
        };
        let mut at = before.start;
        let whole = std::slice::from_ref(part);
        let inner = self.inside(part);
        for change in if inner.is_empty() { whole } else { inner } {
            push(LineKind::Context, &self.before, at..change.before.start);
            push(LineKind::Removed, &self.before, change.before.clone());
            push(LineKind::Added, &self.after, change.after.clone());
            at = change.before.end;
        }
        push(LineKind::Context, &self.before, at..before.end);
        Hunk {
            before_start: displayed_start(&before),
            before_lines: before.end - before.start,
            after_start: displayed_start(&after),
            after_lines: after.end - after.start,
            lines,
        }
    }

    /// A word for a part that stays the same while other parts of the file change: it depends on nothing but `salt` and the
    /// part's own lines.
    pub fn fingerprint(&self, salt: &[u8], part: &Part) -> String {
        fingerprint([salt, self.old(part), self.new_text(part)])
    }

    /// The text with each of these parts as wanted, and as it was before everywhere else. Parts are in order and do not
    /// overlap.
    ///
    /// A line without a newline that is not the last one any more gets one, of the kind that the text has.
    pub fn compose<'p>(&self, picks: impl IntoIterator<Item = (&'p Part, Take<'p>)>) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.before.bytes.len().max(self.after.bytes.len()));
        let mut at = 0;
        for (part, take) in picks {
            self.append(&mut out, self.before.lines(&(at..part.before.start.max(at))));
            self.append(
                &mut out,
                match take {
                    Take::Before => self.old(part),
                    Take::After => self.new_text(part),
                    Take::Other(text) => text,
                },
            );
            at = part.before.end.max(at);
        }
        self.append(&mut out, self.before.lines(&(at..self.before.count())));
        out
    }

    fn append(&self, out: &mut Vec<u8>, text: &[u8]) {
        if !text.is_empty() && !out.is_empty() && !out.ends_with(b"\n") {
            let newline = self.newline();
            // A text that was cut between the two bytes of a line end needs only the other one.
            let rest = if out.ends_with(b"\r") { &newline[newline.len() - 1..] } else { newline };
            out.extend_from_slice(rest);
        }
        out.extend_from_slice(text);
    }

    /// How lines of these texts end.
    fn newline(&self) -> &'static [u8] {
        let ends_in_crlf = |text: &Text| text.lines(&(0..1)).ends_with(b"\r\n");
        if ends_in_crlf(&self.before) || ends_in_crlf(&self.after) { b"\r\n" } else { b"\n" }
    }

    /// The changes that a part consists of; none for a part of a change.
    fn inside(&self, part: &Part) -> &[Part] {
        let first = self.changes.partition_point(|change| {
            change.before.start < part.before.start || change.after.start < part.after.start
        });
        let inner = &self.changes[first..];
        let fits = |change: &&Part| {
            change.before.end <= part.before.end && change.after.end <= part.after.end
        };
        &inner[..inner.iter().take_while(fits).count()]
    }

    /// How many lines right above a part are the same in both texts.
    fn unchanged_above(&self, part: &Part) -> u32 {
        let starts_before = |change: &&Part| {
            change.before.start < part.before.start || change.after.start < part.after.start
        };
        match self.changes.iter().rev().find(starts_before) {
            Some(change) => part.before.start.saturating_sub(change.before.end),
            None => part.before.start,
        }
    }

    /// How many lines right below a part are the same in both texts.
    fn unchanged_below(&self, part: &Part) -> u32 {
        let ends_after = |change: &&Part| {
            change.before.end > part.before.end || change.after.end > part.after.end
        };
        let end = self.changes.iter().find(ends_after).map(|change| change.before.start);
        end.unwrap_or(self.before.count()).saturating_sub(part.before.end)
    }
}

fn joined(changes: &[Part]) -> Option<Part> {
    let (first, last) = (changes.first()?, changes.last()?);
    Some(Part {
        before: first.before.start..last.before.end,
        after: first.after.start..last.after.end,
    })
}

/// A short word for some texts, the same for the same ones.
pub fn fingerprint<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    hasher.finalize().to_hex()[..12].to_owned()
}

/// A text and where its lines end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Text {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Text {
    fn new(bytes: &[u8]) -> Self {
        let mut end = 0;
        let ends = byte_lines(bytes).map(|line| {
            end += line.len();
            end
        });
        Self { ends: ends.collect(), bytes: bytes.to_vec() }
    }

    fn count(&self) -> u32 {
        u32::try_from(self.ends.len()).unwrap_or(u32::MAX)
    }

    /// The bytes of some lines; lines beyond the last are empty.
    fn lines(&self, range: &Range<u32>) -> &[u8] {
        let place = |line: u32| match line {
            0 => 0,
            _ => self.ends.get(line as usize - 1).copied().unwrap_or(self.bytes.len()),
        };
        &self.bytes[place(range.start)..place(range.end)]
    }

    fn line(&self, kind: LineKind, number: u32) -> Line {
        line(kind, self.lines(&(number..number + 1)))
    }
}

#[cfg(test)]
mod tests;
