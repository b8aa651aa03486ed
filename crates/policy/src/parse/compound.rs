//! Compound commands: groups, conditions, loops, functions.

use crate::script::{Assignment, ShellWord, Simple, WordPiece};

use super::dialect::Dialect;
use super::list::Keyword;
use super::reader::{Reader, Result, Stop};
use super::word::How;

impl Reader<'_> {
    /// Reads one command of a pipeline with its redirections.
    pub(super) fn command(&mut self) -> Result<()> {
        let depth = self.deeper()?;
        if self.found.is_full() {
            return Err(Stop::Error("there are too many commands"));
        }
        self.blanks();
        let start = self.found.commands.len();
        let compound = if self.peek() == b'(' {
            self.parenthesis()?;
            true
        } else {
            let keyword = self.keyword();
            self.compound(keyword)?
        };
        if compound {
            self.redirects_of_group(start)?;
        } else {
            self.simple()?;
        }
        self.depth = depth;
        Ok(())
    }

    /// Reads what a reserved word begins; false if it begins nothing.
    fn compound(&mut self, keyword: Option<Keyword>) -> Result<bool> {
        let Some(keyword) = keyword else { return Ok(false) };
        match keyword {
            Keyword::BraceOpen => {
                self.expect(keyword)?;
                let any = self.list()?;
                self.require(any)?;
                self.expect(Keyword::BraceClose)?;
            }
            Keyword::If => self.condition()?,
            Keyword::While | Keyword::Until => {
                self.expect(keyword)?;
                self.filled_list()?;
                self.body()?;
            }
            Keyword::For | Keyword::Select => self.for_loop(keyword)?,
            Keyword::Case => self.case()?,
            Keyword::Test => {
                self.expect(keyword)?;
                self.test_command()?;
            }
            Keyword::Function => return self.function_keyword(),
            Keyword::Coproc => return self.coprocess(),
            // Bash takes a lone `in` for a name; all others cannot begin a command.
            Keyword::In => return Ok(false),
            _ => return Err(self.refused("a word of the grammar is out of place")),
        }
        Ok(true)
    }

    /// A subshell, or arithmetic.
    fn parenthesis(&mut self) -> Result<()> {
        if self.second() == b'(' && self.bash() {
            let start = self.at;
            self.skip(2);
            if self.arithmetic(b')', start)? {
                return Ok(());
            }
        }
        self.skip(1);
        let any = self.list_apart()?;
        self.require(any)
    }

    fn condition(&mut self) -> Result<()> {
        self.expect(Keyword::If)?;
        loop {
            self.filled_list()?;
            self.expect(Keyword::Then)?;
            self.filled_list()?;
            match self.keyword() {
                Some(Keyword::Elif) => self.expect(Keyword::Elif)?,
                Some(Keyword::Else) => {
                    self.expect(Keyword::Else)?;
                    self.filled_list()?;
                    return self.expect(Keyword::Fi);
                }
                _ => return self.expect(Keyword::Fi),
            }
        }
    }

    /// `do … done`, or `{ … }` in bash's loops over words.
    fn body(&mut self) -> Result<()> {
        self.lines();
        let (open, close) = match self.keyword() {
            Some(Keyword::BraceOpen) if self.bash() => (Keyword::BraceOpen, Keyword::BraceClose),
            Some(Keyword::BraceOpen) => return Err(Stop::Refused),
            _ => (Keyword::Do, Keyword::Done),
        };
        self.expect(open)?;
        self.filled_list()?;
        self.expect(close)
    }

    fn for_loop(&mut self, keyword: Keyword) -> Result<()> {
        self.expect(keyword)?;
        self.blanks();
        if self.peek() == b'(' {
            return self.arithmetic_for();
        }
        let name = self.plain_name()?;
        self.lines();
        let value = if self.keyword() == Some(Keyword::In) {
            self.expect(Keyword::In)?;
            self.for_words()?
        } else {
            unknown()
        };
        self.assigned(name, value);
        self.separator();
        self.body()
    }

    /// The words of a loop: the value that its variable gets.
    fn for_words(&mut self) -> Result<ShellWord> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                0 | b'\n' | b';' => break,
                b'&' | b'|' | b'(' | b')' => return Err(self.refused("a loop has no words")),
                b'<' | b'>' if self.second() != b'(' || !self.bash() => {
                    return Err(self.refused("a loop has no words"));
                }
                _ => words.append(&mut self.words(How::Plain)?),
            }
        }
        Ok(match words.len() {
            1 => words.swap_remove(0),
            _ => unknown(),
        })
    }

    fn arithmetic_for(&mut self) -> Result<()> {
        if self.second() != b'(' || !self.bash() {
            return Err(self.refused("a loop has no variable"));
        }
        let start = self.at;
        self.skip(2);
        if !self.arithmetic(b')', start)? {
            return Err(Stop::Error("arithmetic is not closed"));
        }
        self.separator();
        self.body()
    }

    /// A semicolon or newlines before the body of a loop.
    fn separator(&mut self) {
        self.blanks();
        if self.peek() == b';' && self.second() != b';' {
            self.bump();
        }
        self.lines();
    }

    fn case(&mut self) -> Result<()> {
        self.expect(Keyword::Case)?;
        self.blanks();
        self.words(How::Pattern)?;
        self.lines();
        self.expect(Keyword::In)?;
        loop {
            self.lines();
            if self.keyword() == Some(Keyword::Esac) {
                return self.expect(Keyword::Esac);
            }
            self.case_patterns()?;
            self.scoped_list()?;
            if self.peek() != b';' {
                return self.expect(Keyword::Esac);
            }
            self.case_end()?;
        }
    }

    fn case_patterns(&mut self) -> Result<()> {
        if self.peek() == b'(' {
            self.bump();
        }
        loop {
            self.blanks();
            self.words(How::Pattern)?;
            self.blanks();
            match self.peek() {
                b'|' => self.bump(),
                b')' => {
                    self.bump();
                    return Ok(());
                }
                _ => return Err(self.refused("a pattern is not closed")),
            }
        }
    }

    /// `;;`, or `;&` and `;;&` in bash.
    fn case_end(&mut self) -> Result<()> {
        self.bump();
        if self.peek() == b';' {
            self.bump();
        }
        if self.peek() == b'&' {
            if !self.bash() {
                return Err(Stop::Refused);
            }
            self.bump();
        }
        Ok(())
    }

    /// `function name [()] body`; always a compound command.
    fn function_keyword(&mut self) -> Result<bool> {
        self.expect(Keyword::Function)?;
        self.blanks();
        let start = self.at;
        self.words(How::Plain)?;
        let name = self.since(start);
        self.blanks();
        if self.peek() == b'(' {
            self.bump();
            self.blanks();
            if self.peek() != b')' {
                return Err(Stop::Error("a function takes nothing in its parentheses"));
            }
            self.bump();
        }
        self.function(name)?;
        Ok(true)
    }

    /// The body of a function, after its name and parentheses.
    pub(super) fn function(&mut self, name: &str) -> Result<()> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:+".contains(&byte);
        if name.is_empty() || !name.bytes().all(plain) {
            return Err(Stop::Error("a function has an unusual name"));
        }
        if self.found.has_all_functions() {
            return Err(Stop::Error("there are too many functions"));
        }
        self.lines();
        let (known, start) = (self.found.functions.len(), self.found.commands.len());
        self.found.functions.push(name.to_owned());
        self.command()?;
        self.found.functions.truncate(known + 1);
        self.found.bodies.push((name.to_owned(), start, self.found.commands.len()));
        Ok(())
    }

    /// `coproc [NAME] command`
    fn coprocess(&mut self) -> Result<bool> {
        self.expect(Keyword::Coproc)?;
        self.blanks();
        let start = self.found.commands.len();
        let at = self.at;
        let functions = self.found.functions.len();
        if self.keyword().is_none() && self.peek() != b'(' {
            // A name is one only before a compound command; otherwise it is a program.
            let name = self.plain_name().unwrap_or_default();
            self.blanks();
            let compound =
                self.peek() == b'(' || self.keyword().is_some_and(|keyword| keyword != Keyword::In);
            if name.is_empty() || !compound {
                self.go_back(at)?;
            } else {
                // It gets the numbers of descriptors.
                self.assigned(name, unknown());
            }
        }
        self.command()?;
        self.found.apart(start);
        self.found.functions.truncate(functions);
        Ok(true)
    }

    /// A name without quotes and expansions.
    pub(super) fn plain_name(&mut self) -> Result<String> {
        let mut name = String::new();
        while self.peek().is_ascii_alphanumeric() || self.peek() == b'_' {
            name.push(char::from(self.peek()));
            self.bump();
        }
        let ends = matches!(
            self.peek(),
            0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
        );
        if name.is_empty() || name.as_bytes()[0].is_ascii_digit() || !ends {
            return Err(Stop::Error("a variable has an unusual name"));
        }
        Ok(name)
    }

    /// Remembers that a variable gets a value by other means than an assignment.
    pub(super) fn assigned(&mut self, name: String, value: ShellWord) {
        let assignments = vec![Assignment { name, value }];
        self.found.push(Simple { assignments, apart: self.apart > 0, ..Simple::default() });
    }

    /// Whether the text is read as dash does.
    pub(super) fn dash(&self) -> bool {
        self.dialect == Dialect::Dash
    }
}

pub(super) fn unknown() -> ShellWord {
    ShellWord { pieces: vec![WordPiece::Unknown { splits: true }] }
}
