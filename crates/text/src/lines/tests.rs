//! Hunks are applied to the old text by a strict reader and must give the new one.

use super::*;

/// A small deterministic generator (xorshift), so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// A text of lines from a small vocabulary, so that lines repeat and changes can slide.
    fn text(&mut self, most_lines: usize) -> Vec<u8> {
        const WORDS: [&[u8]; 9] =
            [b"", b"}", b"  x", b"\ty", b"\r", b"caf\xff\xfe", b"a\0b", b"long line", b"    "];
        let mut text = Vec::new();
        for _ in 0..self.below(most_lines + 1) {
            text.extend_from_slice(WORDS[self.below(WORDS.len())]);
            text.push(b'\n');
        }
        if self.below(3) == 0 {
            text.pop();
        }
        text
    }

    /// The text with some lines dropped, doubled or replaced.
    fn edit(&mut self, text: &[u8]) -> Vec<u8> {
        let mut edited = Vec::new();
        for line in byte_lines(text) {
            match self.below(12) {
                0 => {}
                1 => edited.extend_from_slice(&[line, line].concat()),
                2 => edited.extend_from_slice(&self.text(3)),
                _ => edited.extend_from_slice(line),
            }
        }
        edited
    }
}

fn diff(before: &[u8], after: &[u8], context: u32) -> TextDiff {
    diff_text(before, after, &TextOptions { context })
}

/// Applies hunks strictly: every context and removed line must be found exactly where the hunk
/// says.
fn apply(before: &[u8], hunks: &[Hunk]) -> Vec<u8> {
    let source: Vec<&[u8]> = byte_lines(before).collect();
    let mut result: Vec<Vec<u8>> = Vec::new();
    let mut position = 0;
    for hunk in hunks {
        let start = hunk.before_start as usize - usize::from(hunk.before_lines > 0);
        result.extend(source[position..start].iter().map(|line| line.to_vec()));
        position = start;
        assert_eq!(hunk.after_start as usize, result.len() + usize::from(hunk.after_lines > 0));
        let lines_so_far = result.len();
        for line in &hunk.lines {
            let mut bytes = line.text.clone();
            bytes.extend(line.newline.then_some(b'\n'));
            if line.kind != LineKind::Added {
                assert_eq!(source[position], bytes);
                position += 1;
            }
            if line.kind != LineKind::Removed {
                result.push(bytes);
            }
        }
        assert_eq!(position - start, hunk.before_lines as usize);
        assert_eq!(result.len() - lines_so_far, hunk.after_lines as usize);
    }
    result.extend(source[position..].iter().map(|line| line.to_vec()));
    result.concat()
}

fn check(before: &[u8], after: &[u8], context: u32) {
    let diff = diff(before, after, context);
    assert_eq!(apply(before, &diff.hunks), after);
    let count = |kind| {
        diff.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == kind).count()
    };
    assert_eq!(
        (diff.added, diff.removed),
        (count(LineKind::Added) as u64, count(LineKind::Removed) as u64)
    );
    assert_eq!((diff.added, diff.removed), count_changes(before, after));
    let edges = |hunk: &Hunk| {
        let context = |line: &&Line| line.kind == LineKind::Context;
        hunk.lines
            .iter()
            .take_while(context)
            .count()
            .max(hunk.lines.iter().rev().take_while(context).count())
    };
    assert!(diff.hunks.iter().all(|hunk| edges(hunk) <= context as usize));
}

#[test]
fn hunks_turn_before_into_after() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..4000 {
        let before = random.text(40);
        let after = if round % 4 == 0 { random.text(40) } else { random.edit(&before) };
        for context in [0, 1, 3, u32::MAX] {
            check(&before, &after, context);
        }
    }
}

#[test]
fn edges_of_files() {
    let cases: [&[u8]; 9] =
        [b"", b"\n", b"a", b"a\n", b"a\r\n", b"a\n\n", b"b\na", b"\xff\n\xfe", b"a\n\r\n"];
    for before in cases {
        for after in cases {
            check(before, after, 3);
        }
    }
}

#[test]
fn empty_sides_start_at_zero() {
    let added = diff(b"", b"a\nb", 3);
    assert_eq!((added.hunks[0].before_start, added.hunks[0].before_lines), (0, 0));
    assert_eq!((added.hunks[0].after_start, added.hunks[0].after_lines), (1, 2));
    assert!(added.hunks[0].lines[0].newline && !added.hunks[0].lines[1].newline);
    let inserted = diff(b"a\nb\n", b"a\nx\nb\n", 0);
    assert_eq!((inserted.hunks[0].before_start, inserted.hunks[0].after_start), (1, 2));
}

#[test]
fn a_lost_final_newline_is_a_change() {
    let diff = diff(b"a\n", b"a", 3);
    assert_eq!((diff.added, diff.removed), (1, 1));
    assert_eq!(
        diff.hunks[0].lines.iter().map(|line| line.newline).collect::<Vec<_>>(),
        [true, false]
    );
}

#[test]
fn changes_share_a_hunk_up_to_twice_the_context() {
    let text = |between: usize| {
        let middle = "same\n".repeat(between);
        (format!("a\n{middle}b\n"), format!("A\n{middle}B\n"))
    };
    let hunks = |between| {
        let (before, after) = text(between);
        diff(before.as_bytes(), after.as_bytes(), 3).hunks.len()
    };
    assert_eq!((hunks(6), hunks(7)), (1, 2));
}

#[test]
fn insertions_are_placed_at_the_natural_boundary() {
    let one = "fn one() {\n    1\n}\n\n";
    let two = "fn two() {\n    2\n}\n\n";
    let three = "fn three() {\n    3\n}\n";
    let diff = diff(format!("{one}{three}").as_bytes(), format!("{one}{two}{three}").as_bytes(), 0);
    assert_eq!(diff.hunks[0].lines[0].text, b"fn two() {");
}

#[test]
fn binary_is_a_nul_in_the_first_8000_bytes() {
    let mut bytes = vec![b'a'; 9000];
    bytes[8000] = 0;
    assert!(!is_binary(&bytes) && !is_binary(b""));
    bytes[7999] = 0;
    assert!(is_binary(&bytes));
}

/// Every second line changed is the worst case of the histogram algorithm; unbounded it takes
/// minutes here.
#[test]
fn large_files_with_scattered_changes_stay_fast() {
    let text = |salt: &str| -> String {
        let pairs = (0..100_000).map(|pair| format!("{pair}\n{salt}{pair}\n"));
        pairs.collect()
    };
    let (before, after) = (text("a"), text("b"));
    let started = std::time::Instant::now();
    check(before.as_bytes(), after.as_bytes(), 3);
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
}
