//! What an exec prints while it runs.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

use offshoot_engine::approval::Approval;
use offshoot_engine::error::ServiceError;
use offshoot_engine::exec::{ExecutionObserver, ExecutionResult, Room, Signals, Stream};
use offshoot_engine::text::{Passes, TerminalText};
use offshoot_protocol::{ExecEventDoc, Text, When};

use super::form::{Form, event_line};
use super::network;
use super::summary::warning_line;
use super::writer::{Piece, Writer};
use crate::output;
use crate::progress::Patience;
use crate::render::{DIM, line, paint};
use crate::terminal::Raw;

/// How long what is said next waits for what was printed before it: a terminal shows that at once.
const ONE_AFTER_THE_OTHER: Duration = Duration::from_millis(200);
/// How long the readers of a command that was ended have for what it printed last.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What became of what the command printed.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) printed: Printed,
    /// Standard output does not end with a whole line.
    pub(super) unended: bool,
    /// Why some of it could not be written.
    pub(super) failed: Option<std::io::Error>,
    /// Nobody read all of it, and that is not waited for any more.
    pub(super) unread: bool,
}

/// Whether what a terminal shows ends with a whole line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    /// It does, or there is no terminal.
    Lines,
    /// What comes next would be put behind something else.
    Unfinished,
}

/// Does what has to be in place before a command that may run.
pub(super) type Ready<'a> = &'a mut dyn FnMut() -> Result<(), ServiceError>;
/// Tells somebody that they have to decide about a command; whether to wait for that.
pub(super) type Decide<'a> = &'a mut dyn FnMut(&Approval) -> crate::error::Result<bool>;

/// Prints what happens as it happens.
pub(super) struct Live<'a> {
    ready: Ready<'a>,
    decide: Decide<'a>,
    form: Form,
    progress: When,
    silent: bool,
    /// The command has a terminal.
    terminal: bool,
    /// Holds this process's terminal while keys are for the command.
    raw: Option<Raw>,
    printed: Printed,
    /// Standard output does not end with a whole line so far.
    unended: bool,
    /// The command has no network, and nobody was asked about that.
    offline: bool,
    /// The command is the user's own shell.
    shell: bool,
    /// How many warnings were told when the command started.
    told: usize,
    sealing: Option<Patience>,
    writer: Writer,
    /// What makes output harmless, by stream, where that leads to a terminal and the command has none of its own.
    harmless: [Option<TerminalText>; 2],
}

impl<'a> Live<'a> {
    pub(super) fn new(
        form: Form,
        progress: When,
        silent: bool,
        (offline, shell, raw_output): (bool, bool, bool),
        (ready, decide): (Ready<'a>, Decide<'a>),
    ) -> Result<Self, std::io::Error> {
        let (terminal, raw, printed) = (false, None, Printed::Lines);
        let at_terminal = [std::io::stdout().is_terminal(), std::io::stderr().is_terminal()];
        let harmless = at_terminal.map(|at_terminal| {
            (at_terminal && !raw_output && form.is_text()).then(|| TerminalText::new(Passes::Line))
        });
        Ok(Self {
            ready,
            decide,
            form,
            progress,
            silent,
            terminal,
            raw,
            printed,
            unended: false,
            offline,
            shell,
            told: 0,
            sealing: None,
            writer: Writer::new()?,
            harmless,
        })
    }

    /// Gives the terminal back, stops showing progress, and waits for the readers: not for long where the command was ended, and not
    /// where this process is asked to end. What became of what was printed, and how many warnings were told.
    pub(super) fn end(mut self, was_ended: bool, signals: Option<&Signals>) -> (Written, usize) {
        drop(self.sealing.take());
        self.release();
        let deadline = was_ended.then(|| Instant::now() + LAST_WORDS);
        let settled = self.writer.settle(|| {
            deadline.is_none_or(|deadline| Instant::now() < deadline)
                && !signals.is_some_and(Signals::ask_to_end)
        });
        drop(self.raw);
        // Those that came while the command was recorded ended nothing, and are what the exit code tells.
        let _asked = signals.is_some_and(Signals::ask_to_end);
        let failed = self.writer.failed();
        let (printed, unended) = (self.printed, self.unended);
        (Written { printed, unended, failed, unread: !settled }, self.told)
    }

    /// Writes what was held back until more of it would come.
    fn release(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let rest = self.harmless[stream as usize].as_mut().map(TerminalText::finish);
            if let Some(bytes) = rest.filter(|rest| !rest.is_empty()) {
                self.writer.write(Piece { stream, to: stream, bytes, takes: 0 });
            }
        }
    }

    /// Has what was printed so far appear before what is said next; whether it did.
    fn catch_up(&self) -> bool {
        let deadline = Instant::now() + ONE_AFTER_THE_OTHER;
        self.writer.settle(|| Instant::now() < deadline)
    }

    /// Prints one event of a stream.
    fn event(&mut self, stream: Stream, event: &ExecEventDoc, takes: usize) {
        let bytes = event_line(event);
        self.writer.write(Piece { stream, to: Stream::Stdout, bytes, takes });
    }
}

/// Where somebody is who was given a shell.
fn welcome(workspace: &str, vault: &str) -> String {
    let text = format!(
        "workspace {workspace} of {vault}: only changes in this project are kept, in the workspace; `exit` to leave"
    );
    format!("{}\n", paint(DIM, &line(&text)))
}

impl ExecutionObserver for Live<'_> {
    fn allowed(&mut self) -> Result<(), ServiceError> {
        (self.ready)()
    }

    fn pending(&mut self, approval: &Approval) -> bool {
        let _later = self.catch_up();
        drop(self.sealing.take());
        if self.form == Form::Stream {
            let approval = approval.id.to_string();
            self.event(Stream::Stdout, &ExecEventDoc::Pending { approval }, 0);
        }
        match (self.decide)(approval) {
            Ok(waits) => waits,
            Err(error) => {
                output::report_error(&error, false);
                false
            }
        }
    }

    fn in_use(&mut self, workspace: &str, holder: &str) {
        if !self.silent && matches!(self.form, Form::People | Form::Person) {
            let text = format!("waiting for workspace {workspace}, in use by {holder}");
            output::eprint(&format!("{}\n", paint(DIM, &line(&text))));
        }
    }

    fn started(&mut self, result: &ExecutionResult) {
        if let (Some(_), Some((_, workspace))) = (&result.joined, &result.workspace)
            && !self.silent
        {
            let text = format!("joined the running session in {workspace}");
            output::eprint(&format!("{}\n", paint(DIM, &text)));
        } else if self.shell
            && !self.silent
            && result.terminal
            && let Some((_, workspace)) = &result.workspace
        {
            output::eprint(&welcome(workspace, &result.vault));
        }
        if result.approval.is_some() && self.form.is_text() && !self.silent {
            let text =
                "this is a trial, without the network: nothing of it is real until it is approved";
            output::eprint(&format!("{}\n", paint(DIM, text)));
        }
        if self.offline
            && !self.silent
            && let Some(warning) = network::warning(result)
        {
            output::eprint(&warning);
        }
        self.terminal = result.terminal;
        if self.terminal {
            self.writer.at_terminal();
            // What works on a whole screen has to reach it as it is.
            self.harmless = [None, None];
        }
        let is_agent = result.preset.is_some() && self.form.is_text();
        if (self.form == Form::Person || is_agent) && !self.silent {
            // Who works there for an hour, or has an agent work, wants to know now what it lacks.
            let warnings = result.warnings.iter().map(|warning| warning_line(warning));
            output::eprint(&warnings.collect::<String>());
            self.told = result.warnings.len();
        }
        if self.terminal {
            self.raw = Raw::enter();
        }
        if self.form == Form::Stream
            && let Some((_, workspace)) = &result.workspace
        {
            let started = ExecEventDoc::Started {
                exec: result.id.to_string(),
                vault: result.vault.clone(),
                workspace: workspace.clone(),
                forked: result.forked,
            };
            self.event(Stream::Stdout, &started, 0);
        }
    }

    fn waiting(&mut self, others: u64) {
        let _later = self.catch_up();
        // What is typed now is for this process: it can be told to wait no more.
        self.raw = None;
        if self.printed == Printed::Unfinished {
            output::eprint("\n");
        }
        self.printed = Printed::Lines;
        let (terminals, them) = match others {
            1 => ("1 other terminal".to_owned(), "it"),
            _ => (format!("{others} other terminals"), "them"),
        };
        let text = format!("waiting for {terminals} in this workspace; Ctrl-C ends {them}");
        output::eprint(&format!("{}\n", paint(DIM, &text)));
    }

    fn sealing(&mut self) {
        // What a slow terminal still shows is meant for the modes that it has.
        if self.catch_up() {
            self.raw = None;
        }
        self.sealing = Patience::new(self.progress, self.silent, "keeping what changed");
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        if self.terminal {
            let whole = bytes.last() == Some(&b'\n');
            self.printed = if whole { Printed::Lines } else { Printed::Unfinished };
        }
        if let (Stream::Stdout, Some(last)) = (stream, bytes.last()) {
            self.unended = *last != b'\n';
        }
        let takes = bytes.len();
        match (self.form, stream) {
            (Form::Json, _) => {}
            (Form::Stream, Stream::Stdout) => {
                self.event(stream, &ExecEventDoc::Stdout { data: Text::new(bytes) }, takes);
            }
            (Form::Stream, Stream::Stderr) => {
                self.event(stream, &ExecEventDoc::Stderr { data: Text::new(bytes) }, takes);
            }
            (Form::People | Form::Person, _) => {
                let shown = self.harmless[stream as usize].as_mut().map(|text| text.push(bytes));
                let bytes = shown.unwrap_or_else(|| bytes.to_vec());
                self.writer.write(Piece { stream, to: stream, bytes, takes });
            }
        }
    }

    fn room(&self) -> Option<Arc<Room>> {
        (self.form != Form::Json).then(|| self.writer.room())
    }
}
