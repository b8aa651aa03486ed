//! A reading of texts that are too plain to be misread.
//!
//! Most texts are a few words and nothing more. Where a text has only words of plain letters, texts in quotes in which nothing
//! stands for something else, blanks, `{}`, `2>&1` and the signs between commands, all shells agree on what it says, and splitting it is all that there is to reading it.

use crate::script::{Script, Simple, Word};

/// Words that mean something to a shell where a program is expected.
const RESERVED: [&str; 16] = [
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "select", "then", "time", "until", "while",
];

/// Whether a text is plain, and its commands are those that were found: all of them, and no other.
pub(super) fn agrees(text: &str, found: &Script) -> bool {
    let mut commands = found.commands.iter();
    let mut words: &[Word] = &[];
    let mut place = Place::Start;
    let mut rest = text.trim_matches(' ');
    while !rest.is_empty() {
        let Some(token) = next(&mut rest) else { return false };
        match (token, place) {
            (Token::Sign, Place::Inside) if words.is_empty() => place = Place::Start,
            (Token::Sign, _) => return false,
            (Token::Word(word), Place::Start) => {
                let Some(simple) = commands.next().filter(|simple| is_bare(simple)) else {
                    return false;
                };
                if RESERVED.contains(&word) || word.contains('=') {
                    return false;
                }
                words = &simple.words;
                place = Place::Inside;
                if !take(&mut words, word) {
                    return false;
                }
            }
            (Token::Word(word) | Token::Quoted(word), Place::Inside) => {
                if !take(&mut words, word) {
                    return false;
                }
            }
            (Token::Nothing, Place::Inside) => {}
            (Token::Quoted(_) | Token::Nothing, Place::Start) => return false,
        }
    }
    place == Place::Inside && words.is_empty() && commands.next().is_none()
}

/// Where a token stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Where a program is expected.
    Start,
    /// Behind it.
    Inside,
}

enum Token<'t> {
    /// `&&`, `||`, `|` or `;`.
    Sign,
    Word(&'t str),
    /// What is between quotes, or `{}`.
    Quoted(&'t str),
    /// `2>&1`.
    Nothing,
}

/// What stands for something else between double quotes.
const ACTIVE: [char; 4] = ['$', '`', '\\', '!'];

/// The next token, and the blanks behind it; none where it is not plain.
fn next<'t>(rest: &mut &'t str) -> Option<Token<'t>> {
    let text = *rest;
    let (token, length) = match text.as_bytes().first()? {
        quote @ (b'\'' | b'"') => {
            let inside = &text[1..];
            let end = inside.find(char::from(*quote))?;
            if *quote == b'"' && inside[..end].contains(ACTIVE) {
                return None;
            }
            (Token::Quoted(&inside[..end]), end + 2)
        }
        b'{' if text.starts_with("{}") => (Token::Quoted("{}"), 2),
        b'2' if text.starts_with("2>&1") => (Token::Nothing, 4),
        _ => word_or_sign(text)?,
    };
    let behind = &text[length..];
    // What is joined to something else is not plain, except that `;` may follow anything.
    if !behind.is_empty() && !behind.starts_with([' ', ';']) {
        return None;
    }
    *rest = behind.trim_start_matches(' ');
    Some(token)
}

fn word_or_sign(text: &str) -> Option<(Token<'_>, usize)> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,@%+=".contains(c);
    match text.find(|c| !is_plain(c)).unwrap_or(text.len()) {
        0 => Some((Token::Sign, sign(text)?)),
        end => Some((Token::Word(&text[..end]), end)),
    }
}

/// How long a sign between commands is.
fn sign(text: &str) -> Option<usize> {
    let end = text.find(' ')?;
    matches!(&text[..end], "&&" | "||" | "|" | ";").then_some(end)
}

/// Whether a command is nothing but its words.
fn is_bare(simple: &Simple) -> bool {
    simple.assignments.is_empty() && simple.redirects.is_empty()
}

/// Takes a word from those that were found, if it is this one.
fn take(words: &mut &[Word], text: &str) -> bool {
    let Some((word, behind)) = words.split_first() else { return false };
    *words = behind;
    word.literal().is_some_and(|literal| literal == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::first_reading;

    #[test]
    fn plain_texts_are_read() {
        for text in [
            "ls",
            " git log --oneline -20 -- src/main.rs ",
            "rg -n 'fn main() { \"$x\" }' --type=rust | head -20",
            "cd a/b && git diff --stat || cat x; ls ; pwd",
            "grep '' a",
            "grep \"it's (a) *\" a",
            "find . -name '*.rs' -exec wc -l {} + 2>&1 | tail -3",
        ] {
            assert!(agrees(text, &first_reading(text.as_bytes())), "{text}");
        }
    }

    #[test]
    fn all_else_is_left_to_a_parser() {
        for text in [
            "",
            "a;",
            "a &",
            "a & b",
            "a &&b",
            "a > b",
            "a 2>&1b",
            "a 2>&11",
            "2>&1 a",
            "a 3>&1",
            "a {}b",
            "{} a",
            "a {",
            "A=1 b",
            "'a' b",
            "a 'b'c",
            "a b'c'",
            "a 'b",
            "a \"$b\"",
            "a \"b`c`\"",
            "a \"\\b\"",
            "a \"b",
            "a \"b!\"",
            "a 'b'\"c\"",
            "a *",
            "a ~",
            "a $x",
            "a\nb",
            "a # b",
            "! a",
            "time a",
            "a | time b",
            "if a ; then b ; fi",
            "a | | b",
            "a\\ b",
            "f() { a ; }",
            "a {b,c}",
            "coproc a",
            "a (b)",
            "a \t b",
        ] {
            assert!(!agrees(text, &first_reading(text.as_bytes())), "{text}");
        }
    }

    #[test]
    fn what_was_found_otherwise_is_not_agreed_to() {
        for (text, other) in [
            ("a b", "a"),
            ("a b", "a c"),
            ("a b", "a b c"),
            ("a b", "a b; c"),
            ("a; b", "a b"),
            ("a; b", "a"),
            ("a | b", "b | a"),
            ("a b", "X=1 a b"),
            ("a b", "a b > c"),
            ("a b", "a $b"),
        ] {
            assert!(!agrees(text, &first_reading(other.as_bytes())), "{text} and {other}");
        }
    }
}
