//! Any choice of parts must apply: checked with random texts against what the hunks themselves say.

use super::*;
use crate::lines::{TextOptions, diff_text};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// Lines from a small vocabulary, with every kind of line end; the last one sometimes without any.
    fn text(&mut self, most_lines: usize) -> Vec<u8> {
        const LINES: [&[u8]; 7] =
            [b"\n", b"}\n", b"  x\n", b"\r\n", b"y\r\n", b"caf\xff\n", b"long line\n"];
        let mut text: Vec<u8> = Vec::new();
        for _ in 0..self.below(most_lines + 1) {
            text.extend_from_slice(LINES[self.below(LINES.len())]);
        }
        if self.below(3) == 0 {
            text.pop();
        }
        text
    }

    fn edit(&mut self, text: &[u8]) -> Vec<u8> {
        let mut edited = Vec::new();
        for line in byte_lines(text) {
            match self.below(8) {
                0 => {}
                1 => edited.extend_from_slice(&[line, line].concat()),
                2 => edited.extend_from_slice(&self.text(3)),
                _ => edited.extend_from_slice(line),
            }
        }
        edited
    }
}

fn all<'p>(parts: &'p [Part], take: Take<'p>) -> impl Iterator<Item = (&'p Part, Take<'p>)> {
    parts.iter().map(move |part| (part, take))
}

/// Texts at random, and the divisions of their differences, from coarse to fine.
fn cases(mut check: impl FnMut(&TextPick, &[Part], &mut Random)) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..600 {
        let before = random.text(30);
        let after = random.edit(&before);
        let pick = TextPick::new(&before, &after);
        let hunks = pick.hunks(random.below(4) as u32);
        let lines = |parts: &[Part]| -> Vec<Part> {
            parts.iter().flat_map(|part| pick.split(part)).collect()
        };
        let split = lines(&hunks);
        let finest = lines(pick.changes());
        for parts in [&hunks[..], pick.changes(), &split, &finest] {
            check(&pick, parts, &mut random);
        }
    }
}

#[test]
fn all_is_after_and_none_is_before() {
    cases(|pick, parts, _| {
        assert_eq!(pick.compose(all(parts, Take::After)), pick.whole_after());
        assert_eq!(pick.compose(all(parts, Take::Before)), pick.whole_before());
        assert_eq!(pick.compose([]), pick.whole_before());
    });
}

/// What was not taken is still to be taken: applying the rest later leads to the same text.
#[test]
fn whole_changes_can_be_taken_in_any_order() {
    cases(|pick, _, random| {
        let parts = pick.changes();
        let taken: Vec<bool> = parts.iter().map(|_| random.below(2) == 0).collect();
        let choose = |wanted: bool| {
            let chosen = parts.iter().zip(&taken);
            chosen.map(move |(p, t)| (p, if *t == wanted { Take::After } else { Take::Before }))
        };
        let half = pick.compose(choose(true));
        // The lines that were there before a choice are found again after it, moved by what was chosen above them.
        let mut shift = 0i64;
        let moved: Vec<Part> = parts
            .iter()
            .zip(&taken)
            .filter_map(|(part, taken)| {
                if *taken {
                    shift += part.after.len() as i64 - part.before.len() as i64;
                    return None;
                }
                let at = |line: u32| u32::try_from(i64::from(line) + shift).unwrap();
                let before = at(part.before.start)..at(part.before.end);
                Some(Part { before, after: part.after.clone() })
            })
            .collect();
        let rest = TextPick::new(&half, pick.whole_after());
        let finished = rest.compose(moved.iter().map(|part| (part, Take::After)));
        assert_eq!(finished, pick.whole_after());
    });
}

/// Between lines that stay, each line of a subset is whole: no two lines are glued together.
#[test]
fn any_subset_has_whole_lines_of_either_text() {
    cases(|pick, parts, random| {
        let take = |random: &mut Random| match random.below(2) {
            0 => Take::Before,
            _ => Take::After,
        };
        let picks: Vec<(&Part, Take<'_>)> = parts.iter().map(|p| (p, take(random))).collect();
        let lines = |text: &[u8]| -> Vec<Vec<u8>> {
            byte_lines(text).map(|line| trimmed(line).to_vec()).collect()
        };
        let mut expected = Vec::new();
        let mut at = 0;
        for (part, take) in &picks {
            expected.extend(lines(pick.before.lines(&(at..part.before.start))));
            expected.extend(match take {
                Take::After => lines(pick.new_text(part)),
                _ => lines(pick.old(part)),
            });
            at = part.before.end;
        }
        expected.extend(lines(pick.before.lines(&(at..pick.before.count()))));
        assert_eq!(lines(&pick.compose(picks)), expected);
    });
}

fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[test]
fn hunks_are_shown_as_a_diff_shows_them() {
    let mut random = Random(77);
    for _ in 0..600 {
        let before = random.text(30);
        let after = random.edit(&before);
        let context = random.below(4) as u32;
        let pick = TextPick::new(&before, &after);
        let shown: Vec<Hunk> =
            pick.hunks(context).iter().map(|part| pick.shown(part, context)).collect();
        assert_eq!(shown, diff_text(&before, &after, &TextOptions { context }).hunks);
    }
}

#[test]
fn a_hunk_is_divided_into_changes_and_then_into_lines() {
    let pick = TextPick::new(b"a\nb\nc\nd\n", b"A\nb\nC\nD\nE\n");
    let hunks = pick.hunks(3);
    assert_eq!(hunks, [Part { before: 0..4, after: 0..5 }]);
    let changes = pick.split(&hunks[0]);
    assert_eq!(changes, [Part { before: 0..1, after: 0..1 }, Part { before: 2..4, after: 2..5 }]);
    let lines = pick.split(&changes[1]);
    let expected = [(2..3, 2..3), (3..4, 3..4), (4..4, 4..5)];
    assert_eq!(lines, expected.map(|(before, after)| Part { before, after }));
    assert_eq!(pick.split(&lines[2]), lines[2..]);
    // A line of a change has no unchanged lines on the sides where the rest of the change lies.
    let shown = pick.shown(&lines[1], 3);
    assert_eq!((shown.before_lines, shown.after_lines), (1, 1));
    let text = pick.compose([(&lines[0], Take::After), (&lines[2], Take::After)]);
    assert_eq!(text, b"a\nb\nC\nd\nE\n");
}

#[test]
fn other_lines_can_stand_in_a_parts_place() {
    let pick = TextPick::new(b"a\nb\nc\n", b"a\nB\nc\n");
    let part = pick.changes()[0].clone();
    assert_eq!(pick.compose([(&part, Take::Other(b"1\n2\n"))]), b"a\n1\n2\nc\n");
    assert_eq!(pick.compose([(&part, Take::Other(b"no end"))]), b"a\nno end\nc\n");
    assert_eq!(pick.compose([(&part, Take::Other(b""))]), b"a\nc\n");
}

#[test]
fn missing_newlines_stay_missing_and_lines_never_join() {
    let pick = TextPick::new(b"a", b"a\nb");
    let change = &pick.changes()[0];
    assert_eq!(pick.compose([(change, Take::Before)]), b"a");
    assert_eq!(pick.compose([(change, Take::After)]), b"a\nb");
    let lines = pick.split(change);
    assert_eq!(pick.compose([(&lines[0], Take::Before), (&lines[1], Take::After)]), b"a\nb");
    let pick = TextPick::new(b"1\r\n2", b"1\r\n2\r\n3\r\n");
    let lines = pick.split(&pick.changes()[0]);
    assert_eq!(pick.compose([(&lines[1], Take::After)]), b"1\r\n2\r\n3\r\n");
}

#[test]
fn a_fingerprint_is_of_the_part_alone() {
    let one = TextPick::new(b"a\nb\nc\n", b"a\nB\nc\n");
    let other = TextPick::new(b"x\ny\na\nb\nc\n", b"x\na\nB\nc\n");
    let (part, same) = (&one.changes()[0], &other.changes()[1]);
    assert_eq!(one.fingerprint(b"/f", part), other.fingerprint(b"/f", same));
    assert_ne!(one.fingerprint(b"/f", part), one.fingerprint(b"/g", part));
    assert_ne!(other.fingerprint(b"/f", &other.changes()[0]), other.fingerprint(b"/f", same));
    assert_eq!(one.fingerprint(b"/f", part).len(), 12);
}
