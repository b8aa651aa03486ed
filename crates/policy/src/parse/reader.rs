//! A place in a text, and how to move on from it.

use super::dialect::Dialect;
use super::found::{Found, Mark};
use super::pending::Pending;

/// How deep rules of the grammar may call each other: constructs may lie in each other half as deep.
pub(super) const MAX_DEPTH: usize = 128;
/// How often a text may be read again where it turned out to be something else, in lengths of the text.
const MAX_AGAIN: usize = 4;
/// More errors than this are not worth reading on after.
const MAX_ERRORS: usize = 16;

/// Why reading stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// The text is no program, or one that is not understood.
    Error(&'static str),
    /// Dash is known to refuse this, and to run nothing from this line on.
    Refused,
}

pub(super) type Result<T> = std::result::Result<T, Stop>;

/// A place in a text, and what was found before it.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) dialect: Dialect,
    pub(super) depth: usize,
    /// How many subshells and substitutions there are around this place.
    pub(super) apart: usize,
    /// Here-documents whose bodies come after the next newline.
    pub(super) pending: Vec<Pending>,
    /// Here-documents of commands around this one wait for their bodies.
    pub(super) outer_pending: bool,
    /// No set of characters ends between here and there.
    pub(super) no_set_before: usize,
    /// The text is a here-document.
    pub(super) in_document: bool,
    /// Bytes that were read more than once.
    again: usize,
    /// What was found up to the end of the last line that is complete: a shell runs it before it reads on.
    pub(super) complete: Mark,
    pub(super) found: Found,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, dialect: Dialect) -> Self {
        Self {
            text,
            at: 0,
            dialect,
            depth: 0,
            apart: 0,
            pending: Vec::new(),
            outer_pending: false,
            no_set_before: 0,
            in_document: false,
            again: 0,
            complete: Mark::default(),
            found: Found::default(),
        }
    }

    /// Reads all of it. After an error it goes on with the next line, so that what follows is not hidden by it.
    pub(super) fn program(&mut self) {
        for _ in 0..MAX_ERRORS {
            let read = self.list();
            if read.is_ok() && self.at_end() {
                return self.read_documents();
            }
            match read.and(Err(self.refused("something is closed that was not opened"))) {
                Ok(()) => return,
                Err(Stop::Error(why)) => self.give_up(why),
                Err(Stop::Refused) => return self.found.forget(&self.complete),
            }
            self.next_line();
            if self.at_end() {
                return;
            }
        }
    }

    /// Reads another text as part of this one: what is in backquotes, or a here-document.
    pub(super) fn inner<T>(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T>,
    ) -> Result<T> {
        let depth = self.deeper()?;
        let mut inner = Reader {
            depth: self.depth,
            apart: self.apart,
            outer_pending: self.outer_pending || !self.pending.is_empty(),
            found: std::mem::take(&mut self.found),
            ..Reader::new(text, self.dialect)
        };
        let outcome = read(&mut inner);
        self.found = inner.found;
        self.depth = depth;
        outcome
    }

    /// One level deeper; gives the depth to return to.
    pub(super) fn deeper(&mut self) -> Result<usize> {
        let depth = self.depth;
        if depth >= MAX_DEPTH {
            return Err(Stop::Error("it is nested too deeply"));
        }
        self.depth += 1;
        Ok(depth)
    }

    /// Whether this is bash, asked where dash reads the same bytes in another way.
    pub(super) fn bash(&mut self) -> bool {
        self.found.differs |= self.dialect == Dialect::Bash;
        self.dialect == Dialect::Bash
    }

    /// The byte here, or 0 at the end. Lines that are continued are one.
    pub(super) fn peek(&mut self) -> u8 {
        self.at = self.joined(self.at);
        self.byte(self.at)
    }

    /// The byte after the one here.
    pub(super) fn second(&self) -> u8 {
        self.byte(self.joined(self.joined(self.at) + 1))
    }

    /// The byte after the next one.
    pub(super) fn third(&self) -> u8 {
        self.byte(self.joined(self.joined(self.joined(self.at) + 1) + 1))
    }

    /// The byte at a place, or 0 at the end.
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Where a place is once continuations of lines are skipped.
    pub(super) fn joined(&self, mut at: usize) -> usize {
        while self.byte(at) == b'\\' && self.byte(at + 1) == b'\n' {
            at += 2;
        }
        at
    }

    /// Passes the byte that [`Self::peek`] saw.
    pub(super) fn bump(&mut self) {
        self.at += 1;
    }

    /// Passes some bytes that were looked at.
    pub(super) fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.peek();
            self.bump();
        }
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.peek() == 0
    }

    /// Skips blanks and a comment.
    pub(super) fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') {
            self.bump();
        }
        if self.peek() == b'#' {
            let rest = &self.text[self.at..];
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Skips blanks, comments and newlines; reads here-documents.
    pub(super) fn lines(&mut self) {
        loop {
            self.blanks();
            if self.peek() != b'\n' {
                return;
            }
            self.newline();
        }
    }

    /// Passes a newline and the here-documents after it.
    pub(super) fn newline(&mut self) {
        self.bump();
        if self.outer_pending {
            // Versions of bash do not agree on whose document starts here.
            self.found.unclear(self.text, "a line ends before its here-document");
        }
        if !self.pending.is_empty() {
            self.read_documents();
        }
    }

    /// Goes back to read something as something else.
    pub(super) fn go_back(&mut self, to: usize) -> Result<()> {
        self.again += self.at.saturating_sub(to);
        self.at = to;
        if self.again > MAX_AGAIN * self.text.len() + 64 {
            return Err(Stop::Error("it can be read in too many ways"));
        }
        Ok(())
    }

    /// The part of the text from a place up to here.
    pub(super) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or("")
    }

    fn give_up(&mut self, why: &'static str) {
        let before = self.text.get(..self.at).unwrap_or("");
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        self.found.unread(&self.text[start..], why);
        self.depth = 0;
        self.apart = 0;
        self.pending.clear();
        self.found.functions.clear();
    }

    fn next_line(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or("");
        self.at += rest.find('\n').map_or(rest.len(), |end| end + 1);
    }
}
