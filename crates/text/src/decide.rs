//! Deciding what stands between conflict markers for one side. All other lines of the text stay.

use crate::markers::{has_markers_of, run};

/// The side that a text is decided for.
#[derive(Clone, Copy, Debug)]
pub struct Pick<'a> {
    /// What the side is called; nothing for the base.
    pub label: Option<&'a str>,
    /// The whole text that it has.
    pub version: &'a [u8],
}

/// One conflict between its markers.
#[derive(Default)]
struct Block<'t> {
    /// Each side's lines with the labels of those who want them.
    parts: Vec<(&'t [u8], Vec<&'t [u8]>)>,
    base: Option<Vec<&'t [u8]>>,
}

/// Where the lines that are read belong.
enum At<'t> {
    Outside,
    Side(&'t [u8]),
    Base,
}

impl Pick<'_> {
    /// The text with the side's lines in the place of each conflict that has markers of these lengths. A side without lines of its own in
    /// a conflict left it as it was in the base. Nothing where markers are incomplete, or it cannot be told which lines are the side's.
    pub fn apply(&self, text: &[u8], lengths: &[usize]) -> Option<Vec<u8>> {
        let mut lengths = lengths.to_vec();
        lengths.sort_unstable();
        let mut text = text.to_vec();
        // Who merges a text with markers again makes longer ones, which may have the others between them.
        for length in lengths.iter().rev() {
            text = self.decide(&text, *length)?;
        }
        Some(text)
    }

    fn decide(&self, text: &[u8], length: usize) -> Option<Vec<u8>> {
        let mut out: Vec<u8> = Vec::with_capacity(text.len());
        let mut block = Block::default();
        let mut at = At::Outside;
        let mut lines: Vec<&[u8]> = Vec::new();
        let mut ended_with_block = false;
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let marker = marker(line, length);
            ended_with_block = matches!(marker, Some((b'>', _)));
            at = match (marker, at) {
                (None, At::Outside) => {
                    out.extend_from_slice(line);
                    At::Outside
                }
                (None, inside) => {
                    lines.push(line);
                    inside
                }
                (Some((b'<', label)), At::Outside) => At::Side(label),
                (Some((b'|', _)), At::Side(label)) if block.base.is_none() => {
                    block.parts.push((label, std::mem::take(&mut lines)));
                    At::Base
                }
                (Some((b'=', label)), At::Base) => {
                    block.base = Some(std::mem::take(&mut lines));
                    At::Side(label)
                }
                (Some((b'=', label)), At::Side(before)) if block.base.is_some() => {
                    block.parts.push((before, std::mem::take(&mut lines)));
                    At::Side(label)
                }
                (Some((b'>', label)), At::Side(b"")) if block.base.is_some() => {
                    block.parts.push((label, std::mem::take(&mut lines)));
                    let block = std::mem::take(&mut block);
                    self.lines(&block, length)?.iter().for_each(|line| out.extend_from_slice(line));
                    At::Outside
                }
                _ => return None,
            };
        }
        if !matches!(at, At::Outside) {
            return None;
        }
        if ended_with_block && !self.version.ends_with(b"\n") {
            // A last line without a newline got one for the marker after it.
            let kept = out.strip_suffix(b"\r\n").or(out.strip_suffix(b"\n")).map(<[u8]>::len);
            out.truncate(kept.unwrap_or(out.len()));
        }
        Some(out)
    }

    /// The side's lines in a conflict.
    fn lines<'b, 't>(&self, block: &'b Block<'t>, length: usize) -> Option<&'b [&'t [u8]]> {
        let base = block.base.as_deref()?;
        let Some(label) = self.label else { return Some(base) };
        let label: String = label.replace('\n', " ");
        let mut own = block.parts.iter().filter(|(labels, _)| is_among(&label, labels));
        match (own.next(), own.next()) {
            (Some((_, lines)), None) => Some(lines),
            // The conflict may be older than the side, which has it between markers itself then.
            (None, _) if !has_markers_of(self.version, length) => {
                contains(self.version, &base.concat()).then_some(base)
            }
            _ => None,
        }
    }
}

/// The kind and the label of a marker of this length.
fn marker(line: &[u8], length: usize) -> Option<(u8, &[u8])> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let (byte, _) = run(line).filter(|(_, found)| *found == length)?;
    let label = &line[length..];
    let label = label.strip_suffix(b"\r").unwrap_or(label);
    Some((byte, label.strip_prefix(b" ").unwrap_or(label)))
}

/// Whether a label is one of those that a marker names.
fn is_among(label: &str, labels: &[u8]) -> bool {
    let labels = String::from_utf8_lossy(labels);
    labels == label || labels.split(", ").any(|other| other == label)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests;
