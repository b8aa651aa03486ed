//! Rust source as tokens: just enough to tell code from comments and strings.

/// A piece of source and the line it starts on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) line: usize,
    pub(crate) kind: Kind,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier, a keyword or a number.
    Word(String),
    /// One character of punctuation.
    Mark(char),
    /// The content of a string literal, escapes left as they are.
    Text(String),
    /// A character literal or a lifetime.
    Quote,
}

impl Token {
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Word(own) if own == word)
    }

    pub(crate) fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

/// An attribute: its tokens between the brackets, and the index of the first token after it.
pub(crate) fn attribute(tokens: &[Token], start: usize) -> Option<(&[Token], usize)> {
    let mut open = start + 1;
    if !tokens.get(start)?.is_mark('#') {
        return None;
    }
    if tokens.get(open)?.is_mark('!') {
        open += 1;
    }
    if !tokens.get(open)?.is_mark('[') {
        return None;
    }
    let close = closing(tokens, open)?;
    Some((&tokens[open + 1..close], close + 1))
}

/// The index of the bracket that closes the one at `open`.
pub(crate) fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Mark('(' | '[' | '{') => depth += 1,
            Kind::Mark(')' | ']' | '}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// All tokens of a source file.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut lexer = Lexer { rest: source, line: 1, tokens: Vec::new() };
    while lexer.step() {}
    lexer.tokens
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    tokens: Vec<Token>,
}

impl<'a> Lexer<'a> {
    /// Takes one token or one stretch of what is none; false at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else {
            return false;
        };
        if self.rest.starts_with("//") {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(end);
        } else if self.rest.starts_with("/*") {
            self.take(block_comment(self.rest));
        } else if first.is_alphanumeric() || first == '_' {
            self.word();
        } else if first == '"' {
            self.string(0);
        } else if first == '\'' {
            self.quote();
        } else {
            let line = self.line;
            self.take(first.len_utf8());
            if !first.is_whitespace() {
                self.push(line, Kind::Mark(first));
            }
        }
        true
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        self.line += taken.matches('\n').count();
        taken
    }

    fn push(&mut self, line: usize, kind: Kind) {
        self.tokens.push(Token { line, kind });
    }

    fn word(&mut self) {
        let end = word_end(self.rest);
        let after = &self.rest[end..];
        let hashes = after.len() - after.trim_start_matches('#').len();
        let quoted = after[hashes..].starts_with('"');
        match &self.rest[..end] {
            "r" | "br" | "cr" if quoted => {
                // Without hashes a raw string ends at the first quote, which no escape can hide.
                let raw = hashes + 1;
                self.take(end + hashes);
                self.string(raw);
            }
            "b" | "c" if hashes == 0 && quoted => {
                self.take(end);
                self.string(0);
            }
            "b" if after.starts_with('\'') => {
                self.take(end);
                self.quote();
            }
            "r" if hashes == 1 => {
                self.take(end + 1);
                self.plain_word();
            }
            _ => self.plain_word(),
        }
    }

    fn plain_word(&mut self) {
        let line = self.line;
        let word = self.take(word_end(self.rest)).to_owned();
        self.push(line, Kind::Word(word));
    }

    /// A string from its opening quote. `raw` is 0 for one with escapes, else one more than its hashes.
    fn string(&mut self, raw: usize) {
        let line = self.line;
        let body = &self.rest[1..];
        let (length, closer) = match raw {
            0 => (escaped_end(body, '"'), 1),
            _ => {
                let close = format!("\"{}", "#".repeat(raw - 1));
                (body.find(&close).unwrap_or(body.len()), close.len())
            }
        };
        let content = body[..length].to_owned();
        let end = (1 + length + closer).min(self.rest.len());
        self.take(end);
        self.push(line, Kind::Text(content));
    }

    /// A character literal or a lifetime.
    fn quote(&mut self) {
        let line = self.line;
        let body = &self.rest[1..];
        let mut characters = body.chars();
        let first = characters.next();
        let is_literal = first == Some('\\') || characters.next() == Some('\'');
        let length = if is_literal {
            (1 + escaped_end(body, '\'') + 1).min(self.rest.len())
        } else {
            1 + word_end(body)
        };
        self.take(length);
        self.push(line, Kind::Quote);
    }
}

fn word_end(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// The offset of the first `close` that no backslash escapes.
fn escaped_end(body: &str, close: char) -> usize {
    let mut escaped = false;
    for (offset, character) in body.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == close => return offset,
            _ => {}
        }
    }
    body.len()
}

/// The length of a block comment, which may hold others.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut offset = 0;
    while let Some(rest) = text.get(offset..) {
        if rest.starts_with("/*") {
            depth += 1;
            offset += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            offset += 2;
            if depth == 0 {
                return offset;
            }
        } else {
            match rest.chars().next() {
                Some(character) => offset += character.len_utf8(),
                None => break,
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens in one line: words and marks as they are, strings in quotes, others as `'`.
    fn shown(source: &str) -> String {
        let shown: Vec<String> = tokens(source)
            .into_iter()
            .map(|token| match token.kind {
                Kind::Word(word) => word,
                Kind::Mark(mark) => mark.to_string(),
                Kind::Text(text) => format!("<{text}>"),
                Kind::Quote => "'".to_owned(),
            })
            .collect();
        shown.join(" ")
    }

    #[test]
    fn comments_are_not_code() {
        assert_eq!(shown("a // b\nc /* d /* e */ f */ g"), "a c g");
        assert_eq!(shown("a /* never closed"), "a");
    }

    #[test]
    fn strings_are_not_code() {
        assert_eq!(shown(r#"f("mod x; \" // ", 1)"#), r#"f ( <mod x; \" // > , 1 )"#);
        assert_eq!(shown(r##"r#"a " b"# r"\" c"##), r##"<a " b> <\> c"##);
        assert_eq!(shown(r#"b"x" c"y" br"z" r#type"#), "<x> <y> <z> type");
        assert_eq!(shown("\"never closed"), "<never closed>");
    }

    #[test]
    fn characters_and_lifetimes_are_told_apart() {
        assert_eq!(shown(r"'a' '\'' '\u{1f}' b'x' 'a, 'static x"), "' ' ' ' ' , ' x");
        assert_eq!(shown("fn f<'a>(x: &'a str)"), "fn f < ' > ( x : & ' str )");
        assert_eq!(shown("'\"' x '/' /"), "' x ' /");
    }

    #[test]
    fn lines_are_counted_through_everything() {
        let lines: Vec<usize> =
            tokens("a\n/*\n*/ b \"\n\" c\n'x' d").iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 3, 3, 4, 5, 5]);
    }

    #[test]
    fn attributes_end_at_their_bracket() {
        let all = tokens("#![a(b[c])] #[d] e");
        let (inner, next) = attribute(&all, 0).unwrap();
        assert_eq!(inner.len(), 7);
        let (inner, next) = attribute(&all, next).unwrap();
        assert!(inner[0].is_word("d"));
        assert!(all[next].is_word("e"));
        assert_eq!(attribute(&all, next), None);
    }
}
