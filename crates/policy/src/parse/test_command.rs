//! `[[ … ]]`: its operands may hold substitutions.

use super::reader::{Reader, Result, Stop};
use super::word::{Builder, How};

impl Reader<'_> {
    /// Reads up to `]]`. What the operators mean is of no interest, only where operands begin and end.
    pub(super) fn test_command(&mut self) -> Result<()> {
        let mut parentheses = 0_usize;
        loop {
            self.lines();
            match self.peek() {
                0 | b';' => return Err(Stop::Error("a test is not closed")),
                b'(' => {
                    parentheses += 1;
                    self.bump();
                }
                b')' => {
                    let Some(fewer) = parentheses.checked_sub(1) else {
                        return Err(Stop::Error("a test is not closed"));
                    };
                    parentheses = fewer;
                    self.bump();
                }
                b'&' | b'|' if self.second() == self.peek() => self.skip(2),
                b'&' | b'|' => return Err(Stop::Error("a test is not closed")),
                b'<' | b'>' if self.second() != b'(' => self.bump(),
                _ => {
                    let start = self.at;
                    self.words(How::Pattern)?;
                    match self.since(start) {
                        "]]" if parentheses == 0 => return Ok(()),
                        "=~" | "==" | "=" | "!=" => self.right_side()?,
                        "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v" => {
                            self.found.arithmetic = true
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// The pattern or expression to compare with: parentheses and bars belong to it.
    fn right_side(&mut self) -> Result<()> {
        self.blanks();
        let mut ignored = Builder::default();
        let mut parentheses = 0_usize;
        loop {
            match self.peek() {
                0 => return Err(Stop::Error("a test is not closed")),
                b' ' | b'\t' | b'\n' | b')' if parentheses == 0 => return Ok(()),
                b'|' if parentheses == 0 && self.second() == b'|' => return Ok(()),
                b'(' => {
                    parentheses += 1;
                    self.bump();
                }
                b')' => {
                    parentheses -= 1;
                    self.bump();
                }
                b'|' => self.bump(),
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'<' | b'>' | b'#' => {
                    self.found.unclear(self.text, "an expression in a test is not understood");
                    self.bump();
                }
                _ => self.unquoted_part(&mut ignored, true)?,
            }
        }
    }
}
