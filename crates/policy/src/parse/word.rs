//! Words: quotes, escapes, patterns, tildes.

use crate::script::{ShellWord, WordPiece};

use super::brace;
use super::reader::{Reader, Result, Stop};

/// What a word is for: which expansions it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// An argument: everything.
    Plain,
    /// An argument of `export` and its like, which may be an assignment.
    Declaration,
    /// The value of an assignment: no splitting, no names of files, no braces.
    Value,
    /// A pattern of `case` or an operand of `[[`: no splitting, no names of files, no braces.
    Pattern,
}

/// A part of a word before braces are expanded.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Piece(WordPiece),
    /// `{`, `,` or `}` without quotes.
    Brace(char),
}

/// A word that is being read.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) parts: Vec<Part>,
    literal: String,
    /// There is something of the word, an empty pair of quotes at least.
    begun: bool,
    /// There are quotes outside of braces.
    quoted: bool,
    /// How many braces are open.
    braces: usize,
    /// A brace was opened: what follows may be a comma or an end, even where all seem closed.
    has_braces: bool,
}

impl Builder {
    pub(super) fn push_str(&mut self, text: &str) {
        self.begun = true;
        self.literal.push_str(text);
    }

    /// A pair of quotes opens: even if nothing is in it, there is a word.
    fn quotes(&mut self) {
        self.begun = true;
        if self.braces > 0 {
            self.push(WordPiece::Literal(String::new()));
        } else {
            self.quoted = true;
        }
    }

    pub(super) fn push(&mut self, piece: WordPiece) {
        self.flush();
        self.begun = true;
        self.parts.push(Part::Piece(piece));
    }

    pub(super) fn unknown(&mut self, quoted: bool) {
        self.push(WordPiece::Unknown { splits: !quoted });
    }

    /// A parameter by its name. Home and the current directory are known by their signs where they begin a word.
    pub(super) fn parameter(&mut self, name: &str, quoted: bool) {
        let first = self.literal.is_empty() && self.parts.is_empty();
        match name {
            "HOME" if first => self.push(WordPiece::Tilde("~".to_owned())),
            "PWD" if first => self.push(WordPiece::Tilde("~+".to_owned())),
            _ => self.unknown(quoted),
        }
    }

    fn brace(&mut self, brace: char) {
        self.flush();
        self.begun = true;
        self.parts.push(Part::Brace(brace));
        match brace {
            '{' => (self.braces, self.has_braces) = (self.braces + 1, true),
            '}' => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
    }

    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.parts.push(Part::Piece(WordPiece::Literal(std::mem::take(&mut self.literal))));
        }
    }

    fn is_at_start(&self) -> bool {
        !self.begun
    }

    /// The word, its braces taken for letters.
    pub(super) fn into_word(mut self) -> ShellWord {
        self.flush();
        brace::joined(self.parts)
    }
}

impl Reader<'_> {
    /// Reads one word; braces may make several of it.
    pub(super) fn words(&mut self, how: How) -> Result<Vec<ShellWord>> {
        let depth = self.deeper()?;
        let mut builder = Builder::default();
        let assigns = matches!(how, How::Plain | How::Declaration) && self.looks_like_assignment();
        while !self.word_ends() {
            self.part(&mut builder, how, assigns)?;
        }
        if builder.is_at_start() {
            return Err(self.refused("a word is missing"));
        }
        self.depth = depth;
        builder.flush();
        if builder.parts.iter().any(|part| matches!(part, Part::Brace(_))) {
            let braced = &mut self.found.braced;
            let words = brace::expand(&builder.parts, builder.quoted, braced);
            return Ok(words.unwrap_or_else(|| {
                self.found.unread(self.text, "braces make words that could not be listed");
                vec![ShellWord { pieces: vec![WordPiece::Unknown { splits: true }] }]
            }));
        }
        Ok(vec![builder.into_word()])
    }

    /// Whether a word cannot go on here.
    pub(super) fn word_ends(&mut self) -> bool {
        match self.peek() {
            0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => true,
            b'<' | b'>' => self.second() != b'(' || !self.bash(),
            _ => false,
        }
    }

    fn looks_like_assignment(&mut self) -> bool {
        let bytes = &self.text.as_bytes()[self.at.min(self.text.len())..];
        let name = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
        let length = name.count();
        length > 0 && !bytes[0].is_ascii_digit() && bytes.get(length) == Some(&b'=')
    }

    /// Reads the next part of a word that is not in double quotes.
    fn part(&mut self, builder: &mut Builder, how: How, assigns: bool) -> Result<()> {
        let globs = matches!(how, How::Plain | How::Declaration);
        match self.peek() {
            b'~' if self.tilde(builder, how, assigns) => {}
            b'*' if globs => self.pattern(builder, 1),
            b'?' if globs => self.pattern(builder, 1),
            b'[' if globs => match self.bracket() {
                0 => self.plain(builder),
                length => self.pattern(builder, length),
            },
            // Where a word begins with `{}` both are letters.
            b'{' if globs && builder.is_at_start() && self.second() == b'}' => {
                self.letter(builder);
                self.peek();
                self.letter(builder);
            }
            b'{' if globs && self.bash() => {
                self.bump();
                builder.brace('{');
            }
            byte @ (b',' | b'}') if builder.has_braces => {
                self.bump();
                builder.brace(char::from(byte));
            }
            b'<' | b'>' => self.process_substitution(builder)?,
            _ => self.unquoted_part(builder, !globs)?,
        }
        Ok(())
    }

    /// Reads what may stand in any text without quotes: quotes, escapes, expansions, letters.
    pub(super) fn unquoted_part(&mut self, builder: &mut Builder, whole: bool) -> Result<()> {
        match self.peek() {
            b'\'' => self.single_quoted(builder),
            b'"' => self.double_quoted(builder),
            b'\\' => {
                self.escape(builder);
                Ok(())
            }
            b'$' => self.dollar(builder, whole, true),
            b'`' => self.backquoted(builder, whole, false),
            _ => {
                self.plain(builder);
                Ok(())
            }
        }
    }

    /// Reads the next part of a text in double quotes, or of a here-document.
    pub(super) fn quoted_part(&mut self, builder: &mut Builder, quote_escapes: bool) -> Result<()> {
        match self.peek() {
            b'\\' => {
                let next = self.second();
                if matches!(next, b'$' | b'`' | b'\\') || (quote_escapes && next == b'"') {
                    self.bump();
                }
                self.letter(builder);
                Ok(())
            }
            b'$' => self.dollar(builder, true, false),
            b'`' => self.backquoted(builder, true, quote_escapes),
            _ => {
                let start = self.at;
                while !matches!(self.byte(self.at), 0 | b'\\' | b'$' | b'`' | b'"') {
                    self.at += 1;
                }
                if start == self.at {
                    self.at += 1;
                }
                builder.push_str(self.since(start));
                Ok(())
            }
        }
    }

    pub(super) fn double_quoted(&mut self, builder: &mut Builder) -> Result<()> {
        let depth = self.deeper()?;
        self.bump();
        builder.quotes();
        loop {
            match self.peek() {
                0 => return Err(Stop::Error("a quote is not closed")),
                b'"' => break,
                _ => self.quoted_part(builder, true)?,
            }
        }
        self.bump();
        self.depth = depth;
        Ok(())
    }

    fn single_quoted(&mut self, builder: &mut Builder) -> Result<()> {
        self.bump();
        builder.quotes();
        let rest = self.text.get(self.at..).unwrap_or("");
        let Some(length) = rest.find('\'') else {
            return Err(Stop::Error("a quote is not closed"));
        };
        builder.push_str(&rest[..length]);
        self.at += length + 1;
        Ok(())
    }

    fn escape(&mut self, builder: &mut Builder) {
        if self.at + 1 < self.text.len() {
            self.bump();
        } else {
            // All shells take it for itself, unless something is put behind the text.
            self.found.unclear(self.text, "it ends with a backslash");
        }
        self.letter(builder);
    }

    /// One character, whatever it is.
    fn letter(&mut self, builder: &mut Builder) {
        let start = self.at;
        self.pass_char();
        builder.push_str(self.since(start));
    }

    /// Passes one character.
    pub(super) fn pass_char(&mut self) {
        self.at += 1;
        while self.at < self.text.len() && !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    /// A run of letters that mean nothing to the shell, one at least.
    fn plain(&mut self, builder: &mut Builder) {
        let start = self.at;
        self.pass_char();
        while is_letter(self.byte(self.at)) {
            self.at += 1;
        }
        builder.push_str(self.since(start));
    }

    fn pattern(&mut self, builder: &mut Builder, length: usize) {
        let start = self.at;
        self.at += length;
        builder.push(WordPiece::Pattern(self.since(start).to_owned()));
    }

    /// How much of the text here is a set such as `[a-z]`; 0 if the bracket is a letter, and only the bracket where quotes
    /// or expansions are in the set.
    fn bracket(&mut self) -> usize {
        const FAR: usize = 64;
        let first = self.at + 1 + usize::from(matches!(self.byte(self.at + 1), b'!' | b'^'));
        let mut at = first.max(self.no_set_before);
        while at < first + FAR {
            match self.byte(at) {
                b']' if at > first => return at + 1 - self.at,
                0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => {
                    return 0;
                }
                b'\'' | b'"' | b'\\' | b'$' | b'`' | b'{' => return 1,
                _ => at += 1,
            }
        }
        self.no_set_before = at;
        1
    }

    /// Reads `~` or `~user` where it stands for a folder.
    fn tilde(&mut self, builder: &mut Builder, how: How, assigns: bool) -> bool {
        let after = builder.literal.ends_with(['=', ':']) && builder.parts.iter().all(is_known);
        let expands = match how {
            How::Pattern => builder.is_at_start(),
            How::Value => builder.is_at_start() || (builder.literal.ends_with(':') && after),
            How::Declaration => builder.is_at_start() || (assigns && after),
            // Bash expands it in all arguments that look like assignments.
            How::Plain => builder.is_at_start() || (assigns && after && self.bash()),
        };
        let bytes = self.text.as_bytes();
        let name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._+-".contains(byte);
        let length = 1 + bytes[self.at + 1..].iter().take_while(name).count();
        let next = self.byte(self.at + length);
        let ends = matches!(
            next,
            0 | b'/' | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
        ) || (next == b':' && (how == How::Value || assigns || self.bash()));
        if !expands || !ends {
            return false;
        }
        let start = self.at;
        self.at += length;
        builder.push(WordPiece::Tilde(self.since(start).to_owned()));
        true
    }
}

fn is_known(part: &Part) -> bool {
    matches!(part, Part::Piece(WordPiece::Literal(_) | WordPiece::Tilde(_)))
}

/// Whether a byte means nothing to the shell, wherever it is in a word.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_-./%+@^!#]".contains(&byte)
}
