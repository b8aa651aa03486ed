//! What a word may become.

use crate::script::{ShellWord, WordPiece};

/// Whether a word may become one that starts with `-`, or bring such a word with it.
pub(super) fn may_be_option(word: &ShellWord) -> bool {
    if matches!(word.pieces.as_slice(), [WordPiece::Literal(text)] if text == "-") {
        return false;
    }
    spills(word) || word.pieces.iter().find(|piece| !is_empty(piece)).is_some_and(may_be_dash)
}

/// Whether nothing is known of how a word begins.
pub(super) fn may_be_anything(word: &ShellWord) -> bool {
    spills(word)
        || matches!(word.pieces.first(), Some(WordPiece::Unknown { .. } | WordPiece::Pattern(_)))
}

/// Whether a word may become several, of which the later ones may be anything.
pub(super) fn spills(word: &ShellWord) -> bool {
    let unknown = |piece: &WordPiece| matches!(piece, WordPiece::Unknown { splits: true });
    let leading = word.pieces.iter().find(|piece| !is_empty(piece));
    let names = matches!(leading, Some(piece @ WordPiece::Pattern(_)) if may_be_dash(piece));
    names || word.pieces.iter().any(unknown)
}

fn is_empty(piece: &WordPiece) -> bool {
    matches!(piece, WordPiece::Literal(text) if text.is_empty())
}

fn may_be_dash(piece: &WordPiece) -> bool {
    match piece {
        WordPiece::Literal(text) => text.starts_with('-'),
        WordPiece::Pattern(text) => text.starts_with(['*', '?', '[', '-', '@', '+', '!', '\\']),
        WordPiece::Unknown { .. } => true,
        WordPiece::Tilde(_) => false,
    }
}

/// The name that is set, where a word is `NAME=value`.
pub(super) fn assignment(word: &ShellWord) -> Option<&str> {
    let (name, _) = word.beginning().split_once('=')?;
    is_name(name).then_some(name)
}

/// The value of `NAME=value`.
pub(super) fn assigned(word: &ShellWord) -> ShellWord {
    let mut pieces = word.pieces.clone();
    if let Some(WordPiece::Literal(text)) = pieces.first_mut()
        && let Some(at) = text.find('=')
    {
        text.drain(..=at);
    }
    pieces.retain(|piece| !is_empty(piece));
    ShellWord { pieces }
}

/// The beginning of a text that is the name of a variable.
pub(super) fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && leading_name(text) == text
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// A text with something unknown in it, the unknown parts as a parameter that nobody set.
pub(super) fn with_parameters(word: &ShellWord) -> String {
    let mut text = String::new();
    for piece in &word.pieces {
        match piece {
            WordPiece::Literal(known) | WordPiece::Pattern(known) | WordPiece::Tilde(known) => {
                text.push_str(known);
            }
            WordPiece::Unknown { .. } => text.push_str("${unknown}"),
        }
    }
    text
}
