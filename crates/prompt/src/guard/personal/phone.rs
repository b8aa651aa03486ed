//! Phone numbers.

use super::character::{at, before, is_word};
use super::span::{PersonalKind, PersonalSpan};

/// How many digits a number with its country has.
const INTERNATIONAL: std::ops::RangeInclusive<usize> = 8..=15;
/// How many digits a number with its area has.
const NATIONAL: std::ops::RangeInclusive<usize> = 9..=11;

pub(super) fn find(text: &str) -> impl Iterator<Item = PersonalSpan> {
    let mut found: Vec<PersonalSpan> = Vec::new();
    for (start, c) in text.char_indices() {
        let begins = c == '+' || c == '(' || c.is_ascii_digit();
        let is_behind = found.last().is_none_or(|last| start >= last.end);
        let is_free = match before(text, start) {
            None => true,
            Some(':') if is_link(&text[..start]) => true,
            Some(before) if c == '+' && ":=(".contains(before) => true,
            Some(before) => !is_word(before) && !"+.,-/:=#".contains(before),
        };
        if begins
            && is_behind
            && is_free
            && let Some(end) = end(text, start)
        {
            found.push(PersonalSpan { kind: PersonalKind::PhoneNumber, start, end });
        }
    }
    found.into_iter()
}

/// Whether a text ends as a link to a phone begins.
fn is_link(before: &str) -> bool {
    const LINK: &[u8] = b"tel:";
    let end = before.len().checked_sub(LINK.len()).map(|at| &before.as_bytes()[at..]);
    end.is_some_and(|end| end.eq_ignore_ascii_case(LINK))
}

/// The groups of digits from a place on, and where the last one ends.
fn groups(text: &str, start: usize) -> (Vec<String>, usize) {
    let mut groups: Vec<String> = vec![String::new()];
    let (mut end, mut signs, mut digits) = (start, 0, 0);
    for (offset, c) in text[start..].char_indices() {
        let here = start + offset;
        match c {
            '0'..='9' => {
                if signs > 0 && groups.last().is_some_and(|group| !group.is_empty()) {
                    groups.push(String::new());
                }
                if let Some(group) = groups.last_mut() {
                    group.push(c);
                }
                (signs, end, digits) = (0, here + 1, digits + 1);
                // Two more than any number has, so that it is seen to be too long.
                if digits > INTERNATIONAL.end() + 2 {
                    break;
                }
            }
            '+' if offset == 0 => {}
            ' ' | '-' | '.' | '/' | '(' | ')' if signs < 2 => signs += 1,
            _ => break,
        }
    }
    groups.retain(|group| !group.is_empty());
    (groups, end)
}

fn end(text: &str, start: usize) -> Option<usize> {
    let (groups, end) = groups(text, start);
    let digits: String = groups.concat();
    let lengths: Vec<usize> = groups.iter().map(String::len).collect();
    let is_ended = at(text, end).is_none_or(|c| !is_word(c));
    let written = &text[start..end];
    let has_one_group = groups.len() == 1;
    let is_number = if written.starts_with('+') {
        INTERNATIONAL.contains(&digits.len()) && !digits.starts_with('0')
    } else if digits.starts_with("00") {
        // `00` and the country, such as `0044 20 …`; not a number that was filled up with zeros.
        !has_one_group
            && INTERNATIONAL.contains(&(digits.len() - 2))
            && !digits.starts_with("000")
            && !written.contains('.')
    } else if let Some(area) = written.strip_prefix('(') {
        NATIONAL.contains(&digits.len())
            && (2..=5).contains(&lengths[0])
            && area.find(')') == Some(lengths[0])
    } else {
        // 555-010-1234, and 1-555-010-1234.
        matches!(lengths.as_slice(), [3, 3, 4] | [1, 3, 3, 4])
            && !digits.starts_with('0')
            && !written.contains('/')
            && has_one_sign(written)
    };
    (is_number && is_ended).then_some(end)
}

/// The same sign stands between all groups.
fn has_one_sign(written: &str) -> bool {
    let mut signs = written.chars().filter(|c| !c.is_ascii_digit());
    let first = signs.next();
    signs.all(|sign| Some(sign) == first)
}
