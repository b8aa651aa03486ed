//! What an exec answers, while it runs and at its end.

use std::io::IsTerminal;

use offshoot_engine::exec::{ExecutionEnvelope, Stream, refusal};
use offshoot_engine::policy::Verdict;
use offshoot_engine::wire;
use offshoot_protocol::{ExecEnvelopeDoc, ExecEventDoc, ExecState, ExitCode, Hint, Network};

use super::ask::Ask;
use super::closing::{Closing, has_run};
use super::form::{Form, print_event};
use super::live::{Decide, Live, Printed, Ready, Written};
use super::writer::is_ready;
use super::{refused, summary};
use crate::context::Context;
use crate::error::{CliError, Result, body};
use crate::interrupt::{self, Watch};
use crate::output::{self, finish_write, print_json};
use crate::render;
use crate::render::listing::Listing;

#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    form: Form,
}

impl Answer {
    pub(super) fn new(form: Form) -> Self {
        Self { form }
    }

    pub(super) fn live<'a>(
        self,
        ask: &Ask<'_>,
        context: &Context,
        (ready, decide): (Ready<'a>, Decide<'a>),
    ) -> Result<Live<'a>> {
        let silent = !self.form.is_text() || context.output.is_quiet();
        let offline = ask.net == Network::None && ask.may_reach && !ask.asked;
        let told = (offline, ask.shell, ask.raw);
        Live::new(self.form, context.config().ui.progress, silent, told, (ready, decide)).map_err(
            |error| CliError::new(ExitCode::Failure, format!("cannot pass output on: {error}")),
        )
    }

    /// Watches for signals while the vault of a folder is made; what is then said has the form that was asked for.
    pub(super) fn watch(self, ask: &Ask<'_>, context: &Context) -> Result<Watch> {
        if self.form.is_text() {
            return Watch::start(context, interrupt::NOTHING);
        }
        let interrupted = CliError::new(ExitCode::Interrupted, interrupt::NOTHING);
        let mut document = refused::envelope(ask, context, body(&interrupted));
        Watch::answering(interrupt::NOTHING, move |error| {
            document.result.interrupted = true;
            document.result.error = Some(body(error));
            drop(self.print(document));
        })
    }

    /// Answers a request that may not run where there is no vault to record it in.
    pub(super) fn deny(self, ask: &Ask<'_>, context: &Context, verdict: &Verdict) -> Result<u8> {
        let refusal = refusal(verdict);
        // What a person decides about has a vault by then.
        let code = refusal.code().number();
        if self.form.is_text() {
            output::eprint(&summary::refusal(&refusal, verdict, context.engine.user_rule_file()));
        } else {
            let mut document = refused::envelope(ask, context, refusal);
            document.result.state = ExecState::Denied;
            document.result.failed_in = None;
            document.result.decision = Some(wire::verdict(verdict));
            document.notes = context.output.take_notes();
            self.print(document)?;
        }
        Ok(code)
    }

    /// Answers a request that could not even be made.
    pub(super) fn refuse(self, ask: &Ask<'_>, context: &Context, error: &CliError) -> Result<u8> {
        if self.form.is_text() {
            output::report_error(error, false);
        } else {
            let mut document = refused::envelope(ask, context, body(error));
            document.notes = context.output.take_notes();
            self.print(document)?;
        }
        Ok(ExitCode::ExecFailed.number())
    }

    /// Prints the envelope, and gives the exit code that stands for it.
    pub(super) fn finish(
        self,
        context: &Context,
        envelope: &ExecutionEnvelope,
        changes: &Listing<'_>,
        written: Written,
        closing: &Closing,
    ) -> Result<u8> {
        let asked = closing.ended_by.and_then(ExitCode::of_signal).filter(|_| written.unread);
        // The command was over by then: it is this process that was asked to end.
        let code = asked.map_or_else(|| closing.exit_code(&envelope.result), ExitCode::number);
        if written.unread {
            let can_tell = is_ready(Stream::Stderr);
            if can_tell && !context.output.is_quiet() {
                let id = envelope.result.id;
                let text =
                    format!("nobody read all of the output: `offshoot logs {id}` has what is kept");
                output::eprint(&summary::warning_line(&text));
            }
            // What comes after something that nobody reads would not be read either.
            if !can_tell || !self.form.is_text() {
                return Ok(code);
            }
        }
        if self.form.is_text() {
            let quiet = context.output.is_quiet() && envelope.result.error.is_none();
            if !quiet && written.printed == Printed::Unfinished {
                output::eprint("\n");
            }
            let patch = envelope.result.patch.as_ref().filter(|_| !written.unread);
            patch.map_or(Ok(()), |patch| print_patch(context, patch, written.unended))?;
            context.output.print_notes();
            if !quiet {
                output::eprint(&summary::text(envelope, changes, self.form, closing));
            }
        } else {
            let mut document = wire::envelope(envelope);
            document.notes = context.output.take_notes();
            self.print(document).map_err(|error| recorded(error, envelope))?;
        }
        let written = written.failed.map_or(Ok(()), Err);
        finish_write(written).map_err(|error| recorded(error, envelope))?;
        Ok(code)
    }

    fn print(self, document: ExecEnvelopeDoc) -> Result<()> {
        finish_write(match self.form {
            Form::Stream => print_event(&ExecEventDoc::Finished { envelope: Box::new(document) }),
            _ => print_json(&document),
        })
    }
}

/// Prints what changed as a patch, behind what the command printed: for programs as it is, for people as `diff` shows it.
fn print_patch(context: &Context, patch: &[u8], after_unended: bool) -> Result<()> {
    if patch.is_empty() {
        return Ok(());
    }
    let at_terminal = std::io::stdout().is_terminal();
    if after_unended && !at_terminal {
        output::print_bytes(b"\n")?;
    }
    match at_terminal || context.output.is_coloured() {
        true => context.output.text(&render::patch::coloured(patch)),
        false => output::print_bytes(patch),
    }
}

/// An answer that could not be written, of a command that did run.
fn recorded(error: CliError, envelope: &ExecutionEnvelope) -> CliError {
    let result = &envelope.result;
    match has_run(result) {
        true => error.hint(
            Hint::from("the command ran and is recorded: ")
                .then("offshoot show")
                .arg(result.id.to_string()),
        ),
        false => error,
    }
}
