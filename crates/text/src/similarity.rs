//! How alike two files are, to recognise renames.
//!
//! Like git, a file is cut into pieces at each newline and at most 64 bytes apart, and two files
//! are as alike as the share of the larger one's bytes that lies in pieces both have. The order of
//! the pieces does not count.

/// How alike two contents are, in percent: 100 exactly when they are identical, 0 when they share
/// no piece.
pub fn similarity(before: &[u8], after: &[u8]) -> u8 {
    if before == after {
        return IDENTICAL;
    }
    Fingerprint::of(before).similarity(&Fingerprint::of(after))
}

/// What is needed to compare one file with many others: built once per file, and compared without
/// reading the content again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// The hash of the whole content, which tells identical files from reordered ones.
    whole: blake3::Hash,
    /// The length of the content in bytes.
    size: u64,
    /// The distinct pieces, ordered by hash.
    pieces: Vec<Piece>,
}

/// A distinct piece of a file. Both fields are narrow because a directory of renamed files means
/// many fingerprints in memory; a rare collision costs a fraction of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    hash: u32,
    /// The bytes of all its occurrences together.
    bytes: u32,
}

const IDENTICAL: u8 = 100;
const LONGEST_PIECE: usize = 64;

impl Fingerprint {
    /// Reads the content once.
    pub fn of(content: &[u8]) -> Self {
        Self {
            whole: blake3::hash(content),
            size: content.len() as u64,
            pieces: distinct(cut(content).map(piece).collect()),
        }
    }

    /// How alike the two contents are, as [`similarity`] would say.
    pub fn similarity(&self, other: &Self) -> u8 {
        if self.whole == other.whole {
            return IDENTICAL;
        }
        let larger = self.size.max(other.size).max(1);
        let percent = shared_bytes(&self.pieces, &other.pieces).saturating_mul(100) / larger;
        u8::try_from(percent).map_or(IDENTICAL - 1, |percent| percent.min(IDENTICAL - 1))
    }
}

fn cut(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').flat_map(|line| line.chunks(LONGEST_PIECE))
}

/// A carriage return before a newline does not count, so that a file whose line endings were
/// converted is still recognised.
fn piece(bytes: &[u8]) -> Piece {
    let hash = match bytes.strip_suffix(b"\r\n") {
        Some(line) => hash(line.iter().chain(b"\n")),
        None => hash(bytes),
    };
    Piece { hash, bytes: bytes.len() as u32 }
}

/// FNV-1a, folded: quick for short input, and stable, so equal files give equal fingerprints
/// everywhere.
fn hash<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> u32 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
    let hash = bytes.into_iter().fold(START, step);
    (hash ^ (hash >> 32)) as u32
}

/// Orders pieces and adds up the bytes of equal ones.
fn distinct(mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.sort_unstable();
    pieces.dedup_by(|next, kept| {
        let same = next.hash == kept.hash;
        if same {
            kept.bytes = kept.bytes.saturating_add(next.bytes);
        }
        same
    });
    pieces.shrink_to_fit();
    pieces
}

/// The bytes in pieces that both have, each counted as often as both have it.
fn shared_bytes(mut left: &[Piece], mut right: &[Piece]) -> u64 {
    let mut shared = 0;
    while let ([first, left_rest @ ..], [second, right_rest @ ..]) = (left, right) {
        if first.hash == second.hash {
            shared += u64::from(first.bytes.min(second.bytes));
        }
        if first.hash <= second.hash {
            left = left_rest;
        }
        if second.hash <= first.hash {
            right = right_rest;
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(lines: std::ops::Range<u32>) -> String {
        lines.map(|line| format!("line {line:04}\n")).collect()
    }

    fn percent(before: impl AsRef<[u8]>, after: impl AsRef<[u8]>) -> u8 {
        let (before, after) = (before.as_ref(), after.as_ref());
        let result = similarity(before, after);
        assert_eq!(result, similarity(after, before), "not symmetric");
        let (first, second) = (Fingerprint::of(before), Fingerprint::of(after));
        assert_eq!(result, first.similarity(&second));
        result
    }

    #[test]
    fn only_identical_files_are_fully_alike() {
        assert_eq!(percent(numbered(0..50), numbered(0..50)), 100);
        assert_eq!(percent("", ""), 100);
        assert_eq!(percent("a\nb\n", "b\na\n"), 99);
        let large = numbered(0..50_000);
        assert_eq!(percent(&large, large.replace("line 0007\n", "line seven\n")), 99);
    }

    #[test]
    fn unrelated_and_empty_files_are_not_alike() {
        assert_eq!(percent(numbered(0..50), numbered(100..150)), 0);
        assert_eq!(percent("", numbered(0..50)), 0);
    }

    #[test]
    fn bytes_count_not_lines() {
        assert_eq!(percent(numbered(0..100), numbered(0..80)), 80);
        assert_eq!(percent(numbered(0..100), numbered(50..150)), 50);
        let heavy = "x".repeat(60);
        let (before, after) = (format!("{heavy}\na\nb\nc\n"), format!("{heavy}\nd\ne\nf\n"));
        assert_eq!(percent(before, after), 91); // 61 of 67 bytes
    }

    #[test]
    fn repeated_pieces_count_as_often_as_both_have_them() {
        assert_eq!(percent("same\n".repeat(10), "same\n".repeat(4)), 40);
        let mixed = "same\n".repeat(3) + &"else\n".repeat(7);
        assert_eq!(percent("same\n".repeat(10), mixed), 30);
    }

    #[test]
    fn long_lines_are_compared_in_pieces() {
        let before: Vec<u8> = (0..64_000u32).map(|at| (at / 64 % 251) as u8 | 0x80).collect();
        let mut after = before.clone();
        after[..6400].fill(b'x');
        let result = percent(&before, &after);
        assert!((89..=91).contains(&result), "{result}");
    }

    #[test]
    fn converted_line_endings_stay_recognisable() {
        let text = numbered(0..50);
        assert_eq!(percent(&text, text.replace('\n', "\r\n")), 90);
    }

    /// git's own verdict on the same pair, from its rename detection.
    #[test]
    fn agrees_with_git() {
        for (kept, total) in [(60, 100), (75, 100), (90, 95), (51, 60)] {
            let (before, after) = (numbered(0..total), numbered(0..kept) + &numbered(500..510));
            let (ours, theirs) = (percent(&before, &after), git_similarity(&before, &after));
            assert!(ours.abs_diff(theirs) <= 1, "{ours} against git's {theirs}");
        }
    }

    fn git_similarity(before: &str, after: &str) -> u8 {
        let root = tempfile::tempdir().unwrap();
        for (directory, name, text) in [("a", "old", before), ("b", "new", after)] {
            std::fs::create_dir(root.path().join(directory)).unwrap();
            std::fs::write(root.path().join(directory).join(name), text).unwrap();
        }
        let output = std::process::Command::new("git")
            .args(["diff", "--no-index", "-M10%", "a", "b"])
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(root.path())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let percent = text.lines().find_map(|line| line.strip_prefix("similarity index "));
        percent.unwrap().trim_end_matches('%').parse().unwrap()
    }
}
