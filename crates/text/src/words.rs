//! What differs inside of lines, word by word.

use imara_diff::{Algorithm, Diff, InternedInput, TokenSource};

use crate::lines::LineKind;

/// Bytes of one text or of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// On which side they are.
    pub kind: LineKind,
    /// The bytes.
    pub text: Vec<u8>,
}

/// Compares two texts word by word. The spans that are not `Added` are the old text, those that are not `Removed` the new
/// one; of a replacement the old words come first.
///
/// A word is a run of letters, digits and underscores, where everything beyond ASCII counts as letters; so is a run of
/// blanks. Every other byte is a word of its own, newlines included.
pub fn diff_words(before: &[u8], after: &[u8]) -> Vec<Span> {
    let input = InternedInput::new(Words(before), Words(after));
    let mut spans = Spans::default();
    let mut at = 0;
    // Words repeat so often that the histogram algorithm has nothing to hold on to.
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_no_heuristic(&input);
    let text = |tokens: &[imara_diff::Token]| -> Vec<u8> {
        tokens.iter().flat_map(|token| input.interner[*token].iter().copied()).collect()
    };
    for change in diff.hunks() {
        let (old, new) = (to_usize(&change.before), to_usize(&change.after));
        spans.push(LineKind::Context, text(&input.before[at..old.start]));
        spans.push(LineKind::Removed, text(&input.before[old.clone()]));
        spans.push(LineKind::Added, text(&input.after[new]));
        at = old.end;
    }
    spans.push(LineKind::Context, text(&input.before[at..]));
    spans.0
}

fn to_usize(range: &std::ops::Range<u32>) -> std::ops::Range<usize> {
    range.start as usize..range.end as usize
}

#[derive(Default)]
struct Spans(Vec<Span>);

impl Spans {
    fn push(&mut self, kind: LineKind, text: Vec<u8>) {
        if !text.is_empty() {
            self.0.push(Span { kind, text });
        }
    }
}

/// A text as a source of words.
struct Words<'a>(&'a [u8]);

impl<'a> TokenSource for Words<'a> {
    type Token = &'a [u8];
    type Tokenizer = WordIterator<'a>;

    fn tokenize(&self) -> Self::Tokenizer {
        WordIterator(self.0)
    }

    fn estimate_tokens(&self) -> u32 {
        const MOST: usize = 1 << 16;
        u32::try_from((self.0.len() / 4).min(MOST)).unwrap_or(0)
    }
}

struct WordIterator<'a>(&'a [u8]);

impl<'a> Iterator for WordIterator<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let first = *self.0.first()?;
        let alike = |test: fn(u8) -> bool| self.0.iter().take_while(|byte| test(**byte)).count();
        let length = match first {
            byte if is_letter(byte) => alike(is_letter),
            byte if is_blank(byte) => alike(is_blank),
            _ => 1,
        };
        let (word, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(word)
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> String {
        let spans = diff_words(before.as_bytes(), after.as_bytes());
        let shown = spans.iter().map(|span| {
            let text = String::from_utf8_lossy(&span.text);
            match span.kind {
                LineKind::Context => text.into_owned(),
                LineKind::Removed => format!("[-{text}-]"),
                LineKind::Added => format!("{{+{text}+}}"),
            }
        });
        shown.collect()
    }

    #[test]
    fn words_are_replaced_whole() {
        assert_eq!(shown("let size = 10;", "let length = 10;"), "let [-size-]{+length+} = 10;");
        assert_eq!(shown("f(a, b)", "f(a, b, c)"), "f(a, b{+, c+})");
        assert_eq!(shown("straße", "strasse"), "[-straße-]{+strasse+}");
        assert_eq!(shown("a  b", "a b"), "a[-  -]{+ +}b");
        assert_eq!(shown("", "new"), "{+new+}");
        assert_eq!(shown("same\n", "same\n"), "same\n");
        assert_eq!(shown("", ""), "");
    }

    /// Both texts can be read back, whatever bytes they have.
    #[test]
    fn nothing_is_lost() {
        let texts: [&[u8]; 5] = [b"a b\nc\r\n", b"\xff\xfe a\tb", b"", b"\n\n x_1", b"a b c a b c"];
        for before in texts {
            for after in texts {
                let spans = diff_words(before, after);
                let side = |other: LineKind| -> Vec<u8> {
                    let own = spans.iter().filter(|span| span.kind != other);
                    own.flat_map(|span| span.text.clone()).collect()
                };
                assert_eq!(side(LineKind::Added), before);
                assert_eq!(side(LineKind::Removed), after);
            }
        }
    }
}
