//! What an exec prints while it runs.

use std::io::Write;

use offshoot_engine::error::ServiceError;
use offshoot_engine::exec::{ExecutionObserver, ExecutionResult, Flow, Stream};
use offshoot_protocol::{ExecEventDoc, Text, When};

use super::form::{Form, print_event};
use super::network;
use super::summary::warning_line;
use crate::output;
use crate::progress::Patience;
use crate::render::{DIM, line, paint};
use crate::terminal::Raw;

/// Whether what a terminal shows ends with a whole line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    /// It does, or there is no terminal.
    Lines,
    /// What comes next would be put behind something else.
    Unfinished,
}

/// Prints what happens as it happens.
pub(super) struct Live<'a> {
    /// Does what has to be in place before a command that may run.
    ready: &'a mut dyn FnMut() -> Result<(), ServiceError>,
    form: Form,
    progress: When,
    silent: bool,
    /// The command has a terminal.
    terminal: bool,
    /// Holds this process's terminal while keys are for the command.
    raw: Option<Raw>,
    printed: Printed,
    /// The command has no network, and nobody was asked about that.
    offline: bool,
    /// The command is the user's own shell.
    shell: bool,
    /// How many warnings were told when the command started.
    told: usize,
    sealing: Option<Patience>,
    /// Why some of the output could not be written.
    unwritten: Option<std::io::Error>,
}

impl<'a> Live<'a> {
    pub(super) fn new(
        form: Form,
        progress: When,
        silent: bool,
        (offline, shell): (bool, bool),
        ready: &'a mut dyn FnMut() -> Result<(), ServiceError>,
    ) -> Self {
        let (terminal, raw, printed) = (false, None, Printed::Lines);
        Self {
            ready,
            form,
            progress,
            silent,
            terminal,
            raw,
            printed,
            offline,
            shell,
            told: 0,
            sealing: None,
            unwritten: None,
        }
    }

    /// Gives the terminal back and stops showing progress; how what was printed ends, why some of it could not be written, and how
    /// many warnings were told.
    pub(super) fn end(self) -> ((Printed, Option<std::io::Error>), usize) {
        ((self.printed, self.unwritten), self.told)
    }

    fn write(&mut self, stream: Stream, bytes: &[u8]) -> std::io::Result<()> {
        match (self.form, stream) {
            (Form::Json, _) => Ok(()),
            (Form::Stream, Stream::Stdout) => {
                print_event(&ExecEventDoc::Stdout { data: Text::new(bytes) })
            }
            (Form::Stream, Stream::Stderr) => {
                print_event(&ExecEventDoc::Stderr { data: Text::new(bytes) })
            }
            (Form::People | Form::Person, Stream::Stdout) => {
                let mut out = std::io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush())
            }
            (Form::People | Form::Person, Stream::Stderr) => {
                std::io::stderr().lock().write_all(bytes)
            }
        }
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
        if self.offline
            && !self.silent
            && let Some(warning) = result.decision.as_ref().and_then(network::warning)
        {
            output::eprint(&warning);
        }
        self.terminal = result.terminal;
        if self.form == Form::Person && !self.silent {
            // Who works there for an hour wants to know now where that is.
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
            // With standard output gone there is nobody to tell; the first output notices.
            drop(print_event(&ExecEventDoc::Started {
                exec: result.id.to_string(),
                vault: result.vault.clone(),
                workspace: workspace.clone(),
                forked: result.forked,
            }));
        }
    }

    fn waiting(&mut self, others: u64) {
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
        self.raw = None;
        self.sealing = Patience::new(self.progress, self.silent, "keeping what changed");
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Flow {
        let written = self.write(stream, bytes);
        if self.terminal {
            let whole = bytes.last() == Some(&b'\n');
            self.printed = if whole { Printed::Lines } else { Printed::Unfinished };
        }
        match written {
            // A reader that is gone has seen enough: the command finds its output closed, as it would without us.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Flow::Close,
            // A terminal that cannot be written to is gone.
            Err(_) if self.terminal => Flow::Close,
            // The command goes on, and all that it says is recorded.
            Err(error) => {
                self.unwritten.get_or_insert(error);
                Flow::More
            }
            Ok(()) => Flow::More,
        }
    }
}
