//! What a command prints: one document for programs, or text for people.

use std::borrow::Cow;
use std::ffi::CStr;
use std::io::{self, IsTerminal, Write};
use std::os::fd::BorrowedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FileType, Mode, OFlags};

use offshoot_engine::text::{Passes, TerminalText, harmless, is_invisible};
use offshoot_protocol::{Document, ErrorDocument, ExitCode, Kind, Question, When};
use serde::Serialize;

use crate::error::{CliError, Result, body, hint};
use crate::progress;
use crate::render::{self, BAD, DIM, paint, paths_in};

/// Prints the answer of one command.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    notes: Mutex<Vec<String>>,
    hints: Mutex<Vec<String>>,
    code: Mutex<ExitCode>,
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        let code = Mutex::new(ExitCode::Success);
        Self { json, quiet, notes: Mutex::default(), hints: Mutex::default(), code }
    }

    /// Says when there are colours.
    pub(crate) fn set_color(&self, color: When) {
        let choice = match color {
            When::Auto => anstream::ColorChoice::Auto,
            When::Always => anstream::ColorChoice::Always,
            When::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// The notes so far, for an answer of another form.
    pub(crate) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.notes))
    }

    /// Something worth knowing that did not stop the command.
    pub(crate) fn note(&self, text: impl Into<String>) {
        locked(&self.notes).push(text.into());
    }

    /// Something worth knowing at once, on standard error.
    pub(crate) fn at_once(&self, text: &str) {
        if !self.quiet {
            eprint(&format!("{}\n", paint(DIM, &render::line(text))));
        }
    }

    /// Something worth knowing that has nothing to do with the command: it comes last, on standard error, and is no part of
    /// a document.
    pub(crate) fn hint(&self, text: impl Into<String>) {
        locked(&self.hints).push(text.into());
    }

    /// Answers with what was asked for: printed even when quiet.
    pub(crate) fn data<T: Kind>(
        &self,
        document: T,
        human: impl FnOnce(&T) -> String,
    ) -> Result<()> {
        self.conclude(document.exit_code());
        self.answer(Document::new(document, self.notes_of_document()), human, true)
    }

    /// Answers behind lines of JSON, as the last of them.
    pub(crate) fn last_line<T: Kind>(&self, document: T) -> Result<()> {
        self.conclude(document.exit_code());
        claim_answer();
        finish_write(print_json(&Document::new(document, self.take_notes())))
    }

    /// Answers a question whose answer can be no: then what was asked for does not hold, as the exit code says too.
    pub(crate) fn checked<T: Question>(
        &self,
        document: T,
        human: impl FnOnce(&T) -> String,
    ) -> Result<()> {
        self.conclude(document.answer());
        self.answer(Document::answering(document, self.notes_of_document()), human, true)
    }

    /// Answers that something was done: not printed when quiet.
    pub(crate) fn done<T: Kind>(
        &self,
        document: T,
        human: impl FnOnce(&T) -> String,
    ) -> Result<()> {
        self.conclude(document.exit_code());
        self.answer(Document::new(document, self.notes_of_document()), human, false)
    }

    /// Says what the process ends with, for an answer of another form.
    pub(crate) fn conclude(&self, code: ExitCode) {
        *locked(&self.code) = code;
    }

    /// What the process ends with: what the last answer came to.
    pub(crate) fn exit_code(&self) -> ExitCode {
        *locked(&self.code)
    }

    fn notes_of_document(&self) -> Vec<String> {
        if self.json { self.take_notes() } else { Vec::new() }
    }

    fn answer<T: Kind>(
        &self,
        document: Document<T>,
        human: impl FnOnce(&T) -> String,
        always: bool,
    ) -> Result<()> {
        claim_answer();
        if self.json {
            return finish_write(print_json(&document));
        }
        self.print_notes();
        if always || !self.quiet {
            self.text(&human(&document.result))?;
        }
        Ok(())
    }

    /// Writes text to standard output, with colours where they are wanted.
    pub(crate) fn text(&self, text: &str) -> Result<()> {
        let text = for_people(text, io::stdout().is_terminal());
        finish_write(progress::beside(|| {
            let mut out = anstream::stdout().lock();
            out.write_all(&text).and_then(|()| out.flush())
        }))
    }

    /// Has bytes written to standard output as they come: exactly as they are, but for a terminal, where `passes` says what may.
    pub(crate) fn stream(
        &self,
        passes: Option<Passes>,
        write: impl FnOnce(&mut dyn Write) -> Result<()>,
    ) -> Result<()> {
        let out = io::BufWriter::new(io::stdout().lock());
        let text = passes.filter(|_| io::stdout().is_terminal()).map(TerminalText::new);
        let mut out = Guarded { out, text, closed: false, failed: None };
        let written = write(&mut out).map(|()| out.end());
        match (out.failed, written) {
            (Some(error), _) => finish_write(Err(error)),
            (None, written) => finish_write(written?),
        }
    }

    /// Writes the bytes of a file to standard output.
    pub(crate) fn file(&self, bytes: &[u8]) -> Result<()> {
        self.stream(Some(Passes::Nothing), |out| finish_write(out.write_all(bytes)))
    }

    /// Whether standard output shows colours.
    pub(crate) fn is_coloured(&self) -> bool {
        anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
    }

    /// Notes go before data, so that they are seen even when the data fills the screen.
    pub(crate) fn print_notes(&self) {
        for note in self.take_notes() {
            if !self.quiet {
                eprint(&format!("{}\n", paint(DIM, &render::line(&note))));
            }
        }
    }

    /// Prints notes that no answer took along.
    pub(crate) fn finish(&self) -> Result<()> {
        if !self.json {
            self.print_notes();
        }
        for hint in std::mem::take(&mut *locked(&self.hints)).iter().filter(|_| !self.quiet) {
            eprint(&format!("{}\n", paint(DIM, &render::line(hint))));
        }
        Ok(())
    }
}

/// Standard output that swallows everything once its reader is gone, and remembers why else it could not be written: whoever writes
/// to it tells of that in other words.
struct Guarded<W> {
    out: W,
    /// Makes what is written harmless for a terminal.
    text: Option<TerminalText>,
    closed: bool,
    failed: Option<io::Error>,
}

impl<W: Write> Guarded<W> {
    /// Writes what was held back, and all that is in a buffer.
    fn end(&mut self) -> io::Result<()> {
        let rest = self.text.take().map(|mut text| text.finish());
        self.write_all(&rest.unwrap_or_default())?;
        self.flush()
    }

    fn guard<T>(&mut self, done: io::Result<T>, swallowed: T) -> io::Result<T> {
        match done {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(swallowed)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let told = io::Error::from(error.kind());
                self.failed = Some(error);
                Err(told)
            }
            Ok(done) => Ok(done),
        }
    }
}

impl<W: Write> Write for Guarded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        let written = match &mut self.text {
            Some(text) => self.out.write_all(&text.push(bytes)).map(|()| bytes.len()),
            None => self.out.write(bytes),
        };
        self.guard(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.guard(flushed, ())
    }
}

/// What several threads may change.
fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who answers, the command or somebody who interrupts it: whoever comes first.
static ANSWERS: Mutex<Option<Answers>> = Mutex::new(None);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    Command,
    Interruption,
}

/// Called before the command answers. What interrupts it from now on is too late. Does not return where it was interrupted already: the
/// process is about to end.
pub(crate) fn claim_answer() {
    loop {
        let mut first = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
        if *first.get_or_insert(Answers::Command) == Answers::Command {
            return;
        }
        drop(first);
        std::thread::park();
    }
}

/// Whether an interruption may still answer in place of the command, which then never does.
pub(crate) fn interruption_answers() -> bool {
    let mut first = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    *first.get_or_insert(Answers::Interruption) == Answers::Interruption
}

/// Whoever started this process may have standard output or standard error be such that nobody waits for room in it; then answers would
/// be cut. That belongs to everybody who shares the open pipe, so it is opened once more.
pub(crate) fn take_time() {
    // A file would be written from its start again, and a socket cannot be opened.
    let can_be_opened = |to: BorrowedFd<'_>| {
        let kind = rustix::fs::fstat(to).map(|found| FileType::from_raw_mode(found.st_mode));
        matches!(kind, Ok(FileType::Fifo | FileType::CharacterDevice))
    };
    let is_hasty = |to: BorrowedFd<'_>| {
        rustix::fs::fcntl_getfl(to).is_ok_and(|flags| flags.contains(OFlags::NONBLOCK))
            && can_be_opened(to)
    };
    let again = |path: &CStr| {
        // Without waiting for a reader, which may be gone.
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let opened = rustix::fs::open(path, flags, Mode::empty())?;
        rustix::io::ioctl_fionbio(&opened, false).map(|()| opened)
    };
    if is_hasty(rustix::stdio::stdout()) {
        let _as_it_was = again(c"/proc/self/fd/1").and_then(rustix::stdio::dup2_stdout).is_err();
    }
    if is_hasty(rustix::stdio::stderr()) {
        let _as_it_was = again(c"/proc/self/fd/2").and_then(rustix::stdio::dup2_stderr).is_err();
    }
}

/// A reader that closed the pipe has seen enough; that is no failure.
pub(crate) fn finish_write(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => {
            Err(CliError::new(ExitCode::Storage, format!("cannot write the output: {error}")))
        }
        Ok(()) => Ok(()),
    }
}

/// Prints something that happened on one line. If nobody reads it any more, nothing is done about it.
pub(crate) fn print_line<T: Serialize>(happened: &T) {
    if let Ok(text) = serde_json::to_string(happened) {
        let mut out = io::stdout().lock();
        drop(writeln!(out, "{text}").and_then(|()| out.flush()));
    }
}

/// Prints a document on one line, or indented where a person looks at it.
pub(crate) fn print_json<T: Serialize>(document: &T) -> io::Result<()> {
    let pretty = io::stdout().is_terminal();
    if pretty {
        let mut text = serde_json::to_string_pretty(document)?;
        text.push('\n');
        let mut out = io::stdout().lock();
        return out.write_all(escaped(&text).as_bytes()).and_then(|()| out.flush());
    }
    // Long strings come in many small pieces, with an escape between them.
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = serde_json::to_writer(&mut out, document);
    let ended = written.map_err(io::Error::from).and_then(|()| out.write_all(b"\n"));
    let ended = ended.and_then(|()| out.flush());
    if ended.is_err() {
        // What could not be written is not tried again when the buffer goes.
        drop(out.into_parts());
    }
    ended
}

/// JSON for a terminal. Strings in it have control characters escaped already, but not those beyond ASCII, nor what turns text around or is not seen.
fn escaped(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut out, c| {
        let is_plain =
            || !is_invisible(c) && harmless(c.encode_utf8(&mut [0; 4]).as_bytes()).starts_with(c);
        match c {
            '\n' | ' '..='~' => out.push(c),
            c if is_plain() => out.push(c),
            c => {
                out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")))
            }
        }
        out
    })
}

/// Prints an error and gives its exit code.
pub(crate) fn report_error(error: &CliError, json: bool) -> ExitCode {
    progress::end();
    // Where the document cannot be written, standard error says it.
    if json && finish_write(print_json(&ErrorDocument::new(body(error)))).is_ok() {
        return error.code;
    }
    eprint(&error_text(error));
    error.code
}

/// An error for people. What has several lines, such as the words of git, is printed as lines.
fn error_text(error: &CliError) -> String {
    let mut text = format!(
        "{} {}\n",
        paint(BAD, "error:"),
        render::lines(&paths_in(error.message.clone()), "  ")
    );
    if let Some(hint) = hint(error) {
        text.push_str(&format!(
            "  {} {}\n",
            paint(DIM, "hint:"),
            render::lines(&paths_in(hint.to_string()), "    ")
        ));
    }
    text
}

/// Text of our own for a terminal. Names and texts in it were made harmless where they were put in; where one was not, it is now.
pub(crate) fn for_people(text: &str, at_terminal: bool) -> Cow<'_, [u8]> {
    if !at_terminal {
        return text.as_bytes().into();
    }
    let mut harmless = TerminalText::new(Passes::Colours);
    let mut shown = harmless.push(text.as_bytes());
    shown.extend(harmless.finish());
    shown.into()
}

/// Writes to standard error; with that gone there is nobody to tell.
pub(crate) fn eprint(text: &str) {
    let text = for_people(text, io::stderr().is_terminal());
    drop(progress::beside(|| anstream::stderr().lock().write_all(&text)));
}

/// Writes bytes to standard error as they are.
pub(crate) fn eprint_bytes(bytes: &[u8]) {
    drop(progress::beside(|| io::stderr().lock().write_all(bytes)));
}

/// Writes bytes to standard output as they are.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    finish_write(out.write_all(bytes).and_then(|()| out.flush()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_several_lines_are_printed_as_lines() {
        let message = "git add failed: fatal: one\n\nerror: two\u{1b}[2J\n";
        let error = CliError::usage(message).hint("this\nor that");
        let text = anstream::adapter::strip_str(&error_text(&error)).to_string();
        assert_eq!(
            text,
            "error: git add failed: fatal: one\n  error: two^[[2J\n  hint: this\n    or that\n"
        );
    }
}
