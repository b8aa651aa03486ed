//! Lists and pipelines.

use super::reader::{Reader, Result, Stop};

/// A word that the grammar reserves where a command may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Bang,
    BraceOpen,
    BraceClose,
    Case,
    Coproc,
    Do,
    Done,
    Elif,
    Else,
    Esac,
    Fi,
    For,
    Function,
    If,
    In,
    Select,
    Test,
    Then,
    Time,
    Until,
    While,
}

impl Reader<'_> {
    /// Reads commands up to something that closes what is around them, or to the end; false where there are none.
    pub(super) fn list(&mut self) -> Result<bool> {
        let depth = self.deeper()?;
        let mut any = false;
        loop {
            self.lines();
            if self.closes() {
                break;
            }
            let (start, functions) = (self.found.commands.len(), self.found.functions.len());
            self.and_or()?;
            any = true;
            self.blanks();
            match self.peek() {
                b';' if !matches!(self.second(), b';' | b'&') => self.bump(),
                b'&' => {
                    self.bump();
                    self.found.apart(start);
                    self.found.functions.truncate(functions);
                }
                b'\n' => {
                    self.newline();
                    if self.depth == 1 {
                        self.complete = self.found.mark();
                    }
                }
                _ => break,
            }
        }
        self.depth = depth;
        Ok(any)
    }

    /// A list whose functions are not known after it, because it may not run, or runs apart; false where it is empty.
    pub(super) fn scoped_list(&mut self) -> Result<bool> {
        let functions = self.found.functions.len();
        let any = self.list()?;
        self.found.functions.truncate(functions);
        Ok(any)
    }

    /// A scoped list that no shell lets be empty.
    pub(super) fn filled_list(&mut self) -> Result<()> {
        let any = self.scoped_list()?;
        self.require(any)
    }

    /// Refuses a list without commands where there have to be some.
    pub(super) fn require(&mut self, any: bool) -> Result<()> {
        if any { Ok(()) } else { Err(self.refused("there is no command where one has to be")) }
    }

    /// The list of a subshell or a substitution, up to its `)`; false where it is empty.
    pub(super) fn list_apart(&mut self) -> Result<bool> {
        let outer = self.outer_pending;
        let in_document = std::mem::take(&mut self.in_document);
        let pending = std::mem::take(&mut self.pending);
        self.outer_pending |= !pending.is_empty();
        self.apart += 1;
        let any = self.scoped_list()?;
        if self.peek() != b')' {
            return Err(self.refused("a parenthesis is not closed"));
        }
        self.bump();
        self.apart -= 1;
        if !self.pending.is_empty() {
            return Err(Stop::Error("a here-document has no body before the parenthesis closes"));
        }
        self.pending = pending;
        self.outer_pending = outer;
        self.in_document = in_document;
        Ok(any)
    }

    fn closes(&mut self) -> bool {
        match self.peek() {
            0 | b')' => true,
            b';' => matches!(self.second(), b';' | b'&'),
            _ => matches!(
                self.keyword(),
                Some(
                    Keyword::BraceClose
                        | Keyword::Do
                        | Keyword::Done
                        | Keyword::Elif
                        | Keyword::Else
                        | Keyword::Esac
                        | Keyword::Fi
                        | Keyword::Then
                )
            ),
        }
    }

    fn and_or(&mut self) -> Result<()> {
        self.pipeline()?;
        loop {
            self.blanks();
            match (self.peek(), self.second()) {
                (b'&', b'&') | (b'|', b'|') => self.skip(2),
                _ => return Ok(()),
            }
            self.lines();
            let functions = self.found.functions.len();
            self.pipeline()?;
            self.found.functions.truncate(functions);
        }
    }

    fn pipeline(&mut self) -> Result<()> {
        if self.prefixes()? {
            return Ok(());
        }
        let functions = self.found.functions.len();
        let first = self.found.commands.len();
        let mut before = first;
        let mut several = false;
        self.command()?;
        self.blanks();
        while self.peek() == b'|' && self.second() != b'|' {
            self.bump();
            if self.peek() == b'&' {
                if !self.bash() {
                    return Err(Stop::Refused);
                }
                self.bump();
            }
            self.lines();
            let start = self.found.commands.len();
            self.command()?;
            self.found.pipe(before, start);
            self.found.functions.truncate(functions);
            before = start;
            several = true;
            self.blanks();
        }
        if several {
            self.found.apart(first);
        }
        Ok(())
    }

    /// Passes `!` and `time`; true where nothing follows, which bash allows.
    fn prefixes(&mut self) -> Result<bool> {
        let mut any = false;
        loop {
            self.blanks();
            match self.keyword() {
                Some(Keyword::Bang) => {
                    self.skip(1);
                    if self.peek() == b'(' {
                        // With `extglob`, which a variable of the environment can switch on, bash runs a file that has another name.
                        self.found.unclear(self.text, "`!(` may begin a pattern");
                    }
                }
                Some(Keyword::Time) => {
                    self.skip(4);
                    self.time_options();
                }
                _ if any && matches!(self.peek(), 0 | b'\n' | b';' | b')') => return Ok(true),
                _ => return Ok(false),
            }
            any = true;
        }
    }

    /// Passes the options of `time`. Before an option, bash as `sh` takes `time` for a program: what follows is then an
    /// argument, which makes a difference where it would be a word of the grammar.
    fn time_options(&mut self) {
        let mut any = false;
        for option in ["-p", "--"] {
            self.blanks();
            let rest = self.text.get(self.at..).unwrap_or("");
            let ends = |rest: &str| {
                rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', '|', '&', ')'])
            };
            if rest.strip_prefix(option).is_some_and(ends) {
                self.skip(2);
                any = true;
            }
        }
        self.blanks();
        if any && (self.keyword().is_some() || self.peek() == b'(') {
            self.found.unclear(self.text, "`time` may be a program");
        }
    }

    /// The reserved word here, if there is one.
    pub(super) fn keyword(&mut self) -> Option<Keyword> {
        self.peek();
        let mut word = [0_u8; 9];
        let mut length = 0;
        let mut at = self.at;
        loop {
            at = self.joined(at);
            match self.byte(at) {
                0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => break,
                byte => *word.get_mut(length)? = byte,
            }
            length += 1;
            at += 1;
        }
        let keyword = match &word[..length] {
            b"!" => Keyword::Bang,
            b"{" => Keyword::BraceOpen,
            b"}" => Keyword::BraceClose,
            b"case" => Keyword::Case,
            b"do" => Keyword::Do,
            b"done" => Keyword::Done,
            b"elif" => Keyword::Elif,
            b"else" => Keyword::Else,
            b"esac" => Keyword::Esac,
            b"fi" => Keyword::Fi,
            b"for" => Keyword::For,
            b"if" => Keyword::If,
            b"in" => Keyword::In,
            b"then" => Keyword::Then,
            b"until" => Keyword::Until,
            b"while" => Keyword::While,
            b"coproc" if self.bash() => Keyword::Coproc,
            b"function" if self.bash() => Keyword::Function,
            b"select" if self.bash() => Keyword::Select,
            b"[[" if self.bash() => Keyword::Test,
            b"time" if self.bash() => Keyword::Time,
            _ => return None,
        };
        Some(keyword)
    }

    /// Passes a reserved word that has to come here.
    pub(super) fn expect(&mut self, keyword: Keyword) -> Result<()> {
        if self.keyword() != Some(keyword) {
            return Err(self.refused("a word of the grammar is missing"));
        }
        self.skip(keyword.length());
        Ok(())
    }
}

impl Keyword {
    fn length(self) -> usize {
        match self {
            Self::Bang | Self::BraceOpen | Self::BraceClose => 1,
            Self::Do | Self::Fi | Self::If | Self::In | Self::Test => 2,
            Self::For => 3,
            Self::Case
            | Self::Done
            | Self::Elif
            | Self::Else
            | Self::Esac
            | Self::Then
            | Self::Time => 4,
            Self::Until | Self::While => 5,
            Self::Coproc | Self::Select => 6,
            Self::Function => 8,
        }
    }
}
