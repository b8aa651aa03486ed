//! Bytes from elsewhere on their way to a terminal.
//!
//! A terminal obeys what it shows: a file or a command could set its title, write to the clipboard, have it type an answer, or paint over
//! what was said before. Here everything that a terminal obeys is made visible, but for what the caller lets pass.

use offshoot_text::characters::is_invisible;

use super::shown;

/// The longest sequence that is waited for; longer ones are no colours.
const LONGEST: usize = 64;

/// What may reach the terminal as it is, beside text, tabs and ends of lines.
///
/// ```
/// use offshoot_engine::text::{Passes, TerminalText};
///
/// assert_eq!(TerminalText::new(Passes::Line).push(b"50%\r"), b"50%\r");
/// assert_eq!(TerminalText::new(Passes::Colours).push(b"50%\r!"), b"50%^M!");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// Nothing: the bytes of a file.
    Nothing,
    /// Colours and styles: text of our own. Characters that nobody sees are made visible in it, since names and commands would look like others, but
    /// for those that follow a character beyond ASCII: scripts and pictures are put together by them.
    Colours,
    /// Those, and what stays in its line, such as the bars that programs draw: the output of a command.
    Line,
}

/// Makes bytes harmless for a terminal, however they are cut.
///
/// ```
/// use offshoot_engine::text::{Passes, TerminalText};
///
/// let mut text = TerminalText::new(Passes::Colours);
/// let mut shown = text.push(b"\x1b[31mred \x1b]0;ti");
/// shown.extend(text.push(b"tle\x07"));
/// shown.extend(text.finish());
/// assert_eq!(shown, b"\x1b[31mred ^[]0;title^G\x1b[0m");
/// ```
#[derive(Clone, Debug)]
pub struct TerminalText {
    passes: Passes,
    /// The start of something whose end is still to come.
    pending: Vec<u8>,
    /// A colour is set that nothing took back.
    styled: bool,
    /// The last character was beyond ASCII.
    beyond_ascii: bool,
}

/// What is at the start of some bytes.
enum Token {
    /// So many bytes that may pass as they are.
    Plain(usize),
    /// So many bytes that set a style, or take all back.
    Style { length: usize, resets: bool },
    /// So many bytes that are shown as this.
    Shown(usize, String),
    /// More is needed to tell.
    Unfinished,
}

impl TerminalText {
    /// Lets some things pass.
    ///
    /// ```
    /// use offshoot_engine::text::{Passes, TerminalText};
    ///
    /// let mut text = TerminalText::new(Passes::Nothing);
    /// assert_eq!(text.push(b"\x1b[31mred\r\n"), b"^[[31mred\r\n");
    /// ```
    pub fn new(passes: Passes) -> Self {
        Self { passes, pending: Vec::new(), styled: false, beyond_ascii: false }
    }

    /// What can be shown of all that came so far.
    ///
    /// ```
    /// use offshoot_engine::text::{Passes, TerminalText};
    ///
    /// let mut text = TerminalText::new(Passes::Line);
    /// assert_eq!(text.push(b"10%\r20%\x1b["), b"10%\r20%");
    /// assert_eq!(text.push(b"2J"), b"^[[2J");
    /// ```
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(bytes);
        self.take(false)
    }

    /// The rest, with colours back to what they were.
    ///
    /// ```
    /// use offshoot_engine::text::{Passes, TerminalText};
    ///
    /// let mut text = TerminalText::new(Passes::Line);
    /// assert_eq!(text.push(b"end\x1b"), b"end");
    /// assert_eq!(text.finish(), b"^[");
    /// ```
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = self.take(true);
        if std::mem::take(&mut self.styled) {
            out.extend_from_slice(b"\x1b[0m");
        }
        out
    }

    fn take(&mut self, all: bool) -> Vec<u8> {
        let pending = std::mem::take(&mut self.pending);
        let (mut out, mut rest) = (Vec::with_capacity(pending.len()), pending.as_slice());
        while let Some(first) = rest.first() {
            let length = match self.token(rest, all) {
                Token::Plain(length) => {
                    out.extend_from_slice(&rest[..length]);
                    self.beyond_ascii = !first.is_ascii();
                    length
                }
                Token::Style { length, resets } => {
                    self.styled = !resets;
                    out.extend_from_slice(&rest[..length]);
                    length
                }
                Token::Shown(length, text) => {
                    out.extend_from_slice(text.as_bytes());
                    self.beyond_ascii = false;
                    length
                }
                Token::Unfinished if all => {
                    out.extend_from_slice(raw(*first).as_bytes());
                    1
                }
                Token::Unfinished => {
                    self.pending = rest.to_vec();
                    break;
                }
            };
            rest = &rest[length..];
        }
        out
    }

    fn token(&self, bytes: &[u8], all: bool) -> Token {
        match bytes[0] {
            b'\n' | b'\t' => Token::Plain(1),
            b'\r' | 8 if self.passes == Passes::Line => Token::Plain(1),
            // The end of a line as other systems have it.
            b'\r' => match bytes.get(1) {
                Some(b'\n') => Token::Plain(2),
                None if !all => Token::Unfinished,
                _ => Token::Shown(1, raw(b'\r')),
            },
            0x1b => self.sequence(bytes),
            byte if byte < 0x20 => Token::Shown(1, raw(byte)),
            byte if byte < 0x7f => {
                let end = bytes.iter().position(|byte| !(0x20..0x7f).contains(byte));
                Token::Plain(end.unwrap_or(bytes.len()))
            }
            _ => self.character(bytes),
        }
    }

    /// An escape, and what may follow it.
    fn sequence(&self, bytes: &[u8]) -> Token {
        let visible = Token::Shown(1, raw(0x1b));
        if self.passes == Passes::Nothing {
            return visible;
        }
        match bytes.get(1) {
            None => return Token::Unfinished,
            Some(b'[') => {}
            Some(_) => return visible,
        }
        let parameters =
            bytes[2..].iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'));
        let end = 2 + parameters.count();
        match bytes.get(end) {
            None if bytes.len() < LONGEST => Token::Unfinished,
            Some(b'm') if end < LONGEST => {
                let resets = bytes[2..end].iter().all(|byte| *byte == b'0' || *byte == b';');
                Token::Style { length: end + 1, resets }
            }
            // Erases the rest of its line, or all of it.
            Some(b'K') if self.passes == Passes::Line && end <= 3 => Token::Plain(end + 1),
            _ => visible,
        }
    }

    /// A character beyond ASCII, or a byte that is no text.
    fn character(&self, bytes: &[u8]) -> Token {
        let start = &bytes[..bytes.len().min(4)];
        let text = match std::str::from_utf8(start) {
            Ok(text) => text,
            Err(error) if error.valid_up_to() > 0 => {
                std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) if error.error_len().is_none() && bytes.len() < 4 => {
                return Token::Unfinished;
            }
            Err(_) => return Token::Shown(1, raw(bytes[0])),
        };
        let Some(c) = text.chars().next() else { return Token::Shown(1, raw(bytes[0])) };
        let is_told = self.passes == Passes::Colours && !self.beyond_ascii && is_invisible(c);
        match shown(c).or_else(|| is_told.then(|| format!("<{:02x}>", c as u32))) {
            Some(text) => Token::Shown(c.len_utf8(), text),
            None => Token::Plain(c.len_utf8()),
        }
    }
}

/// A byte that is not shown as it is.
fn raw(byte: u8) -> String {
    match byte {
        0x00..0x80 => shown(char::from(byte)).unwrap_or_else(|| char::from(byte).to_string()),
        _ => format!("<{byte:02x}>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(passes: Passes, bytes: &[u8]) -> String {
        let mut text = TerminalText::new(passes);
        let mut out = text.push(bytes);
        out.extend(text.finish());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_a_terminal_obeys_is_made_visible() {
        for passes in [Passes::Nothing, Passes::Colours, Passes::Line] {
            for (bytes, expected) in [
                (&b"\x1b]0;title\x07"[..], "^[]0;title^G"),
                (b"\x1b]52;c;aGk=\x1b\\", "^[]52;c;aGk=^[\\"),
                (b"\x1b[2J\x1b[H", "^[[2J^[[H"),
                (b"\x1b[6n\x1b[c\x1bZ", "^[[6n^[[c^[Z"),
                (b"\x1bP$q\x1b\\", "^[P$q^[\\"),
                (b"\x1b[?1049h", "^[[?1049h"),
                (b"\x1b[1A", "^[[1A"),
                (b"\xc2\x9b2J", "<9b>2J"),
                (b"\x9b2J", "<9b>2J"),
                ("a\u{202e}b\u{2066}c".as_bytes(), "a<202e>b<2066>c"),
                ("a\u{200f}b\u{200e}c\u{61c}".as_bytes(), "a<200f>b<200e>c<61c>"),
                // Pictures are put together by characters that nobody sees.
                ("👩\u{200d}💻 ❤\u{fe0f}\n".as_bytes(), "👩\u{200d}💻 ❤\u{fe0f}\n"),
                (b"\x7f\x0e\x0f", "^?^N^O"),
                ("größe 日本 🎉\n".as_bytes(), "größe 日本 🎉\n"),
                (b"one\r\ntwo\tthree\n", "one\r\ntwo\tthree\n"),
                (b"\xff\xfe\xc3", "<ff><fe><c3>"),
            ] {
                assert_eq!(through(passes, bytes), expected, "{passes:?} {bytes:?}");
            }
        }
    }

    #[test]
    fn colours_pass_where_they_may_and_end() {
        let red = b"\x1b[1;38:5:9mred\x1b[0m \x1b[31mopen";
        assert_eq!(through(Passes::Nothing, red), "^[[1;38:5:9mred^[[0m ^[[31mopen");
        let kept = "\x1b[1;38:5:9mred\x1b[0m \x1b[31mopen\x1b[0m";
        assert_eq!(through(Passes::Colours, red), kept);
        assert_eq!(through(Passes::Line, b"10%\r20%\x1b[K\x08"), "10%\r20%\x1b[K\x08");
        assert_eq!(through(Passes::Colours, b"10%\r20%\x1b[K\x08"), "10%^M20%^[[K^H");
        let long = [b"\x1b[".as_slice(), &[b'1'; 100], b"m"].concat();
        assert!(through(Passes::Line, &long).starts_with("^[["));
    }

    #[test]
    fn what_nobody_sees_is_told_in_text_of_our_own() {
        let text = "cat .env\u{200b}rc \u{feff}a\u{e0041}\n".as_bytes();
        assert_eq!(through(Passes::Colours, text), "cat .env<200b>rc <feff>a<e0041>\n");
        for passes in [Passes::Nothing, Passes::Line] {
            assert_eq!(through(passes, text).as_bytes(), text, "{passes:?}");
        }
    }

    #[test]
    fn however_it_is_cut_it_comes_out_the_same() {
        let text =
            "a\u{200b}b\x1b[31mb\x1b[2Jc\r\nd\u{202e}e\u{9b}f日\u{fe0f}\x1b]0;t\x07\x1b".as_bytes();
        for passes in [Passes::Nothing, Passes::Colours, Passes::Line] {
            let whole = through(passes, text);
            for first in 0..=text.len() {
                for second in first..=text.len() {
                    let mut cut = TerminalText::new(passes);
                    let mut out = cut.push(&text[..first]);
                    out.extend(cut.push(&text[first..second]));
                    out.extend(cut.push(&text[second..]));
                    out.extend(cut.finish());
                    assert_eq!(String::from_utf8(out).unwrap(), whole, "{first} {second}");
                }
            }
        }
    }
}
