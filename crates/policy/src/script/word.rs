//! One word of a command: what is known of it before a shell has expanded it.

use std::borrow::Cow;

/// One argument as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellWord {
    /// Its pieces, one after the other.
    pub pieces: Vec<WordPiece>,
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordPiece {
    /// Just this, quotes and escapes removed.
    Literal(String),
    /// A pattern that the shell replaces by names of files (`*`, `?`, `[a-z]`), as it was written.
    Pattern(String),
    /// `~` or `~user` at its beginning, as it was written; `$HOME` and `$PWD` there are `~` and `~+`.
    Tilde(String),
    /// Something that only the shell knows: a parameter, the output of a command, arithmetic, braces that are too many to list.
    Unknown {
        /// It is not quoted: it may become any number of words, none as well.
        splits: bool,
    },
}

impl ShellWord {
    /// A word that is wholly known.
    pub fn new(text: impl Into<String>) -> Self {
        Self { pieces: vec![WordPiece::Literal(text.into())] }
    }

    /// The text, where all of it is known.
    pub fn literal(&self) -> Option<Cow<'_, str>> {
        match self.pieces.as_slice() {
            [] => Some(Cow::Borrowed("")),
            [WordPiece::Literal(text)] => Some(Cow::Borrowed(text)),
            pieces => {
                let text = |piece: &WordPiece| match piece {
                    WordPiece::Literal(text) => Some(text.clone()),
                    _ => None,
                };
                pieces.iter().map(text).collect::<Option<String>>().map(Cow::Owned)
            }
        }
    }

    /// How it begins, as far as that is known.
    pub fn beginning(&self) -> &str {
        match self.pieces.first() {
            Some(WordPiece::Literal(text)) => text,
            _ => "",
        }
    }

    /// Whether it may become several words, or none.
    pub fn splits(&self) -> bool {
        self.pieces.iter().any(|piece| match piece {
            WordPiece::Unknown { splits } => *splits,
            WordPiece::Pattern(_) => true,
            WordPiece::Literal(_) | WordPiece::Tilde(_) => false,
        })
    }

    /// Whether it may turn out to start with `-`.
    pub fn may_be_option(&self) -> bool {
        match self.pieces.first() {
            Some(WordPiece::Literal(text)) => {
                text.starts_with('-') || (text.is_empty() && self.pieces.len() > 1) || self.splits()
            }
            Some(WordPiece::Unknown { .. } | WordPiece::Pattern(_)) => true,
            Some(WordPiece::Tilde(_)) | None => false,
        }
    }

    /// The word for people: unknown pieces as `…`.
    pub fn display(&self) -> String {
        let mut shown = String::new();
        self.display_into(&mut shown);
        shown
    }

    /// Adds the word for people to a text.
    pub(crate) fn display_into(&self, shown: &mut String) {
        for piece in &self.pieces {
            match piece {
                WordPiece::Literal(text) | WordPiece::Pattern(text) | WordPiece::Tilde(text) => {
                    shown.push_str(text);
                }
                WordPiece::Unknown { .. } => shown.push('…'),
            }
        }
    }
}
