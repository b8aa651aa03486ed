//! Personal data in texts, by its form.

mod card;
mod iban;
mod id;
mod ip;
mod mail;
mod phone;

use crate::word::words;

pub use id::{IdChecksum, NationalIdShape};

words! {
    /// A kind of personal data.
    pub enum PersonalKind {
        /// A mail address.
        EmailAddress = "email",
        /// A phone number.
        PhoneNumber = "phone",
        /// The number of a bank account.
        Iban = "iban",
        /// The number of a payment card.
        CardNumber = "card",
        /// An address in the network.
        IpAddress = "ip",
        /// A number that a state gives to somebody.
        NationalId = "id",
    }
}

/// Where something is, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersonalSpan {
    /// What it is.
    pub kind: PersonalKind,
    /// Its first byte.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
}

/// Finds personal data.
///
/// ```
/// use offshoot_prompt::{PersonalKind, PersonalPatterns};
///
/// let found = PersonalPatterns::default().find("pay to DE89 3704 0044 0532 0130 00, not to DE00370400440532013000");
/// assert_eq!(found.len(), 1);
/// assert_eq!((found[0].kind, found[0].start, found[0].end), (PersonalKind::Iban, 7, 34));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonalPatterns {
    ip_addresses: bool,
    national_ids: Vec<NationalIdShape>,
}

impl PersonalPatterns {
    /// Also finds IP addresses.
    pub fn with_ip_addresses(mut self) -> Self {
        self.ip_addresses = true;
        self
    }

    /// Also finds ids of this shape.
    pub fn with_national_id(mut self, shape: NationalIdShape) -> Self {
        self.national_ids.push(shape);
        self
    }

    /// Everything that is found, by where it begins. What is a card number or an IBAN is no phone number as well.
    pub fn find(&self, text: &str) -> Vec<PersonalSpan> {
        let mut found = Vec::new();
        if text.contains('@') {
            found.extend(mail::find(text));
        }
        if text.bytes().any(|byte| byte.is_ascii_digit()) {
            found.extend(iban::find(text));
            found.extend(card::find(text));
            for shape in &self.national_ids {
                found.extend(shape.find(text));
            }
            let is_taken = |span: &PersonalSpan| {
                found.iter().any(|other| span.start < other.end && other.start < span.end)
            };
            let phones: Vec<_> = phone::find(text).filter(|span| !is_taken(span)).collect();
            found.extend(phones);
        }
        if self.ip_addresses {
            found.extend(ip::find(text));
        }
        found.sort_by_key(|span| (span.start, span.end, span.kind));
        found
    }
}

/// Up to `most` digits from a place on, with single signs of `between` among them: each digit with its byte. It ends before the first other
/// character.
fn digits_from(text: &str, start: usize, between: &str, most: usize) -> Vec<(usize, u8)> {
    let mut digits: Vec<(usize, u8)> = Vec::new();
    for (at, c) in text[start..].char_indices() {
        if digits.len() == most {
            break;
        }
        match c.to_digit(10) {
            Some(digit) => digits.push((start + at, u8::try_from(digit).unwrap_or_default())),
            None => {
                let follows_digit = digits.last().is_some_and(|(last, _)| last + 1 == start + at);
                if !between.contains(c) || !follows_digit {
                    break;
                }
            }
        }
    }
    digits
}

/// The last digit of such a number is right.
fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let value = u32::from(*digit) << (at % 2);
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// The remainder by 97 of a text of digits and letters, of which `A` is 10 and `Z` 35.
fn mod97(characters: impl Iterator<Item = char>) -> u32 {
    characters.filter_map(|c| c.to_digit(36)).fold(0, |remainder, value| {
        let shifted = if value > 9 { remainder * 100 } else { remainder * 10 };
        (shifted + value) % 97
    })
}

/// Whether a character may be a part of a word or number.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The character before a byte.
fn before(text: &str, at: usize) -> Option<char> {
    text[..at].chars().next_back()
}

/// The character at a byte.
fn at(text: &str, at: usize) -> Option<char> {
    text[at..].chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_right() {
        assert!(luhn(&[4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2]));
        assert!(!luhn(&[4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 3]));
        assert_eq!(mod97("3214282912345698765432161182".chars()), 1);
    }
}
