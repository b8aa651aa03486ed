//! Redirections.

use crate::script::{InputSource, Redirect, RedirectKind, ShellWord, WordPiece};

use super::command::Draft;
use super::compound::unknown;
use super::reader::{Reader, Result, Stop};
use super::word::How;

impl Reader<'_> {
    /// Reads the redirections after a compound command. They become an entry of their own, without words, and what they give
    /// to standard input is the input of all commands from `start` on that have none of their own.
    pub(super) fn redirects_of_group(&mut self, start: usize) -> Result<()> {
        let mut draft = Draft { documents: self.pending.len(), ..Draft::default() };
        loop {
            self.blanks();
            match self.peek() {
                b'&' if self.second() == b'>' && self.bash() => self.redirect(&mut draft)?,
                b'<' | b'>' => self.redirect(&mut draft)?,
                b'0'..=b'9' | b'{' if self.descriptor_is_here() => self.redirect(&mut draft)?,
                0 | b'\n' | b';' | b'|' | b'&' | b')' => break,
                // Words of the grammar may follow: `{ a; } then`.
                _ if self.keyword().is_some() => break,
                _ => return Err(self.refused("a word follows a group")),
            }
        }
        let input = draft.simple.input.clone();
        let any = draft.other_redirects || !draft.simple.redirects.is_empty();
        if input != InputSource::Inherited {
            self.feed_group(start, &input, draft.documents);
        }
        if any {
            self.push(draft);
        }
        Ok(())
    }

    fn feed_group(&mut self, start: usize, input: &InputSource, documents: usize) {
        let fed = |input: &InputSource| *input == InputSource::Inherited;
        let places: Vec<usize> = (start..self.found.commands.len())
            .filter(|place| fed(&self.found.commands[*place].input))
            .collect();
        self.found.feed(start, input);
        for place in places {
            self.own_documents(documents, place);
        }
    }

    /// Whether a number or `{name}` stands here right before a redirection.
    pub(super) fn descriptor_is_here(&mut self) -> bool {
        match self.descriptor() {
            Some((_, end)) => {
                let operator = self.byte(end);
                let substitution = self.byte(self.joined(end + 1)) == b'(';
                matches!(operator, b'<' | b'>') && !substitution
            }
            None => false,
        }
    }

    /// The descriptor here and where it ends; none in particular for `{name}`.
    fn descriptor(&mut self) -> Option<(Option<u32>, usize)> {
        self.peek();
        let mut at = self.at;
        if self.byte(at) == b'{' {
            at = self.joined(at + 1);
            let named = self.byte(at).is_ascii_alphabetic() || self.byte(at) == b'_';
            while self.byte(at).is_ascii_alphanumeric() || self.byte(at) == b'_' {
                at = self.joined(at + 1);
            }
            let closed = named && self.byte(at) == b'}' && matches!(self.byte(at + 1), b'<' | b'>');
            return (closed && self.bash()).then_some((None, at + 1));
        }
        let mut digits = 0;
        let mut number = 0_u32;
        while self.byte(at).is_ascii_digit() {
            number = number.saturating_mul(10).saturating_add(u32::from(self.byte(at) - b'0'));
            digits += 1;
            at = self.joined(at + 1);
        }
        let known =
            digits == 1 || (digits > 1 && matches!(self.byte(at), b'<' | b'>') && self.bash());
        if digits > 8 && known {
            self.found.unclear(self.text, "a descriptor has too large a number");
        }
        known.then_some((Some(number), at))
    }

    /// Reads one redirection.
    pub(super) fn redirect(&mut self, draft: &mut Draft) -> Result<()> {
        let mut descriptor = None;
        let mut named = false;
        if self.descriptor_is_here()
            && let Some((number, end)) = self.descriptor()
        {
            descriptor = number;
            named = number.is_none();
            self.at = end;
        }
        let operator = (self.peek(), self.second(), self.third());
        let (length, kind) = match operator {
            (b'&', b'>', b'>') => (3, RedirectKind::Append),
            (b'&', b'>', _) => (2, RedirectKind::Write),
            (b'<', b'<', b'<') if self.bash() => {
                self.skip(3);
                return self.here_string(draft, descriptor);
            }
            (b'<', b'<', b'<') => return Err(Stop::Refused),
            (b'<', b'<', third) => {
                self.skip(if third == b'-' { 3 } else { 2 });
                return self.here_document(draft, descriptor, third == b'-');
            }
            (b'<' | b'>', b'&', _) => return self.duplicate(draft, descriptor),
            (b'<', b'>', _) => (2, RedirectKind::ReadWrite),
            (b'>', b'>', _) => (2, RedirectKind::Append),
            (b'>', b'|', _) => (2, RedirectKind::Write),
            (b'>', ..) => (1, RedirectKind::Write),
            _ => (1, RedirectKind::Read),
        };
        self.skip(length);
        let reads = matches!(kind, RedirectKind::Read | RedirectKind::ReadWrite);
        let to_input = reads && !named && descriptor.unwrap_or(0) == 0;
        self.file(draft, kind, to_input)
    }

    fn file(&mut self, draft: &mut Draft, kind: RedirectKind, to_input: bool) -> Result<()> {
        let before = self.found.commands.len();
        self.blanks();
        let substitution = matches!(self.peek(), b'<' | b'>') && self.second() == b'(';
        let target = self.target()?;
        let inside = before..self.found.commands.len();
        if to_input && substitution {
            draft.simple.input = InputSource::Pipe(inside.collect());
        } else if to_input {
            draft.simple.input = InputSource::File(target.clone());
        } else if substitution {
            draft.readers.push(inside);
        }
        draft.other_redirects = true;
        if !substitution {
            draft.simple.redirects.push(Redirect { kind, target });
        }
        Ok(())
    }

    /// The word after a redirection.
    fn target(&mut self) -> Result<ShellWord> {
        self.blanks();
        if self.word_ends() {
            return Err(self.refused("a redirection has no target"));
        }
        let mut words = self.words(How::Plain)?;
        // Several would be an error when it runs; which one it is cannot be said before.
        Ok(if words.len() == 1 { words.swap_remove(0) } else { unknown() })
    }

    /// `<&word` and `>&word`: another descriptor, or a file in bash.
    fn duplicate(&mut self, draft: &mut Draft, descriptor: Option<u32>) -> Result<()> {
        let writes = self.peek() == b'>';
        self.skip(2);
        let target = self.target()?;
        draft.other_redirects = true;
        let number = target.literal().is_some_and(|text| {
            let digits = text.strip_suffix('-').unwrap_or(&text);
            digits.bytes().all(|byte| byte.is_ascii_digit())
        });
        if writes && !number {
            draft.simple.redirects.push(Redirect { kind: RedirectKind::Write, target });
        } else if !writes
            && descriptor.unwrap_or(0) == 0
            && target.literal().as_deref() != Some("-")
        {
            draft.simple.input =
                InputSource::File(ShellWord { pieces: vec![WordPiece::Unknown { splits: false }] });
        }
        Ok(())
    }

    fn here_string(&mut self, draft: &mut Draft, descriptor: Option<u32>) -> Result<()> {
        self.blanks();
        if self.word_ends() {
            return Err(Stop::Error("a here-string has no text"));
        }
        let mut words = self.words(How::Value)?;
        let mut text = words.pop().unwrap_or_default();
        text.pieces.push(WordPiece::Literal("\n".to_owned()));
        draft.other_redirects = true;
        if descriptor.unwrap_or(0) == 0 {
            draft.simple.input = InputSource::Text(text);
        }
        Ok(())
    }
}
