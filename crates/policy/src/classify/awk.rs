//! Reads a program for `awk`: what it writes, and what it runs.

mod lexer;

use super::finding::Finding;
use lexer::Token;

/// What a program does.
pub(super) fn findings(program: &str) -> Vec<Finding> {
    let Some(tokens) = lexer::tokens(program) else {
        return vec![Finding::Unclear("the code for awk is not understood")];
    };
    let mut reader =
        Reader { tokens: &tokens, at: 0, depth: 0, printing: None, findings: Vec::new() };
    reader.read();
    reader.findings
}

struct Reader<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
    /// How many parentheses are open.
    depth: usize,
    /// The parentheses that were open where a `print` began that has not ended.
    printing: Option<usize>,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Word("print" | "printf") => self.printing = Some(self.depth),
                Token::Word("system") => self.system(),
                Token::Word("getline") => self.get_line(),
                Token::Sign("(") => self.depth += 1,
                Token::Sign(")") => self.depth = self.depth.saturating_sub(1),
                Token::Sign(";" | "{" | "}") => self.printing = None,
                Token::Line if !self.goes_on() => self.printing = None,
                Token::Sign(">" | ">>") if self.printing == Some(self.depth) => self.write(),
                Token::Sign("|" | "|&") => self.pipe(),
                Token::Sign("@") => {
                    self.unclear("the code for awk loads other code or calls a function by a name");
                }
                Token::Text(text) if text.starts_with("/inet") => {
                    self.findings.push(Finding::Connects((*text).clone()));
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn unclear(&mut self, why: &'static str) {
        self.findings.push(Finding::Unclear(why));
    }

    fn ahead(&self, by: usize) -> Option<&Token<'_>> {
        self.tokens.get(self.at + by)
    }

    fn behind(&self, by: usize) -> Option<&Token<'_>> {
        self.at.checked_sub(by).and_then(|at| self.tokens.get(at))
    }

    /// Whether a statement goes on behind the end of the line here.
    fn goes_on(&self) -> bool {
        matches!(self.behind(1), Some(Token::Sign("," | "&&" | "||" | "?" | ":") | Token::Line))
    }

    /// The text ahead, if it is all that stands there up to the end of a statement.
    fn text_alone(&self) -> Option<String> {
        let ends = matches!(self.ahead(2), None | Some(Token::Line | Token::Sign(";" | "}" | ")")));
        match self.ahead(1) {
            Some(Token::Text(text)) if ends => Some(text.clone()),
            _ => None,
        }
    }

    fn write(&mut self) {
        match self.text_alone() {
            Some(path) => self.findings.push(Finding::Writes(path)),
            None => {
                self.unclear("the code for awk writes to a file that is only known when it runs")
            }
        }
    }

    fn run(&mut self, text: Option<String>, how: impl FnOnce(String) -> Finding) {
        match text {
            Some(text) => self.findings.push(how(text)),
            None => self.unclear("the code for awk runs a command that is only known when it runs"),
        }
    }

    fn system(&mut self) {
        let text = match (self.ahead(1), self.ahead(2), self.ahead(3)) {
            (Some(Token::Sign("(")), Some(Token::Text(text)), Some(Token::Sign(")"))) => {
                Some(text.clone())
            }
            _ => None,
        };
        self.run(text, Finding::Runs);
    }

    /// `print | "command"`, or `"command" | getline`.
    fn pipe(&mut self) {
        let reads = matches!(self.ahead(1), Some(Token::Word("getline")));
        if reads {
            self.run(self.text_before(), Finding::Runs);
        } else {
            self.run(self.text_alone(), Finding::Feeds);
        }
    }

    /// The text before a `|`, if it is the whole command.
    fn text_before(&self) -> Option<String> {
        let starts = matches!(
            self.behind(2),
            None | Some(Token::Line | Token::Sign(";" | "{" | "}" | "(" | "&&" | "||" | "!"))
        );
        match self.behind(1) {
            Some(Token::Text(text)) if starts => Some(text.clone()),
            _ => None,
        }
    }

    /// `getline < "file"`, `getline line < "file"`.
    fn get_line(&mut self) {
        for by in 1..=2 {
            if matches!(self.ahead(by), Some(Token::Sign("<")))
                && let Some(Token::Text(path)) = self.ahead(by + 1)
            {
                let path = path.clone();
                return self.findings.push(Finding::Reads(path));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(program: &str, expected: &[Finding]) {
        assert_eq!(findings(program), expected, "{program}");
    }

    #[track_caller]
    fn check_unclear(program: &str) {
        let found = findings(program);
        assert!(found.iter().any(|f| matches!(f, Finding::Unclear(_))), "{program}: {found:?}");
    }

    #[test]
    fn what_only_reads() {
        let harmless = [
            "{print $1}",
            "NR>1 && $3 > 10 {print $2, $3}",
            "BEGIN{FS=\":\"} /a\\/b/ {n++} END{printf \"%d > %s | x\\n\", n, \"system(1)\"}",
            "{ if ($1 > max) max = $1 } END { print (a > b), max }",
            "$0 ~ /x > \"y\"/ { print } # print > \"file\"",
            "{ a[$1] += $2 / 3 } END { for (k in a) print k, a[k] / 2 }",
            "!seen[$0]++",
            "NR==FNR{a[$1];next} ($1 in a)",
            "{print > \"/dev/stderr\"}",
        ];
        for program in &harmless[..8] {
            check(program, &[]);
        }
        check(harmless[8], &[Finding::Writes("/dev/stderr".to_owned())]);
    }

    #[test]
    fn what_writes() {
        check("{print > \"out\"}", &[Finding::Writes("out".to_owned())]);
        check("{print $1, $2 >> \"out\"; n = 1 > 2}", &[Finding::Writes("out".to_owned())]);
        check("{print $1,\n$2 > \"out\"}", &[Finding::Writes("out".to_owned())]);
        check("{printf(\"%s\", $1) > \"out\"}", &[Finding::Writes("out".to_owned())]);
        check("BEGIN{printf \"a\" > \"\\x6fut\"}", &[Finding::Writes("out".to_owned())]);
        check_unclear("{print > $1 \".txt\"}");
        check_unclear("{print > \"a\" \"b\"}");
    }

    #[test]
    fn what_runs() {
        let runs = |text: &str| [Finding::Runs(text.to_owned())];
        check("BEGIN{system(\"rm x\")}", &runs("rm x"));
        check("{print | \"sort -u\"}", &[Finding::Feeds("sort -u".to_owned())]);
        check("BEGIN{while ((\"date\" | getline d) > 0) print d}", &runs("date"));
        check("BEGIN { \"id\" | getline }", &runs("id"));
        check_unclear("{system($0)}");
        check_unclear("{system(\"rm \" $1)}");
        check_unclear("{print | cmd}");
        check_unclear("BEGIN{\"r\" \"m x\" | getline}");
        check_unclear("@load \"filefuncs\"; BEGIN{}");
        check_unclear("BEGIN{f=\"system\"; @f(\"rm x\")}");
    }

    #[test]
    fn reads_and_connections() {
        check("BEGIN{getline l < \"f\"; print l}", &[Finding::Reads("f".to_owned())]);
        let place = "/inet/tcp/0/h/80".to_owned();
        let found = findings("BEGIN{s=\"/inet/tcp/0/h/80\"; print \"x\" |& s}");
        assert!(found.contains(&Finding::Connects(place)));
    }

    #[test]
    fn what_may_be_read_in_two_ways() {
        check_unclear("{ if (1) /\"/; print \"x\" > \"f\"; if (1) /\"/ }");
        check_unclear("/[/]/ {print}");
        check_unclear("{print \"x}");
        check_unclear("/abc");
    }
}
