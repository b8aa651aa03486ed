//! What begins with `$`, and backquotes: parameters, substitutions, arithmetic.

use crate::script::WordPiece;

use super::ansi;
use super::reader::{Reader, Result, Stop};
use super::word::Builder;

impl Reader<'_> {
    /// Reads what begins with `$`. `quoted` says that it stays one word; `quotes`, that `$'…'` and `$"…"` may stand here.
    pub(super) fn dollar(
        &mut self,
        builder: &mut Builder,
        quoted: bool,
        quotes: bool,
    ) -> Result<()> {
        let depth = self.deeper()?;
        match self.second() {
            b'(' if self.third() == b'(' => {
                let start = self.at;
                self.skip(3);
                if !self.arithmetic(b')', start)? {
                    self.skip(2);
                    self.list_apart()?;
                }
                builder.unknown(quoted);
            }
            b'(' => {
                self.skip(2);
                self.list_apart()?;
                builder.unknown(quoted);
            }
            b'{' => {
                self.skip(2);
                self.parameter(builder, quoted, !quotes)?;
            }
            b'[' if self.bash() => {
                let start = self.at;
                self.skip(2);
                self.arithmetic(b']', start)?;
                builder.unknown(quoted);
            }
            b'\'' if quotes && self.bash() => self.ansi_quoted(builder)?,
            b'"' if quotes && self.bash() => {
                self.bump();
                self.peek();
                self.double_quoted(builder)?;
            }
            byte => self.short_parameter(builder, quoted, byte),
        }
        self.depth = depth;
        Ok(())
    }

    /// `$name`, `$1`, `$?`; or a lone `$`.
    fn short_parameter(&mut self, builder: &mut Builder, quoted: bool, first: u8) {
        self.bump();
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let start = self.at;
                while self.peek().is_ascii_alphanumeric() || self.peek() == b'_' {
                    self.bump();
                }
                builder.parameter(self.since(start), quoted);
            }
            b'@' => {
                self.skip(1);
                builder.unknown(false);
            }
            b'0'..=b'9' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => {
                self.skip(1);
                builder.unknown(quoted);
            }
            _ => builder.push_str("$"),
        }
    }

    fn ansi_quoted(&mut self, builder: &mut Builder) -> Result<()> {
        self.bump();
        self.peek();
        self.bump();
        let rest = self.text.get(self.at..).unwrap_or("");
        let Some((text, length)) = ansi::decode(rest) else {
            return Err(Stop::Error("a quote is not closed"));
        };
        self.at += length;
        match text {
            Some(text) if text.is_empty() => builder.push(WordPiece::Literal(text)),
            Some(text) => builder.push_str(&text),
            None => builder.unknown(true),
        }
        Ok(())
    }

    /// Reads arithmetic up to `))` or `]`. If it is none after all, goes back to `start` and says false.
    pub(super) fn arithmetic(&mut self, close: u8, start: usize) -> Result<bool> {
        let depth = self.deeper()?;
        let kept = self.found.mark();
        let mut parentheses = 0_usize;
        let mut ignored = Builder::default();
        loop {
            match self.peek() {
                0 => break,
                byte if byte == close && parentheses == 0 => {
                    if close == b')' && self.second() != b')' {
                        break;
                    }
                    self.skip(if close == b')' { 2 } else { 1 });
                    self.depth = depth;
                    return Ok(true);
                }
                b'(' | b'[' => {
                    parentheses += usize::from(self.peek() == b'(' || close == b']');
                    self.bump();
                }
                b')' | b']' => {
                    let counts = self.peek() == b')' && close == b')'
                        || self.peek() == b']' && close == b']';
                    parentheses -= usize::from(counts);
                    self.bump();
                }
                b'\'' | b'"' => {
                    // Shells differ in what quotes mean here.
                    self.found.unclear(self.text, "there are quotes in arithmetic");
                    self.bump();
                }
                b'\\' => {
                    self.bump();
                    self.pass_char();
                }
                b'$' | b'`' => {
                    self.found.arithmetic = true;
                    self.quoted_part(&mut ignored, true)?;
                }
                byte => {
                    self.found.arithmetic |= is_name(byte);
                    self.bump();
                }
            }
        }
        if close == b']' || self.dash() {
            return Err(Stop::Error("arithmetic is not closed"));
        }
        self.found.differs = true;
        self.found.forget(&kept);
        if self.text.get(start..).is_some_and(|rest| rest.contains("<<")) {
            // Bash reads the text again, and finds other here-documents in it than before.
            self.found
                .unclear(self.text, "parentheses look like arithmetic before a here-document");
        }
        self.go_back(start)?;
        self.depth = depth;
        Ok(false)
    }

    /// Passes the index of an array up to its `]`; false if there is none.
    pub(super) fn index(&mut self) -> Result<bool> {
        let depth = self.deeper()?;
        let mut brackets = 0_usize;
        let mut ignored = Builder::default();
        loop {
            match self.peek() {
                0 => return Ok(false),
                b']' if brackets == 0 => break,
                b'[' => {
                    brackets += 1;
                    self.bump();
                }
                b']' => {
                    brackets -= 1;
                    self.bump();
                }
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => {
                    self.found.unclear(self.text, "an index is not understood");
                    self.bump();
                }
                b'\'' | b'"' | b'\\' | b'$' | b'`' => {
                    self.found.arithmetic = true;
                    self.unquoted_part(&mut ignored, true)?;
                }
                byte => {
                    self.found.arithmetic |= is_name(byte);
                    self.bump();
                }
            }
        }
        self.bump();
        self.depth = depth;
        Ok(true)
    }

    /// Reads a substitution in backquotes: its text loses one level of backslashes and is read by itself.
    pub(super) fn backquoted(
        &mut self,
        builder: &mut Builder,
        quoted: bool,
        in_double_quotes: bool,
    ) -> Result<()> {
        self.bump();
        let rest = self.text.get(self.at..).unwrap_or("");
        let mut inside = String::new();
        let mut chars = rest.char_indices();
        let end = loop {
            match chars.next() {
                None => return Err(Stop::Error("a backquote is not closed")),
                Some((at, '`')) => break at + 1,
                Some((_, '\\')) => match chars.next() {
                    Some((_, c @ ('$' | '`' | '\\'))) => inside.push(c),
                    Some((_, '"')) if in_double_quotes => inside.push('"'),
                    Some((_, c)) => inside.extend(['\\', c]),
                    None => return Err(Stop::Error("a backquote is not closed")),
                },
                Some((_, c)) => inside.push(c),
            }
        };
        self.at += end;
        builder.unknown(quoted);
        self.inner(&inside, |reader| {
            reader.apart += 1;
            reader.scoped_list()?;
            reader.read_documents();
            if reader.at_end() {
                Ok(())
            } else {
                Err(Stop::Error("something is closed that was not opened"))
            }
        })
    }

    /// Reads `<(…)` or `>(…)`, which bash replaces by a name.
    pub(super) fn process_substitution(&mut self, builder: &mut Builder) -> Result<()> {
        let depth = self.deeper()?;
        self.skip(2);
        self.list_apart()?;
        builder.unknown(true);
        self.depth = depth;
        Ok(())
    }
}

/// Whether a name may begin with this byte.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}
