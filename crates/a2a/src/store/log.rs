//! The bytes of the log: entries with their lengths and checksums.

use twox_hash::XxHash3_64;

/// What every log begins with.
pub(super) const MAGIC: &[u8] = b"offshoot-a2a-tasks 1\n";
/// Length, its complement, and the checksum of what follows.
const HEAD: usize = 16;
/// No entry is longer; a task with all its artifacts is one.
const LONGEST: usize = 1 << 30;

/// What stands at some place of a log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    /// An entry, and where the next one begins.
    Entry(&'a [u8], usize),
    /// The log ends here.
    End,
    /// An entry that was not written to its end: the log ends before it.
    Torn,
    /// Something that was never written so.
    Damaged(&'static str),
}

/// Puts an entry behind others.
pub(super) fn append(log: &mut Vec<u8>, entry: &[u8]) {
    let length = u32::try_from(entry.len()).unwrap_or(u32::MAX);
    log.extend(length.to_le_bytes());
    log.extend((!length).to_le_bytes());
    log.extend(XxHash3_64::oneshot(entry).to_le_bytes());
    log.extend(entry);
}

/// Whether an entry can be written at all.
pub(super) fn fits(entry: &[u8]) -> bool {
    entry.len() <= LONGEST
}

/// Reads what stands at a place.
///
/// Whoever is killed while writing leaves a beginning of an entry, or a file that is long enough and has zeros at its end. Anything
/// else is damage, and is not taken for an end.
pub(super) fn read(log: &[u8], at: usize) -> Found<'_> {
    let rest = &log[at.min(log.len())..];
    if rest.is_empty() {
        return Found::End;
    }
    let is_blank = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    let Some((head, body)) = rest.split_at_checked(HEAD) else { return Found::Torn };
    let length = word(&head[..4]);
    if word(&head[4..8]) != !length {
        return if is_blank(&rest[8..]) {
            Found::Torn
        } else {
            Found::Damaged("a length is wrong")
        };
    }
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > LONGEST {
        return Found::Damaged("an entry is too long");
    }
    let Some(entry) = body.get(..length) else { return Found::Torn };
    let mut sum = [0; 8];
    sum.copy_from_slice(&head[8..]);
    if XxHash3_64::oneshot(entry) == u64::from_le_bytes(sum) {
        return Found::Entry(entry, at + HEAD + length);
    }
    // The end of the last entry may be missing although its length is there.
    let ends_blank = entry.last() == Some(&0) || is_blank(&head[8..]);
    match is_blank(&body[length..]) && ends_blank {
        true => Found::Torn,
        false => Found::Damaged("a checksum is wrong"),
    }
}

fn word(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(bytes);
    u32::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Vec<u8> {
        let mut log = Vec::new();
        append(&mut log, b"one");
        append(&mut log, b"");
        append(&mut log, b"three");
        log
    }

    /// All entries, and what comes behind them.
    fn entries(log: &[u8]) -> (Vec<&[u8]>, Found<'_>) {
        let (mut found, mut at) = (Vec::new(), 0);
        loop {
            match read(log, at) {
                Found::Entry(entry, next) => {
                    found.push(entry);
                    at = next;
                }
                other => return (found, other),
            }
        }
    }

    #[test]
    fn entries_come_back() {
        assert_eq!(entries(&log()), (vec![&b"one"[..], b"", b"three"], Found::End));
    }

    #[test]
    fn a_cut_is_a_torn_end_and_a_flipped_bit_is_damage() {
        let log = log();
        for cut in 0..log.len() {
            let (found, end) = entries(&log[..cut]);
            let whole = [19, 35].iter().filter(|end| **end <= cut).count();
            assert_eq!(found.len(), whole, "{cut}");
            assert_eq!(end == Found::End, [0, 19, 35].contains(&cut), "{cut}");
            assert!(matches!(end, Found::End | Found::Torn));
            // The rest of the last block of a file system.
            let mut blank = log[..cut].to_vec();
            blank.resize(log.len() + 40, 0);
            let (_, end) = entries(&blank);
            assert!(matches!(end, Found::Torn | Found::Damaged(_)), "{cut}");
        }
        for bit in 0..log.len() * 8 {
            let mut flipped = log.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(entries(&flipped).1, Found::Damaged(_)), "{bit}");
        }
    }
}
