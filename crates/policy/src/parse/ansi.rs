//! The text in `$'…'`.

/// Decodes what follows `$'`: the text, and how much of the input it takes with its closing quote. There is no text where the
/// bytes are not known to be characters.
pub(super) fn decode(input: &str) -> Option<(Option<String>, usize)> {
    let mut text = Some(String::new());
    let bytes = input.as_bytes();
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'\'' => return Some((text, at + 1)),
            b'\\' => {
                let (character, length) = escape(input.get(at + 1..)?)?;
                match character {
                    Escape::Text(decoded) => push(&mut text, decoded),
                    Escape::Kept => push_str(&mut text, input.get(at..at + 1 + length)?),
                    Escape::Unknown => text = None,
                }
                at += 1 + length;
            }
            _ => {
                let rest = input.get(at..)?;
                let length = rest.find(['\'', '\\'])?;
                push_str(&mut text, &rest[..length]);
                at += length;
            }
        }
    }
}

enum Escape {
    /// The character that it stands for.
    Text(char),
    /// Nothing special: the backslash stays.
    Kept,
    /// Something that ends the text, or no character.
    Unknown,
}

fn push(text: &mut Option<String>, character: char) {
    if let Some(text) = text {
        text.push(character);
    }
}

fn push_str(text: &mut Option<String>, more: &str) {
    if let Some(text) = text {
        text.push_str(more);
    }
}

/// What stands after a backslash, and how long it is.
fn escape(rest: &str) -> Option<(Escape, usize)> {
    let first = rest.chars().next()?;
    let simple = match first {
        'a' => '\x07',
        'b' => '\x08',
        'e' | 'E' => '\x1b',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' | '\'' | '"' | '?' => first,
        '0'..='7' => return Some(number(rest, 0, 3, 8)),
        'x' => return Some(number(rest, 1, 2, 16)),
        'u' => return Some(wide(rest, 4)),
        'U' => return Some(wide(rest, 8)),
        'c' => return Some((Escape::Unknown, 1 + rest[1..].chars().next()?.len_utf8())),
        other => return Some((Escape::Kept, other.len_utf8())),
    };
    Some((Escape::Text(simple), 1))
}

/// One byte by its number: a character only where it is ASCII.
fn number(rest: &str, skip: usize, most: usize, radix: u32) -> (Escape, usize) {
    let (value, length) = digits(&rest[skip..], most, radix);
    match u8::try_from(value & 0xff) {
        _ if length == 0 => (Escape::Kept, skip.max(1)),
        Ok(byte) if byte.is_ascii() && byte != 0 => (Escape::Text(char::from(byte)), skip + length),
        _ => (Escape::Unknown, skip + length),
    }
}

/// A character by its number in Unicode. Beyond ASCII it depends on the locale.
fn wide(rest: &str, most: usize) -> (Escape, usize) {
    let (value, length) = digits(&rest[1..], most, 16);
    match char::from_u32(value) {
        _ if length == 0 => (Escape::Kept, 1),
        Some(character) if character.is_ascii() && character != '\0' => {
            (Escape::Text(character), 1 + length)
        }
        _ => (Escape::Unknown, 1 + length),
    }
}

fn digits(text: &str, most: usize, radix: u32) -> (u32, usize) {
    let mut value = 0_u32;
    let mut length = 0;
    for character in text.chars().take(most) {
        let Some(digit) = character.to_digit(radix) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        length += 1;
    }
    (value, length)
}
