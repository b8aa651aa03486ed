//! From what a terminal sends to keys.

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character.
    Char(char),
    /// The arrow up.
    Up,
    /// The arrow down.
    Down,
    /// A page back.
    PageUp,
    /// A page on.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// Enter.
    Enter,
    /// Escape, alone.
    Escape,
    /// Backspace.
    Backspace,
    /// Ctrl-C, or the end of what can be typed.
    Interrupt,
}

/// The keys in what was read at once; what means nothing is left out. Sequences come in one piece, so an escape character
/// that is the last one is the key itself.
pub(crate) fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (key, length) = first(rest);
        keys.extend(key);
        rest = &rest[length.min(rest.len())..];
    }
    keys
}

fn first(bytes: &[u8]) -> (Option<Key>, usize) {
    match bytes {
        [0x1b, b'[' | b'O', rest @ ..] => sequence(rest),
        [0x1b, ..] => (Some(Key::Escape), 1),
        [b'\r' | b'\n', ..] => (Some(Key::Enter), 1),
        [0x7f | 0x08, ..] => (Some(Key::Backspace), 1),
        [0x03 | 0x04, ..] => (Some(Key::Interrupt), 1),
        [0..0x20, ..] => (None, 1),
        _ => character(bytes),
    }
}

/// What follows `ESC [` or `ESC O`: parameters, then the byte that ends the sequence.
fn sequence(rest: &[u8]) -> (Option<Key>, usize) {
    let parameters = rest.iter().take_while(|byte| matches!(byte, b'0'..=b'?')).count();
    let key = match (&rest[..parameters], rest.get(parameters)) {
        (_, Some(b'A')) => Some(Key::Up),
        (_, Some(b'B')) => Some(Key::Down),
        (_, Some(b'H')) | (b"1" | b"7", Some(b'~')) => Some(Key::Home),
        (_, Some(b'F')) | (b"4" | b"8", Some(b'~')) => Some(Key::End),
        (b"5", Some(b'~')) => Some(Key::PageUp),
        (b"6", Some(b'~')) => Some(Key::PageDown),
        _ => None,
    };
    (key, 2 + parameters + 1)
}

fn character(bytes: &[u8]) -> (Option<Key>, usize) {
    const LONGEST: usize = 4;
    let start = &bytes[..bytes.len().min(LONGEST)];
    let valid = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default(),
    };
    match valid.chars().next() {
        Some(c) => (Some(Key::Char(c)).filter(|_| !c.is_control()), c.len_utf8()),
        None => (None, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_typed_at_once_is_told_apart() {
        let expected = [Key::Char('a'), Key::Down, Key::Char('ß'), Key::PageDown, Key::Enter];
        assert_eq!(keys("a\x1b[Bß\x1b[6~\r".as_bytes()), expected);
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
        assert_eq!(keys(b"\x03"), [Key::Interrupt]);
        assert_eq!(keys(b"\x1bOA\x7f"), [Key::Up, Key::Backspace]);
    }

    #[test]
    fn nonsense_is_left_out() {
        assert_eq!(keys(b"\xff\x01\x1b[99;5Zx"), [Key::Char('x')]);
        assert_eq!(keys(b"\x1b["), []);
        assert_eq!(keys(b"\xe6\xbc"), []);
    }
}
