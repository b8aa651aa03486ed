//! Ids that states give, in shapes that the caller knows.

use serde::{Deserialize, Serialize};

use super::character::{at, before, is_word};
use super::checksum::{luhn, mod97};
use super::span::{PersonalKind, PersonalSpan};
use crate::word::words;

words! {
    /// How the digits of an id check one another.
    pub enum IdChecksum {
        /// They do not.
        None = "none",
        /// The last digit is right by the formula of Luhn.
        Luhn = "luhn",
        /// The last two digits are 97 less the remainder of the others by 97.
        Mod97 = "mod97",
    }
}

/// A shape of ids: `9` stands for a digit, `A` for a letter, and anything else for itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NationalIdShape {
    shape: String,
    checksum: IdChecksum,
}

impl NationalIdShape {
    /// A shape; none if it has fewer than five digits and letters, and would be everywhere.
    pub fn new(shape: &str, checksum: IdChecksum) -> Option<Self> {
        let signs = shape.chars().filter(|c| matches!(c, '9' | 'A')).count();
        (signs >= 5 && shape.len() <= 64).then(|| Self { shape: shape.to_owned(), checksum })
    }

    /// All ids of this shape that stand alone.
    pub(super) fn find(&self, text: &str) -> Vec<PersonalSpan> {
        let mut found: Vec<PersonalSpan> = Vec::new();
        for (start, _) in text.char_indices() {
            let is_free = before(text, start).is_none_or(|c| !is_word(c) && c != '-');
            let is_behind = found.last().is_none_or(|last| start >= last.end);
            if is_free
                && is_behind
                && let Some(end) = self.end(text, start)
            {
                found.push(PersonalSpan { kind: PersonalKind::NationalId, start, end });
            }
        }
        found
    }

    fn end(&self, text: &str, start: usize) -> Option<usize> {
        let mut rest = text[start..].chars();
        let mut end = start;
        for sign in self.shape.chars() {
            let c = rest.next()?;
            let fits = match sign {
                '9' => c.is_ascii_digit(),
                'A' => c.is_ascii_alphabetic(),
                sign => c == sign,
            };
            if !fits {
                return None;
            }
            end += c.len_utf8();
        }
        let is_free = at(text, end).is_none_or(|c| !is_word(c) && c != '-');
        (is_free && self.is_right(&text[start..end])).then_some(end)
    }

    fn is_right(&self, id: &str) -> bool {
        let digits: Vec<u8> = id
            .chars()
            .filter_map(|c| c.to_digit(10))
            .filter_map(|digit| u8::try_from(digit).ok())
            .collect();
        match self.checksum {
            IdChecksum::None => true,
            IdChecksum::Luhn => !digits.is_empty() && luhn(&digits),
            IdChecksum::Mod97 => {
                let Some((number, check)) = digits.split_at_checked(digits.len().saturating_sub(2))
                else {
                    return false;
                };
                let number = number.iter().map(|digit| char::from(b'0' + digit));
                let check = check.iter().fold(0, |n, digit| n * 10 + u32::from(*digit));
                97 - mod97(number) == check
            }
        }
    }
}
