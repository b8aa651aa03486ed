//! Patterns of rules.

/// How long a pattern may be.
pub(crate) const LONGEST: usize = 1024;

/// A pattern: `*` is any text, `?` one character, and a backslash takes that meaning away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Exact(String),
    Prefix(String),
    Glob(Vec<Piece>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    One(char),
    AnyOne,
    Any,
}

impl Pattern {
    /// Reads a pattern; or why it is none.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("an empty pattern fits nothing that is named".to_owned());
        }
        if text.len() > LONGEST {
            return Err(format!("the pattern is longer than {LONGEST} bytes"));
        }
        let mut pieces = Vec::new();
        let mut characters = text.chars();
        while let Some(c) = characters.next() {
            let piece = match c {
                '*' => Piece::Any,
                '?' => Piece::AnyOne,
                '\\' => match characters.next() {
                    Some(c) => Piece::One(c),
                    None => return Err("nothing follows the backslash".to_owned()),
                },
                c => Piece::One(c),
            };
            // Two stars are one.
            if piece != Piece::Any || pieces.last() != Some(&Piece::Any) {
                pieces.push(piece);
            }
        }
        let literal = |pieces: &[Piece]| {
            pieces
                .iter()
                .map(|piece| match piece {
                    Piece::One(c) => Some(*c),
                    Piece::AnyOne | Piece::Any => None,
                })
                .collect::<Option<String>>()
        };
        if let Some(exact) = literal(&pieces) {
            return Ok(Self::Exact(exact));
        }
        match pieces.split_last() {
            Some((Piece::Any, rest)) => match literal(rest) {
                Some(prefix) => Ok(Self::Prefix(prefix)),
                None => Ok(Self::Glob(pieces)),
            },
            _ => Ok(Self::Glob(pieces)),
        }
    }

    /// The pattern that fits this text alone.
    pub(crate) fn escaped(text: &str) -> String {
        let mut pattern = String::with_capacity(text.len());
        for c in text.chars() {
            if matches!(c, '*' | '?' | '\\') {
                pattern.push('\\');
            }
            pattern.push(c);
        }
        pattern
    }

    /// Whether the text fits.
    pub(crate) fn fits(&self, text: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == text,
            Self::Prefix(prefix) => text.starts_with(prefix.as_str()),
            Self::Glob(pieces) => glob(pieces, text),
        }
    }
}

/// Goes back to the last star only, which is enough, and bounds the work by the product of both lengths.
fn glob(pieces: &[Piece], text: &str) -> bool {
    if let Some(Piece::One(last)) = pieces.last()
        && !text.ends_with(*last)
    {
        return false;
    }
    // Bytes of the text, always between characters.
    let (mut at, mut piece) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(next) = text[at..].chars().next() {
        let fits = match pieces.get(piece) {
            Some(Piece::Any) => {
                star = Some((piece, at));
                piece += 1;
                continue;
            }
            Some(Piece::AnyOne) => true,
            Some(Piece::One(c)) => *c == next,
            None => false,
        };
        match star {
            _ if fits => (at, piece) = (at + next.len_utf8(), piece + 1),
            Some((of, from)) => {
                let skipped = text[from..].chars().next().map_or(1, char::len_utf8);
                star = Some((of, from + skipped));
                (at, piece) = (from + skipped, of + 1);
            }
            None => return false,
        }
    }
    pieces[piece..].iter().all(|piece| *piece == Piece::Any)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, text: &str) -> bool {
        Pattern::parse(pattern).unwrap().fits(text)
    }

    #[test]
    fn stars_and_question_marks_stand_for_text() {
        for (pattern, yes, no) in [
            ("a", "a", "ab"),
            ("a*", "a", "ba"),
            ("*", "", "-"),
            ("*.rs", "x/y.rs", "y.rsx"),
            ("a?c", "abc", "ac"),
            ("a?", "aé", "a"),
            ("*a*b", "xaxbab", "xaxc"),
            ("a**b", "ab", "a"),
            ("a\\*", "a*", "ab"),
            ("\\\\", "\\", "\\\\"),
            ("[a]", "[a]", "a"),
            ("*é?b*", "aéééb", "aéb"),
            ("é*一?", "éxé一二", "éxé二一"),
        ] {
            assert!(fits(pattern, yes), "{pattern} {yes}");
            assert!(pattern == "*" || !fits(pattern, no), "{pattern} {no}");
        }
        assert!(Pattern::parse("").is_err());
        assert!(Pattern::parse("a\\").is_err());
        assert!(Pattern::parse(&"a".repeat(LONGEST)).is_ok());
        assert!(Pattern::parse(&"a".repeat(LONGEST + 1)).is_err());
    }

    #[test]
    fn an_escaped_text_fits_itself_alone() {
        for text in ["a*b?c\\d", "plain", "*"] {
            let pattern = Pattern::parse(&Pattern::escaped(text)).unwrap();
            assert!(pattern.fits(text));
            assert!(!pattern.fits(&text.replace('*', "xyz").replace("plain", "plaim")), "{text}");
        }
    }

    /// A pattern that goes back for each star would not come to an end here.
    #[test]
    fn long_texts_take_no_time() {
        let pattern = Pattern::parse(&format!("{}x", "*a".repeat(500))).unwrap();
        assert!(!pattern.fits(&"a".repeat(8 * 1024)));
    }
}
