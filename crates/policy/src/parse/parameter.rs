//! Parameters in braces: `${name}` and all that may follow the name.

use crate::script::ShellWord;

use super::compound::unknown;
use super::reader::{Reader, Result, Stop};
use super::word::Builder;

impl Reader<'_> {
    /// Reads a parameter after `${`. `in_quotes` says that double quotes or a here-document are around it.
    pub(super) fn parameter(
        &mut self,
        builder: &mut Builder,
        quoted: bool,
        in_quotes: bool,
    ) -> Result<()> {
        let start = self.at;
        if matches!(self.peek(), b' ' | b'\t' | b'\n' | b'|') {
            // Newer versions of bash run commands in here; all others refuse it.
            return Err(Stop::Error("a parameter has no name"));
        }
        let indirect =
            self.peek() == b'!' && (self.second().is_ascii_alphanumeric() || self.second() == b'_');
        if indirect || (self.peek() == b'#' && self.second() != b'}') {
            self.bump();
        }
        let name = self.parameter_name();
        let all = name == "@" || (self.peek() == b'[' && self.second() == b'@');
        if self.peek() == b'[' && !name.is_empty() {
            self.parameter_index()?;
        }
        if indirect && !self.lists_names(start) {
            self.found.unclear(self.since(start), "the name of a variable is in a variable");
        }
        if self.peek() == b'@' && self.second() == b'P' {
            self.found.unclear(self.since(start), "a value is expanded as a prompt");
        }
        let substring = self.peek() == b':' && !matches!(self.second(), b'-' | b'=' | b'?' | b'+');
        let operator = self.at;
        let assigns = self.peek() == b'=' || (self.peek() == b':' && self.second() == b'=');
        let value = self.parameter_rest(in_quotes)?;
        if substring {
            let evaluated = |c: char| c.is_ascii_alphabetic() || "_$`".contains(c);
            self.found.arithmetic |= self.since(operator).contains(evaluated);
        }
        if assigns {
            self.assigned(name, value);
        }
        match self.since(start) {
            "HOME}" => builder.parameter("HOME", quoted),
            "PWD}" => builder.parameter("PWD", quoted),
            _ => builder.unknown(quoted && !all),
        }
        Ok(())
    }

    /// Whether `${!` is followed by `prefix*}` or `name[@]}`: names and indices, no values.
    fn lists_names(&mut self, start: usize) -> bool {
        let read = self.since(start);
        match self.peek() {
            b'*' | b'@' => self.second() == b'}',
            b'}' => read.ends_with("[@]") || read.ends_with("[*]"),
            _ => false,
        }
    }

    fn parameter_name(&mut self) -> String {
        let mut name = String::new();
        loop {
            let byte = self.peek();
            if byte.is_ascii_alphanumeric() || byte == b'_' {
                name.push(char::from(byte));
                self.bump();
            } else {
                break;
            }
        }
        if name.is_empty() && matches!(self.peek(), b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
        {
            name.push(char::from(self.peek()));
            self.bump();
        }
        name
    }

    fn parameter_index(&mut self) -> Result<()> {
        self.bump();
        if self.index()? { Ok(()) } else { Err(Stop::Error("an index is not closed")) }
    }

    /// All up to the brace that closes the parameter; the word after its operator as far as it is known.
    fn parameter_rest(&mut self, in_quotes: bool) -> Result<ShellWord> {
        let mut builder = Builder::default();
        loop {
            match self.peek() {
                0 => return Err(Stop::Error("a parameter is not closed")),
                b'}' => break,
                b'\'' if in_quotes => {
                    // Whether this quotes depends on the shell and on the operator.
                    self.found.unclear(self.text, "there are quotes in a parameter in quotes");
                    self.bump();
                }
                b'"' if in_quotes => self.quotes_in_quotes(&mut builder)?,
                b'\\' if in_quotes && self.second() == b'}' => self.skip(2),
                _ if in_quotes => self.quoted_part_of_parameter(&mut builder)?,
                b'<' | b'>' if self.second() == b'(' && self.bash() => {
                    self.process_substitution(&mut builder)?
                }
                _ => self.unquoted_part(&mut builder, true)?,
            }
        }
        self.bump();
        let word = builder.into_word();
        Ok(match word.literal() {
            Some(text) if text.starts_with([':', '=']) => {
                ShellWord::new(text.trim_start_matches(':').trim_start_matches('=').to_owned())
            }
            _ => unknown(),
        })
    }

    fn quotes_in_quotes(&mut self, builder: &mut Builder) -> Result<()> {
        if self.in_document {
            self.found.unclear(self.text, "there are quotes in a parameter in a here-document");
            self.bump();
            return Ok(());
        }
        self.double_quoted(builder)
    }

    /// As in double quotes, one character at a time: a brace closes the parameter.
    fn quoted_part_of_parameter(&mut self, builder: &mut Builder) -> Result<()> {
        if matches!(self.peek(), b'\\' | b'$' | b'`') {
            return self.quoted_part(builder, true);
        }
        let start = self.at;
        self.pass_char();
        builder.push_str(self.since(start));
        Ok(())
    }
}
