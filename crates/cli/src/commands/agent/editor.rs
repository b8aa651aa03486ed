//! The lines that a person types to the agent, and what is printed above them meanwhile.

use std::io::BufRead;
use std::sync::{Arc, Mutex, PoisonError};

use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor, ExternalPrinter};
use tokio::sync::mpsc;
use unicode_width::UnicodeWidthChar;

use crate::error::{CliError, Result};
use crate::{output, terminal};
use offshoot_protocol::ExitCode;

/// What a person does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// They say something.
    Line(String),
    /// They want it to stop.
    Stop,
    /// They leave.
    Leave,
}

/// What comes from a terminal while the agent works, or line by line from a pipe.
#[derive(Debug)]
pub(super) struct Keyboard {
    typed: mpsc::Receiver<Typed>,
    /// Lines come while the agent works.
    pub(super) is_live: bool,
}

impl Keyboard {
    /// Next to a terminal, a prompt stays below all that is printed on the page.
    pub(super) fn at_terminal(prompt: String, said: Vec<String>) -> Result<(Self, Page)> {
        let failed = |error: ReadlineError| {
            CliError::new(ExitCode::Failure, format!("cannot use the terminal: {error}"))
        };
        let config = Config::builder().auto_add_history(true).build();
        let mut editor: Editor<(), MemHistory> =
            Editor::with_history(config, MemHistory::new()).map_err(failed)?;
        for line in said {
            editor.add_history_entry(line).map_err(failed)?;
        }
        let printer = editor.create_external_printer().map_err(failed)?;
        let page = Page::new(printer);
        let (to, typed) = mpsc::channel(1);
        std::thread::spawn(move || {
            loop {
                let typed = match editor.readline(&prompt) {
                    Ok(line) if line.trim().is_empty() => continue,
                    Ok(line) => Typed::Line(line),
                    Err(ReadlineError::Interrupted) => Typed::Stop,
                    Err(_) => Typed::Leave,
                };
                let is_last = typed == Typed::Leave;
                if to.blocking_send(typed).is_err() || is_last {
                    return;
                }
            }
        });
        Ok((Self { typed, is_live: true }, page))
    }

    /// From standard input, whatever it is.
    pub(super) fn at_pipe() -> Self {
        let (to, typed) = mpsc::channel(1);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(std::io::Result::ok) {
                if !line.trim().is_empty() && to.blocking_send(Typed::Line(line)).is_err() {
                    return;
                }
            }
        });
        Self { typed, is_live: false }
    }

    pub(super) async fn next(&mut self) -> Typed {
        self.typed.recv().await.unwrap_or(Typed::Leave)
    }
}

/// What stands above the prompt. Only whole lines can be put there, so words are held back until they fill one.
#[derive(Clone)]
pub(super) struct Page(Arc<Mutex<Lines>>);

struct Lines {
    printer: Box<dyn ExternalPrinter + Send>,
    filled: Filled,
}

impl Page {
    fn new(printer: impl ExternalPrinter + Send + 'static) -> Self {
        let lines = Lines { printer: Box::new(printer), filled: Filled::default() };
        Self(Arc::new(Mutex::new(lines)))
    }

    /// Prints words, which may go on.
    pub(super) fn words(&self, text: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ready = lines.filled.add(text, terminal::width());
        lines.print(&ready);
    }

    /// Prints a line of its own.
    pub(super) fn line(&self, text: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ready = lines.filled.end();
        ready.push_str(text.trim_end_matches('\n'));
        ready.push('\n');
        lines.print(&ready);
    }
}

impl Lines {
    fn print(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let harmless = output::for_people(text, true);
        // Without a terminal there is nobody to print for.
        drop(self.printer.print(String::from_utf8_lossy(&harmless).into_owned()));
    }
}

/// Words that do not fill a line yet.
#[derive(Debug, Default)]
struct Filled {
    held: String,
    /// They are code, whose lines are not broken.
    is_code: bool,
}

impl Filled {
    /// Adds words; the lines that are full now.
    fn add(&mut self, text: &str, width: usize) -> String {
        self.held.push_str(text);
        let mut ready = String::new();
        while let Some(end) = self.held.find('\n') {
            let left = self.fill(end, width, &mut ready);
            let line: String = self.held.drain(..=left).collect();
            self.is_code ^= line.trim_start().starts_with("```");
            ready.push_str(&line);
        }
        self.fill(self.held.len(), width, &mut ready);
        ready
    }

    /// Moves the full lines before `end` to those that are ready; so much is left before it.
    fn fill(&mut self, end: usize, width: usize, ready: &mut String) -> usize {
        let mut left = end;
        while let Some(full) = self.full(left, width) {
            let line: String = self.held.drain(..full).collect();
            ready.push_str(line.trim_end());
            ready.push('\n');
            left -= full;
        }
        left
    }

    /// Where the first line ends, if the words before `end` are more than that.
    fn full(&self, end: usize, width: usize) -> Option<usize> {
        let is_code = self.is_code || ["    ", "```"].iter().any(|it| self.held.starts_with(it));
        let (mut column, mut space) = (0, None);
        for (at, letter) in self.held[..end].char_indices().filter(|_| !is_code) {
            column += letter.width().unwrap_or(0);
            if column >= width {
                return space;
            }
            if letter == ' ' && at > 0 {
                space = Some(at + 1);
            }
        }
        None
    }

    /// The words that are held back, as a line.
    fn end(&mut self) -> String {
        let mut rest = std::mem::take(&mut self.held);
        if !rest.is_empty() {
            rest.push('\n');
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shown_in_full_lines() {
        let mut filled = Filled::default();
        assert_eq!(filled.add("one two", 12), "");
        assert_eq!(filled.add(" three four", 12), "one two\n");
        assert_eq!(filled.add(" five\nsix", 12), "three four\nfive\n");
        assert_eq!(filled.end(), "six\n");
        assert_eq!(filled.end(), "");
    }

    #[test]
    fn code_and_long_words_are_not_broken() {
        let mut filled = Filled::default();
        let code = "```\nlet a = b + c + d + e;\n```\n";
        assert_eq!(filled.add(code, 10), code);
        assert_eq!(filled.add("```\nlet a = b + c", 10), "```\n");
        assert_eq!(filled.add(" + d;\n```\n", 10), "let a = b + c + d;\n```\n");
        assert_eq!(filled.add("https://example.org/a/long/way", 10), "");
        assert_eq!(filled.add(" and on\n", 10), "https://example.org/a/long/way and on\n");
    }
}
