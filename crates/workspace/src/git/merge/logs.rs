//! What refs were: lines that are only ever added.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

/// The target's lines, and those that the other side added since the base; all of them where the target has no log.
pub(super) fn joined(base: &[u8], target: &[u8], other: &[u8]) -> Vec<u8> {
    let known: Vec<&[u8]> = if target.is_empty() { Vec::new() } else { vec![base, target] };
    let mut all = target.to_vec();
    if !all.is_empty() && !all.ends_with(b"\n") {
        all.push(b'\n');
    }
    all.extend(new_lines(&known, other));
    all
}

/// The lines of a log that none of the others has.
pub(super) fn new_lines(known: &[&[u8]], log: &[u8]) -> Vec<u8> {
    let known: BTreeSet<&[u8]> = known.iter().flat_map(|text| lines(text)).collect();
    let new = lines(log).filter(|line| !known.contains(line));
    new.flat_map(|line| line.iter().copied().chain([b'\n'])).collect()
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// What each line says was done.
pub(super) fn messages(log: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines(log).map(|line| line.split(|byte| *byte == b'\t').nth(1).unwrap_or_default())
}

/// What each line says that the ref became.
pub(super) fn values(log: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines(log).filter_map(|line| line.split(|byte| *byte == b' ').nth(1))
}

/// What the last line says that the ref is.
pub(super) fn last_value(log: &[u8]) -> Option<&[u8]> {
    let line = log.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty())?;
    line.split(|byte| *byte == b' ').nth(1)
}

/// A line that says that the ref was moved here.
pub(super) fn line(from: Option<&[u8]>, to: &[u8], why: &str) -> Vec<u8> {
    let zeros = vec![b'0'; to.len()];
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let from = from.filter(|from| from.len() == to.len()).unwrap_or(&zeros);
    let mut line = [from, b" ", to].concat();
    line.extend_from_slice(format!(" offshoot <offshoot> {seconds} +0000\t{why}\n").as_bytes());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_stay() {
        assert_eq!(joined(b"a\n", b"a\nb\n", b"a\nc\n"), b"a\nb\nc\n");
        assert_eq!(joined(b"a\n", b"", b"a\nc\n"), b"a\nc\n");
        assert_eq!(joined(b"a\nb\n", b"a\nb\n", b"b\nc\n"), b"a\nb\nc\n");
        assert_eq!(joined(b"", b"a\n", b""), b"a\n");
    }

    #[test]
    fn the_last_line_says_where_a_ref_is() {
        let text = line(None, b"1234", "why");
        assert!(text.starts_with(b"0000 1234 offshoot <offshoot> "), "{text:?}");
        assert_eq!(last_value(&[b"0 1 x\n".as_slice(), &text].concat()), Some(b"1234".as_slice()));
        assert_eq!(last_value(b""), None);
    }
}
