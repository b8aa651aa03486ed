//! The text of a program: a line for each step, words with spaces between, odd bytes as `%` and two digits.
//!
//! A program is text so that the one of a failure can be read, shortened by hand and given to `oracle-program` again.

use std::fmt::{self, Write};

/// One step: what to do, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step(pub Vec<Vec<u8>>);

impl Step {
    /// A step of these words.
    pub fn new<W: AsRef<[u8]>>(words: impl IntoIterator<Item = W>) -> Self {
        Self(words.into_iter().map(|word| word.as_ref().to_vec()).collect())
    }

    /// What to do.
    pub fn verb(&self) -> &[u8] {
        self.0.first().map_or(b"", Vec::as_slice)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(|word| escape(word)).collect();
        formatter.write_str(&words.join(" "))
    }
}

/// The steps as text.
pub fn to_text(steps: &[Step]) -> String {
    steps.iter().map(|step| format!("{step}\n")).collect()
}

/// The steps of a text; nothing if it is none.
pub fn parse(text: &str) -> Option<Vec<Step>> {
    let words = |line: &str| line.split(' ').map(unescape).collect::<Option<Vec<_>>>();
    text.lines().map(|line| words(line).map(Step)).collect()
}

/// One word: bytes that text cannot show plainly become `%` and two digits; no bytes at all become `%`.
pub fn escape(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "%".to_owned();
    }
    let mut text = String::new();
    for byte in bytes {
        if byte.is_ascii_graphic() && *byte != b'%' {
            text.push(char::from(*byte));
        } else {
            write!(text, "%{byte:02x}").expect("text can be added to text");
        }
    }
    text
}

/// The bytes of a word.
pub fn unescape(word: &str) -> Option<Vec<u8>> {
    if word == "%" {
        return Some(Vec::new());
    }
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(behind.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &behind[2..];
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let all: Vec<u8> = (0..=255).collect();
        let steps = [Step::new([&b"write"[..], &all, b"", b" ", b"%"]), Step::new(["look"])];
        let text = to_text(&steps);
        assert!(text.is_ascii());
        assert_eq!(parse(&text).as_deref(), Some(&steps[..]));
        assert_eq!(steps[0].verb(), b"write");
    }

    #[test]
    fn what_is_no_program_is_refused() {
        for text in ["write %4", "write %zz", "%%"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
