//! Numbers of payment cards.

use super::character::{at, before, digits_from, is_word};
use super::checksum::luhn;
use super::span::{PersonalKind, PersonalSpan};

/// How many digits a card has at most.
const LONGEST: usize = 19;

pub(super) fn find(text: &str) -> Vec<PersonalSpan> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find(|c: char| c.is_ascii_digit()).map(|at| from + at) {
        let digits = digits_from(text, start, " -", LONGEST);
        let is_alone = before(text, start).is_none_or(|c| !is_word(c) && c != '.');
        let end = is_alone.then(|| card_end(text, &digits)).flatten();
        from = match end {
            Some(end) => {
                found.push(PersonalSpan { kind: PersonalKind::CardNumber, start, end });
                end
            }
            // A group further on may begin a card.
            None => behind_group(text, start),
        };
    }
    found
}

/// Where the digits that follow one another without a sign between them end.
fn behind_group(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    start + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
}

/// Where a card ends that begins with the first digit; the longest one.
fn card_end(text: &str, digits: &[(usize, u8)]) -> Option<usize> {
    let values: Vec<u8> = digits.iter().map(|(_, digit)| *digit).collect();
    let lengths = (13..=LONGEST).rev().filter(|length| *length <= values.len());
    lengths
        .filter(|length| is_issued(&values[..*length]) && luhn(&values[..*length]))
        .map(|length| digits[length - 1].0 + 1)
        .find(|end| {
            let rest = &text[*end..];
            let is_decimal =
                rest.starts_with('.') && at(text, *end + 1).is_some_and(|c| c.is_ascii_digit());
            at(text, *end).is_none_or(|c| !is_word(c)) && !is_decimal
        })
}

/// Whether somebody gives out cards with this beginning and length.
fn is_issued(digits: &[u8]) -> bool {
    let start =
        |count: usize| digits[..count].iter().fold(0_u32, |n, digit| n * 10 + u32::from(*digit));
    let is_one_digit = digits.iter().all(|digit| *digit == digits[0]);
    let lengths: &[usize] = match (start(1), start(2), start(3), start(4)) {
        (4, ..) => &[13, 16, 19],
        (_, 51..=55, ..) | (.., 2221..=2720) => &[16],
        (_, 34 | 37, ..) => &[15],
        (.., 6011) | (_, _, 644..=649, _) | (_, 65, ..) => &[16, 17, 18, 19],
        (.., 3528..=3589) | (_, 62, ..) => &[16, 17, 18, 19],
        (_, 36 | 38 | 39, ..) | (_, _, 300..=305, _) => &[14],
        (_, 50 | 56..=58, ..) | (.., 6304 | 6759 | 6761..=6763) => &[13, 14, 15, 16, 17, 18, 19],
        _ => &[],
    };
    lengths.contains(&digits.len()) && !is_one_digit
}
