//! Conflicts inside a text, written so that a person can resolve them, and recognised again.

use crate::merge::{Piece, Region, TextMerge};

/// As long as git's.
const SHORTEST: usize = 7;

/// Merges texts and writes what does not fit between markers, in the style of diff3. Each side comes with its label.
///
/// Between `<<<<<<<` and `|||||||` stands the first side, then the base up to `=======`, then the last side up to `>>>>>>>`.
/// Sides between those two follow a `=======` with their label. Sides that agree are shown once, those that did not change
/// the lines are left out. Markers are longer than any line of the texts that looks like one.
pub fn markers(base: &[u8], base_label: &str, sides: &[(&str, &[u8])]) -> Vec<u8> {
    let texts: Vec<&[u8]> = sides.iter().map(|(_, text)| *text).collect();
    let labels: Vec<&str> = sides.iter().map(|(label, _)| *label).collect();
    let length = marker_length(&[&[base], texts.as_slice()].concat());
    with_markers(&TextMerge::of(base, &texts), base_label, &labels, length)
}

/// Writes merged texts, and what does not fit between markers of this length. There is a label for each side.
pub fn with_markers(
    merge: &TextMerge<'_>,
    base_label: &str,
    labels: &[&str],
    length: usize,
) -> Vec<u8> {
    Writer::new(merge, base_label, labels, length).write()
}

/// Merges texts and takes all lines where they do not fit: those of the first side first, equal ones once.
pub fn union(base: &[u8], sides: &[&[u8]]) -> Vec<u8> {
    let merge = TextMerge::of(base, sides);
    let labels = vec![""; sides.len()];
    let mut writer = Writer::new(&merge, "", &labels, 0);
    for piece in &merge.pieces {
        match piece {
            Piece::Clean { version, lines } => writer.text(merge.lines(*version, lines)),
            Piece::Conflict(region) => {
                for (_, text) in writer.distinct(region) {
                    writer.end_line();
                    writer.text(text);
                }
            }
        }
    }
    writer.out
}

/// The shortest length of markers that no line of these texts can be taken for.
pub fn marker_length(texts: &[&[u8]]) -> usize {
    let lines = texts.iter().flat_map(|text| text.split(|&byte| byte == b'\n'));
    let longest = lines.filter_map(run).map(|(_, length)| length).max().unwrap_or(0);
    if longest < SHORTEST { SHORTEST } else { longest + 1 }
}

/// Whether a text still has conflict markers of some length: one that opens a conflict and one that closes it.
pub fn has_markers(text: &[u8]) -> bool {
    let mut opened: Vec<usize> = Vec::new();
    for (byte, length) in text.split(|&byte| byte == b'\n').filter_map(run) {
        match byte {
            b'<' if length >= SHORTEST => opened.push(length),
            b'>' if opened.contains(&length) => return true,
            _ => {}
        }
    }
    false
}

/// Whether a text still has any marker of the length that [`marker_length`] gave when it was written; a single one that was
/// forgotten counts.
pub fn has_markers_of(text: &[u8], length: usize) -> bool {
    text.split(|&byte| byte == b'\n').filter_map(run).any(|(_, found)| found == length)
}

/// The byte and the length of the run that a line starts with, if the line could be a marker.
pub(crate) fn run(line: &[u8]) -> Option<(u8, usize)> {
    let first = *line.first().filter(|byte| b"<|=>".contains(byte))?;
    let length = line.iter().take_while(|byte| **byte == first).count();
    matches!(line.get(length), None | Some(b' ' | b'\r')).then_some((first, length))
}

/// Writes a merged text with its conflicts.
struct Writer<'a> {
    merge: &'a TextMerge<'a>,
    base_label: &'a str,
    labels: &'a [&'a str],
    length: usize,
    /// How lines end: as the first one does.
    newline: &'static [u8],
    out: Vec<u8>,
}

impl<'a> Writer<'a> {
    fn new(
        merge: &'a TextMerge<'a>,
        base_label: &'a str,
        labels: &'a [&'a str],
        length: usize,
    ) -> Self {
        let first = merge.versions.iter().find_map(|lines| lines.first());
        let newline: &[u8] =
            if first.is_some_and(|line| line.ends_with(b"\r\n")) { b"\r\n" } else { b"\n" };
        Self { merge, base_label, labels, length, newline, out: Vec::new() }
    }

    fn write(mut self) -> Vec<u8> {
        for piece in &self.merge.pieces {
            match piece {
                Piece::Clean { version, lines } => self.text(self.merge.lines(*version, lines)),
                Piece::Conflict(region) => self.conflict(region),
            }
        }
        self.out
    }

    fn conflict(&mut self, region: &Region) {
        let sides = self.distinct(region);
        let Some(((last_label, last), others)) = sides.split_last() else { return };
        for (at, (label, text)) in others.iter().enumerate() {
            self.marker(if at == 0 { b'<' } else { b'=' }, label);
            self.text(text);
            if at == 0 {
                self.marker(b'|', self.base_label);
                self.text(self.merge.lines(0, &region.base));
            }
        }
        self.marker(b'=', "");
        self.text(last);
        self.marker(b'>', last_label);
    }

    /// The different texts of a region with the labels of those who want them.
    fn distinct(&self, region: &Region) -> Vec<(String, &'a [&'a [u8]])> {
        let merge = self.merge;
        let mut found: Vec<(String, &[&[u8]])> = Vec::new();
        for &side in &region.changed {
            let (label, text) = (self.labels[side], merge.lines(side + 1, &region.sides[side]));
            match found.iter_mut().find(|(_, other)| *other == text) {
                Some((labels, _)) => *labels = format!("{labels}, {label}"),
                None => found.push((label.to_owned(), text)),
            }
        }
        found
    }

    fn marker(&mut self, byte: u8, label: &str) {
        self.end_line();
        self.out.extend(std::iter::repeat_n(byte, self.length));
        if !label.is_empty() {
            self.out.push(b' ');
            self.out.extend(label.bytes().map(|byte| if byte == b'\n' { b' ' } else { byte }));
        }
        self.out.extend_from_slice(self.newline);
    }

    fn text(&mut self, lines: &[&[u8]]) {
        lines.iter().for_each(|line| self.out.extend_from_slice(line));
    }

    /// A side that ends without a newline gets one before a marker, which would not be one otherwise.
    fn end_line(&mut self) {
        if self.out.last().is_some_and(|last| *last != b'\n') {
            self.out.extend_from_slice(self.newline);
        }
    }
}

#[cfg(test)]
mod tests;
