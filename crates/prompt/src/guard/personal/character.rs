//! Characters of texts.

/// Up to `most` digits from a place on, with single signs of `between` among them: each digit with its byte. It ends before the first other
/// character.
pub(super) fn digits_from(
    text: &str,
    start: usize,
    between: &str,
    most: usize,
) -> Vec<(usize, u8)> {
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

/// Whether a character may be a part of a word or number.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The character before a byte.
pub(super) fn before(text: &str, at: usize) -> Option<char> {
    text[..at].chars().next_back()
}

/// The character at a byte.
pub(super) fn at(text: &str, at: usize) -> Option<char> {
    text[at..].chars().next()
}
