//! Reads a script for `sed`: what it writes, and what it runs.

use super::finding::Finding;

const UNCLEAR: Finding = Finding::Unclear("the code for sed is not understood");

/// What a script does. Some versions let brackets hide the delimiter of a pattern (`s/[/]/x/`) and some do not: both readings count,
/// and a reading that is no valid script counts for nothing as long as the other is one.
pub(super) fn findings(script: &str) -> Vec<Finding> {
    let hiding = Reader::new(script, true).read();
    if !script.contains('[') {
        return hiding.unwrap_or_else(|| vec![UNCLEAR]);
    }
    match (hiding, Reader::new(script, false).read()) {
        (None, None) => vec![UNCLEAR],
        (Some(only), None) | (None, Some(only)) => only,
        (Some(mut findings), Some(others)) => {
            for other in others {
                if !findings.contains(&other) {
                    findings.push(other);
                }
            }
            findings
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
    brackets_hide: bool,
    findings: Vec<Finding>,
}

impl<'t> Reader<'t> {
    fn new(script: &'t str, brackets_hide: bool) -> Self {
        Self { rest: script, brackets_hide, findings: Vec::new() }
    }

    /// All commands of the script; nothing where it is no valid one.
    fn read(mut self) -> Option<Vec<Finding>> {
        loop {
            self.skip(|c| c.is_ascii_whitespace() || matches!(c, ';' | '}'));
            if self.rest.is_empty() {
                return Some(self.findings);
            }
            self.addresses()?;
            self.command()?;
        }
    }

    fn skip(&mut self, unwanted: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(unwanted);
    }

    fn blanks(&mut self) {
        self.skip(|c| matches!(c, ' ' | '\t'));
    }

    fn take(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let first = letters.next()?;
        self.rest = letters.as_str();
        Some(first)
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn digits(&mut self) {
        self.skip(|c| c.is_ascii_digit());
    }

    fn addresses(&mut self) -> Option<()> {
        if self.address()? {
            self.blanks();
            if self.peek() == Some(',') {
                self.take();
                self.blanks();
                self.skip(|c| matches!(c, '+' | '~'));
                if !self.address()? {
                    return None;
                }
            }
        }
        self.skip(|c| matches!(c, ' ' | '\t' | '!'));
        Some(())
    }

    /// An address, if there is one.
    fn address(&mut self) -> Option<bool> {
        match self.peek()? {
            '0'..='9' => {
                self.digits();
                if self.peek() == Some('~') {
                    self.take();
                    self.digits();
                }
            }
            '$' => {
                self.take();
            }
            '/' => {
                self.take();
                self.pattern('/')?;
                self.skip(|c| matches!(c, 'I' | 'M'));
            }
            '\\' => {
                self.take();
                let delimiter = self.take().filter(|c| !matches!(c, '\n' | '\\'))?;
                self.pattern(delimiter)?;
                self.skip(|c| matches!(c, 'I' | 'M'));
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn command(&mut self) -> Option<()> {
        match self.take()? {
            '{' => return Some(()),
            '#' => {
                self.line();
                return Some(());
            }
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {}
            'l' | 'L' | 'q' | 'Q' => {
                self.blanks();
                self.digits();
            }
            'a' | 'i' | 'c' => {
                self.text();
                return Some(());
            }
            ':' | 'b' | 't' | 'T' | 'v' => {
                self.blanks();
                self.skip(|c| !c.is_ascii_whitespace() && c != ';');
            }
            'r' | 'R' => {
                let path = self.line();
                self.findings.push(Finding::Reads(path.to_owned()));
                return Some(());
            }
            'w' | 'W' => return self.file(),
            'e' => {
                let text = self.line();
                self.findings.push(match text {
                    "" => Finding::Unclear("the code for sed runs what is in its input"),
                    text => Finding::Runs(text.to_owned()),
                });
                return Some(());
            }
            's' => self.substitution()?,
            'y' => {
                let delimiter = self.take().filter(|c| !matches!(c, '\n' | '\\'))?;
                self.replacement(delimiter)?;
                self.replacement(delimiter)?;
            }
            _ => return None,
        }
        self.end()
    }

    /// What may follow a command.
    fn end(&mut self) -> Option<()> {
        self.blanks();
        match self.peek() {
            None | Some('\n' | ';' | '}' | '#' | '\r') => Some(()),
            Some(_) => None,
        }
    }

    /// The rest of the line.
    fn line(&mut self) -> &'t str {
        self.blanks();
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line
    }

    fn file(&mut self) -> Option<()> {
        let path = self.line();
        if path.is_empty() {
            return None;
        }
        self.findings.push(Finding::Writes(path.to_owned()));
        Some(())
    }

    /// Lines of text that go on as long as they end with a backslash.
    fn text(&mut self) {
        let mut escaped = false;
        while let Some(letter) = self.take() {
            match letter {
                '\n' if !escaped => return,
                '\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
    }

    fn substitution(&mut self) -> Option<()> {
        let delimiter = self.take().filter(|c| !matches!(c, '\n' | '\\'))?;
        self.pattern(delimiter)?;
        self.replacement(delimiter)?;
        loop {
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                    self.take();
                }
                Some('e') => {
                    self.take();
                    let why = "the code for sed runs the result of a substitution";
                    self.findings.push(Finding::Unclear(why));
                }
                Some('w') => {
                    self.take();
                    return self.file();
                }
                _ => return Some(()),
            }
        }
    }

    /// A regular expression up to its delimiter.
    fn pattern(&mut self, delimiter: char) -> Option<()> {
        self.up_to(delimiter, self.brackets_hide)
    }

    /// Everything up to a delimiter, which a class in brackets may hide.
    fn up_to(&mut self, delimiter: char, brackets_hide: bool) -> Option<()> {
        loop {
            match self.take()? {
                letter if letter == delimiter => return Some(()),
                '\\' => {
                    self.take()?;
                }
                '\n' => return None,
                '[' if brackets_hide => self.bracket()?,
                _ => {}
            }
        }
    }

    /// A class in brackets up to its end.
    fn bracket(&mut self) -> Option<()> {
        if self.peek() == Some('^') {
            self.take();
        }
        if self.peek() == Some(']') {
            self.take();
        }
        loop {
            match self.take()? {
                ']' => return Some(()),
                '\n' => return None,
                '[' => {
                    if let Some(kind @ ('.' | ':' | '=')) = self.peek() {
                        let end: String = [kind, ']'].iter().collect();
                        let at = self.rest[1..].find(&end)? + 1;
                        self.rest = &self.rest[at + 2..];
                    }
                }
                _ => {}
            }
        }
    }

    /// What is put in, up to the delimiter.
    fn replacement(&mut self, delimiter: char) -> Option<()> {
        self.up_to(delimiter, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, expected: &[Finding]) {
        assert_eq!(findings(script), expected, "{script}");
    }

    #[test]
    fn what_only_reads() {
        let harmless = [
            "s/a/b/g",
            "1,5p",
            "$d",
            "/start/,/end/{s/x/y/;p}",
            "\\,a/b,d",
            "s|/usr|/opt|gI",
            "s/[^/]*$//",
            "1~2p;$!N;P;D",
            ":a;N;$!ba;s/\\n/ /g",
            "2q;=;l 5",
            "y/abc/xyz/",
            "1i\\\nwrites nothing\\\nw file",
            "a w file",
            "/x/!d # w file",
            "s/w file/e/",
            "0,/re/s//x/2p",
            "10,+3p\n20,~4p",
        ];
        for script in harmless {
            check(script, &[]);
        }
    }

    #[test]
    fn what_writes() {
        let writes = |path: &str| [Finding::Writes(path.to_owned())];
        check("w out", &writes("out"));
        check("/x/w out; p", &writes("out; p"));
        check("s/a/b/gw out", &writes("out"));
        check("1{W /etc/x\n}", &writes("/etc/x"));
        check("a text\nw out", &writes("out"));
        check("s/[/]/x/w out", &writes("out"));
        check("s/[/x/w out", &writes("out"));
    }

    #[test]
    fn what_runs() {
        check("1e rm -rf x", &[Finding::Runs("rm -rf x".to_owned())]);
        assert!(matches!(findings("e").as_slice(), [Finding::Unclear(_)]));
        assert!(matches!(findings("s/a/rm x/e").as_slice(), [Finding::Unclear(_)]));
    }

    #[test]
    fn what_is_not_understood() {
        for script in ["s/a/b", "k", "s/a/b/x", "w", "1,p", "pp x", "/a", "s"] {
            check(script, &[UNCLEAR]);
        }
    }
}
