//! The lines that a person types to the agent, and what is printed above them meanwhile.

use std::io::BufRead;
use std::sync::{Arc, Mutex, PoisonError, mpsc as blocking};

use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor, ExternalPrinter};
use tokio::sync::mpsc;
use unicode_width::UnicodeWidthChar;

use super::prompt::PromptTerminal;
use super::signals::EndSignals;
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
    /// Where a prompt is shown for each line that is wanted.
    prompt: Option<Prompt>,
    signals: Option<EndSignals>,
    /// What the signal stands for by which somebody had them leave.
    ended_by: Option<ExitCode>,
}

/// The prompt of a terminal. There is none while nobody wants a line, such as behind the last one.
#[derive(Debug)]
struct Prompt {
    terminal: Arc<PromptTerminal>,
    wants: blocking::Sender<()>,
    is_wanted: bool,
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // The thread that shows the prompt has the terminal, too.
        self.prompt.iter().for_each(|prompt| prompt.terminal.end());
    }
}

impl Keyboard {
    /// Next to a terminal, a prompt stays below all that is printed on the page.
    pub(super) fn at_terminal(prompt: String, said: Vec<String>) -> Result<(Self, Page)> {
        let cannot = |error: &dyn std::fmt::Display| {
            CliError::new(ExitCode::Failure, format!("cannot use the terminal: {error}"))
        };
        let failed = |error: ReadlineError| cannot(&error);
        // The editor has its own way with some of them meanwhile, and gives them back.
        let signals = Some(EndSignals::new().map_err(|error| cannot(&error))?);
        let config = Config::builder().auto_add_history(true).build();
        let mut editor: Editor<(), MemHistory> =
            Editor::with_history(config, MemHistory::new()).map_err(failed)?;
        for line in said {
            editor.add_history_entry(line).map_err(failed)?;
        }
        let printer = editor.create_external_printer().map_err(failed)?;
        let terminal = Arc::new(PromptTerminal::new());
        let page = Page::new(printer, Arc::clone(&terminal));
        let (to, typed) = mpsc::channel(1);
        let (wants, wanted) = blocking::channel();
        let shown = Arc::clone(&terminal);
        std::thread::spawn(move || {
            while wanted.recv().is_ok() {
                let typed = loop {
                    if !shown.show() {
                        return;
                    }
                    let read = editor.readline(&prompt);
                    shown.hide();
                    match read {
                        Ok(line) if line.trim().is_empty() => continue,
                        Ok(line) => break Typed::Line(line),
                        Err(ReadlineError::Interrupted) => break Typed::Stop,
                        Err(_) => break Typed::Leave,
                    }
                };
                let is_last = typed == Typed::Leave;
                if to.blocking_send(typed).is_err() || is_last {
                    return;
                }
            }
        });
        let prompt = Some(Prompt { terminal, wants, is_wanted: false });
        Ok((Self { typed, is_live: true, prompt, signals, ended_by: None }, page))
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
        Self { typed, is_live: false, prompt: None, signals: None, ended_by: None }
    }

    /// The next line. Where nobody waits for it any more, it comes the next time.
    pub(super) async fn next(&mut self) -> Typed {
        if let Some(prompt) = self.prompt.as_mut().filter(|prompt| !prompt.is_wanted) {
            prompt.is_wanted = prompt.wants.send(()).is_ok();
        }
        let code = tokio::select! {
            biased;
            code = next_signal(&mut self.signals) => code,
            typed = self.typed.recv() => {
                if let Some(prompt) = &mut self.prompt {
                    prompt.is_wanted = false;
                }
                let is_gone = self.prompt.as_ref().is_some_and(|it| it.terminal.is_gone());
                self.ended_by = is_gone.then_some(ExitCode::HungUp);
                return typed.unwrap_or(Typed::Leave);
            }
        };
        // Without a prompt, Ctrl-C is a signal.
        if code == ExitCode::Interrupted {
            return Typed::Stop;
        }
        self.ended_by = Some(code);
        self.prompt.iter().for_each(|prompt| prompt.terminal.end());
        Typed::Leave
    }

    /// Waits for somebody who leaves and does not want to wait until everything has ended.
    pub(super) async fn insisted(&mut self) -> ExitCode {
        loop {
            tokio::select! {
                code = next_signal(&mut self.signals) => return code,
                Some(typed) = self.typed.recv() => if typed == Typed::Stop {
                    return ExitCode::Interrupted;
                },
            }
        }
    }

    /// What the signal stands for by which somebody had the person leave.
    pub(super) fn ended_by(&self) -> Option<ExitCode> {
        self.ended_by
    }
}

async fn next_signal(signals: &mut Option<EndSignals>) -> ExitCode {
    match signals {
        Some(signals) => signals.next().await,
        None => std::future::pending().await,
    }
}

/// What stands above the prompt. Only whole lines can be put there, so words are held back until they fill one.
#[derive(Clone)]
pub(super) struct Page(Arc<Mutex<Lines>>);

struct Lines {
    printer: Box<dyn ExternalPrinter + Send>,
    terminal: Arc<PromptTerminal>,
    filled: Filled,
}

impl Page {
    fn new(printer: impl ExternalPrinter + Send + 'static, terminal: Arc<PromptTerminal>) -> Self {
        let lines = Lines { printer: Box::new(printer), terminal, filled: Filled::default() };
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
        if self.terminal.is_over() {
            // Whoever left the terminal is not seen any more, and that is no reason to stop.
            return drop(output::print_bytes(&harmless));
        }
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
