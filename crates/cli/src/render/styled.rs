//! Lines of styled text that know how wide they are.

use anstyle::Style;
use unicode_width::UnicodeWidthChar;

use super::{harmless, paint};

/// Text in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) style: Style,
    pub(crate) text: String,
}

/// One line, or the beginning of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Styled {
    pub(crate) runs: Vec<Run>,
}

/// How far apart tab stops are.
const TAB: usize = 8;

impl Styled {
    /// Text in a style. It must be harmless already.
    pub(crate) fn of(style: Style, text: impl Into<String>) -> Self {
        let mut line = Self::default();
        line.push(style, text);
        line
    }

    /// Adds text in a style.
    pub(crate) fn push(&mut self, style: Style, text: impl Into<String>) {
        let text = text.into();
        match self.runs.last_mut() {
            Some(last) if last.style == style => last.text.push_str(&text),
            _ if text.is_empty() => {}
            _ => self.runs.push(Run { style, text }),
        }
    }

    /// Adds bytes of a file: made harmless, with tabs as the blanks that lead to the next tab stop, counted from `start`.
    pub(crate) fn push_bytes(&mut self, style: Style, bytes: &[u8], start: usize) {
        let mut column = self.width().saturating_sub(start);
        let mut text = String::new();
        for c in harmless(bytes).chars() {
            let blanks = TAB - column % TAB;
            match c {
                '\t' => text.push_str(&" ".repeat(blanks)),
                c => text.push(c),
            }
            column += if c == '\t' { blanks } else { char_width(c) };
        }
        self.push(style, text);
    }

    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.runs.iter().map(|run| width(&run.text)).sum()
    }

    /// With the codes that show its styles.
    pub(crate) fn painted(&self) -> String {
        self.runs.iter().map(|run| paint(run.style, &run.text)).collect()
    }

    /// Without styles.
    #[cfg(test)]
    pub(crate) fn plain(&self) -> String {
        self.runs.iter().map(|run| run.text.as_str()).collect()
    }

    /// The line in pieces that are at most so wide: at least one. A character that does not fit on any line stands alone.
    pub(crate) fn wrapped(&self, width: usize) -> Vec<Self> {
        let mut lines = vec![Self::default()];
        let mut room = width;
        for run in &self.runs {
            let mut text = String::new();
            for c in run.text.chars() {
                let wide = char_width(c);
                if wide > room && room < width {
                    if let Some(last) = lines.last_mut() {
                        last.push(run.style, std::mem::take(&mut text));
                    }
                    lines.push(Self::default());
                    room = width;
                }
                text.push(c);
                room = room.saturating_sub(wide);
            }
            if let Some(last) = lines.last_mut() {
                last.push(run.style, text);
            }
        }
        lines
    }

    /// As much of its beginning as is at most so wide.
    pub(crate) fn cut(&self, width: usize) -> Self {
        self.wrapped(width).into_iter().next().unwrap_or_default()
    }

    /// Filled up with blanks to a width.
    pub(crate) fn padded(mut self, width: usize) -> Self {
        let missing = width.saturating_sub(self.width());
        self.push(Style::new(), " ".repeat(missing));
        self
    }
}

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    c.width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style::new();

    fn line(bytes: &[u8]) -> Styled {
        let mut line = Styled::default();
        line.push_bytes(PLAIN, bytes, 0);
        line
    }

    #[test]
    fn tabs_lead_to_the_next_stop() {
        assert_eq!(line(b"\ta").plain(), "        a");
        assert_eq!(line(b"abc\td").plain(), "abc     d");
        assert_eq!(line(b"12345678\tx").plain(), "12345678        x");
        assert_eq!(line("漢字\tx".as_bytes()).plain(), "漢字    x");
        let mut after_a_sign = Styled::of(PLAIN, "+");
        after_a_sign.push_bytes(PLAIN, b"\tx", 1);
        assert_eq!(after_a_sign.plain(), "+        x");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(line("漢字".as_bytes()).width(), 4);
        assert_eq!(line("e\u{301}".as_bytes()).width(), 1);
        assert_eq!(line(b"\x1b[2J").plain(), "^[[2J");
        let pieces: Vec<String> =
            line("ab漢字cd".as_bytes()).wrapped(3).iter().map(Styled::plain).collect();
        assert_eq!(pieces, ["ab", "漢", "字c", "d"]);
        assert_eq!(line("漢".as_bytes()).wrapped(1).len(), 1);
        assert_eq!(line(b"").wrapped(10).len(), 1);
    }

    #[test]
    fn styles_survive_wrapping() {
        let bold = PLAIN.bold();
        let mut both = Styled::of(PLAIN, "ab");
        both.push(bold, "cdef");
        let pieces = both.wrapped(3);
        assert_eq!(pieces[0].runs.len(), 2);
        assert_eq!(pieces[1].runs, [Run { style: bold, text: "def".to_owned() }]);
        assert_eq!(both.clone().padded(8).plain(), "abcdef  ");
        assert_eq!(both.cut(4).plain(), "abcd");
    }
}
