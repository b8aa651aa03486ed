//! Takes a program for `awk` apart.

/// One token; regular expressions are left out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A name or a keyword.
    Word(&'t str),
    /// A string, its escapes read.
    Text(String),
    /// A number.
    Number,
    /// A regular expression.
    Pattern,
    /// The end of a line.
    Line,
    /// Anything else.
    Sign(&'t str),
}

/// Signs of more than one character, the longest first.
const SIGNS: &[&str] = &[
    "**=", "&&", "||", "|&", ">>", ">=", "<=", "==", "!=", "!~", "++", "--", "+=", "-=", "*=",
    "/=", "%=", "^=", "**",
];

/// Words behind which an operand is expected, so that `/` begins a pattern.
const EXPECTING: &[&str] =
    &["BEGIN", "END", "print", "printf", "return", "in", "case", "do", "else", "delete", "exit"];

/// The tokens of a program; nothing where it may be read in more than one way.
pub(super) fn tokens(program: &str) -> Option<Vec<Token<'_>>> {
    let mut lexer = Lexer { rest: program, tokens: Vec::new(), open: Vec::new(), condition: false };
    while !lexer.rest.is_empty() {
        lexer.token()?;
    }
    Some(lexer.tokens)
}

struct Lexer<'t> {
    rest: &'t str,
    tokens: Vec<Token<'t>>,
    /// For each open parenthesis, whether it holds the condition of a statement.
    open: Vec<bool>,
    /// The last `)` ended a condition.
    condition: bool,
}

impl<'t> Lexer<'t> {
    fn token(&mut self) -> Option<()> {
        let first = self.rest.chars().next()?;
        match first {
            '\n' => self.sign(1, Token::Line),
            ' ' | '\t' | '\r' => self.rest = &self.rest[1..],
            '\\' => {
                self.rest =
                    self.rest[1..].strip_prefix("\r\n").or(self.rest[1..].strip_prefix('\n'))?;
            }
            '#' => self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..],
            '"' => return self.text(),
            '/' => return self.slash(),
            letter if letter.is_ascii_digit() || letter == '.' => {
                let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.');
                self.sign(end.unwrap_or(self.rest.len()), Token::Number);
            }
            letter if letter.is_ascii_alphabetic() || letter == '_' => {
                let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let end = end.unwrap_or(self.rest.len());
                let word = &self.rest[..end];
                self.sign(end, Token::Word(word));
            }
            '(' => {
                let word = matches!(
                    self.tokens.last(),
                    Some(Token::Word("if" | "while" | "for" | "switch"))
                );
                self.open.push(word);
                self.sign(1, Token::Sign("("));
            }
            ')' => {
                self.condition = self.open.pop().unwrap_or(false);
                self.sign(1, Token::Sign(")"));
            }
            _ if !first.is_ascii() || first == '\0' || first == '\'' => return None,
            _ => {
                let long = SIGNS.iter().find(|sign| self.rest.starts_with(**sign));
                let length = long.map_or(1, |sign| sign.len());
                let text = &self.rest[..length];
                self.sign(length, Token::Sign(text));
            }
        }
        Some(())
    }

    fn sign(&mut self, length: usize, token: Token<'t>) {
        self.rest = &self.rest[length..];
        self.tokens.push(token);
    }

    fn text(&mut self) -> Option<()> {
        let mut text = String::new();
        let mut letters = self.rest[1..].chars();
        loop {
            match letters.next()? {
                '"' => break,
                '\n' => return None,
                '\\' => escape(&mut letters, &mut text)?,
                letter => text.push(letter),
            }
        }
        self.rest = letters.as_str();
        self.tokens.push(Token::Text(text));
        Some(())
    }

    /// A `/` divides behind an operand and begins a pattern elsewhere. Behind a condition, and behind `getline`, it may be either.
    fn slash(&mut self) -> Option<()> {
        match self.tokens.last() {
            Some(Token::Sign(")")) if self.condition => None,
            Some(Token::Word("getline")) => None,
            Some(Token::Word(word)) if EXPECTING.contains(word) => self.pattern(),
            Some(Token::Word(_) | Token::Text(_) | Token::Number | Token::Pattern) => {
                self.divide();
                Some(())
            }
            Some(Token::Sign(")" | "]" | "$" | "++" | "--")) => {
                self.divide();
                Some(())
            }
            Some(Token::Sign(_) | Token::Line) | None => self.pattern(),
        }
    }

    fn divide(&mut self) {
        let length = if self.rest.starts_with("/=") { 2 } else { 1 };
        self.sign(length, Token::Sign("/"));
    }

    fn pattern(&mut self) -> Option<()> {
        let mut letters = self.rest[1..].chars();
        let mut class = false;
        loop {
            match letters.next()? {
                '/' if class => return None,
                '/' => break,
                '\n' => return None,
                '\\' => {
                    letters.next()?;
                }
                '[' => class = true,
                ']' => class = false,
                _ => {}
            }
        }
        self.rest = letters.as_str();
        self.tokens.push(Token::Pattern);
        Some(())
    }
}

/// Reads an escape. What is behind `\x` differs between versions in its length: two digits at most are clear.
fn escape(letters: &mut std::str::Chars<'_>, text: &mut String) -> Option<()> {
    match letters.next()? {
        'n' => text.push('\n'),
        't' => text.push('\t'),
        'r' => text.push('\r'),
        '\n' => {}
        letter @ ('\\' | '"' | '/') => text.push(letter),
        'x' => {
            let rest = letters.as_str();
            let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
            let code = u8::from_str_radix(rest.get(..length)?, 16).ok().filter(u8::is_ascii)?;
            text.push(char::from(code));
            *letters = rest[length..].chars();
        }
        first @ '0'..='7' => {
            let rest = letters.as_str();
            let length = rest.bytes().take(2).take_while(|b| (b'0'..=b'7').contains(b)).count();
            let digits = format!("{first}{}", &rest[..length]);
            let code = u8::from_str_radix(&digits, 8).ok().filter(u8::is_ascii)?;
            text.push(char::from(code));
            *letters = rest[length..].chars();
        }
        other => {
            text.push('\\');
            text.push(other);
        }
    }
    Some(())
}
