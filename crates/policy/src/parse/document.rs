//! Here-documents.

use crate::script::{InputSource, ShellWord, WordPiece};

use super::command::Draft;
use super::pending::Pending;
use super::reader::{Reader, Result, Stop};
use super::word::Builder;

/// A document is given to no more commands than this; the others know only that there is one.
const MAX_COPIES: usize = 16;

impl Reader<'_> {
    /// Reads the delimiter after `<<`.
    pub(super) fn here_document(
        &mut self,
        draft: &mut Draft,
        descriptor: Option<u32>,
        strip: bool,
    ) -> Result<()> {
        self.blanks();
        let (delimiter, literal) = self.delimiter()?;
        let to_input = descriptor.unwrap_or(0) == 0;
        draft.other_redirects = true;
        if to_input {
            // What stands here until the body is read, and what remains if there is none.
            draft.simple.input = InputSource::Text(ShellWord::default());
        }
        self.pending.push(Pending { delimiter, literal, strip, to_input, owners: Vec::new() });
        Ok(())
    }

    /// The last of the documents since `first` goes to a command, unless another file came after it.
    pub(super) fn own_documents(&mut self, first: usize, place: usize) {
        let Some(simple) = self.found.commands.get(place) else { return };
        if simple.input != InputSource::Text(ShellWord::default()) {
            return;
        }
        let mine = self.pending.iter_mut().skip(first).rev().find(|pending| pending.to_input);
        if let Some(pending) = mine {
            pending.owners.push(place);
        }
    }

    /// The delimiter without its quotes, and whether it had any.
    fn delimiter(&mut self) -> Result<(String, bool)> {
        let (mut delimiter, mut quoted) = (String::new(), false);
        while !self.word_ends() {
            let start = self.at;
            match self.peek() {
                b'$' | b'`' => return Err(Stop::Error("a here-document has an unusual delimiter")),
                b'\\' => {
                    quoted = true;
                    self.bump();
                    self.pass_char();
                    delimiter.push_str(self.text.get(start + 1..self.at).unwrap_or(""));
                }
                quote @ (b'\'' | b'"') => {
                    quoted = true;
                    self.bump();
                    let rest = self.text.get(start + 1..).unwrap_or("");
                    let Some(length) = rest.find(char::from(quote)) else {
                        return Err(Stop::Error("a quote is not closed"));
                    };
                    let inside = &rest[..length];
                    if inside.contains(['\\', '$', '`', '\n']) {
                        return Err(Stop::Error("a here-document has an unusual delimiter"));
                    }
                    delimiter.push_str(inside);
                    self.at += length + 1;
                }
                _ => {
                    self.pass_char();
                    delimiter.push_str(self.text.get(start..self.at).unwrap_or(""));
                }
            }
        }
        if delimiter.is_empty() && !quoted {
            return Err(self.refused("a here-document has no delimiter"));
        }
        Ok((delimiter, quoted))
    }

    /// Reads the bodies of all documents that wait for them.
    pub(super) fn read_documents(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let body = self.document_lines(&pending);
            let word =
                if pending.literal { Ok(ShellWord::new(body)) } else { self.expanded(&body) };
            let word = word.unwrap_or_else(|_| {
                self.found.unread(&pending.delimiter, "a here-document is not understood");
                ShellWord { pieces: vec![WordPiece::Unknown { splits: false }] }
            });
            self.give(&pending.owners, &word);
        }
    }

    fn give(&mut self, owners: &[usize], word: &ShellWord) {
        for (index, place) in owners.iter().enumerate() {
            if let Some(simple) = self.found.commands.get_mut(*place) {
                simple.input = match index < MAX_COPIES {
                    true => InputSource::Text(word.clone()),
                    false => InputSource::Several,
                };
            }
        }
    }

    /// The lines up to the delimiter, or up to the end where it is missing.
    fn document_lines(&mut self, pending: &Pending) -> String {
        let mut body = String::new();
        let mut continued = false;
        while self.at < self.text.len() {
            let rest = self.text.get(self.at..).unwrap_or("");
            let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let mut line = &rest[..length];
            self.at += length;
            if pending.strip {
                line = line.trim_start_matches('\t');
            }
            if !continued && line.strip_suffix('\n').unwrap_or(line) == pending.delimiter {
                return body;
            }
            body.push_str(line);
            let slashes =
                line.trim_end_matches('\n').bytes().rev().take_while(|byte| *byte == b'\\').count();
            continued = !pending.literal && slashes % 2 == 1;
            if continued && pending.strip {
                // Whether tabs go from a line that continues another depends on the shell.
                self.found.unclear(&pending.delimiter, "a line of a here-document is continued");
            }
        }
        body
    }

    /// A body with its expansions.
    fn expanded(&mut self, body: &str) -> Result<ShellWord> {
        if !body.contains(['$', '`', '\\']) {
            return Ok(ShellWord::new(body));
        }
        self.inner(body, |reader| {
            reader.in_document = true;
            let mut builder = Builder::default();
            while !reader.at_end() {
                reader.quoted_part(&mut builder, false)?;
            }
            Ok(builder.into_word())
        })
    }
}
