//! What an exec prints, while it runs and at its end.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;

use offshoot_protocol::{
    ActorDoc, ExecEnvelopeDoc, ExecEventDoc, ExecRequestDoc, ExecResultDoc, ExecUsageDoc, ExitCode,
    Text, TruncatedDoc,
};
use offshoot_sandbox::{Flow, Stream};
use offshoot_vault::Id;
use offshoot_workspace::{ExecutionEnvelope, ExecutionObserver, ExecutionResult, wire};

use super::ExecArgs;
use crate::config::When;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::output::{self, print_json};
use crate::progress::Patience;
use crate::render::{self, BAD, DIM, NAME, paint};

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// For people: output as it comes, a few words at the end.
    People,
    /// One envelope at the end.
    Json,
    /// One event a line.
    Stream,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    form: Form,
}

impl Answer {
    pub(super) fn new(args: &ExecArgs, context: &Context) -> Self {
        let form = match (args.stream, context.output.is_json()) {
            (true, _) => Form::Stream,
            (false, true) => Form::Json,
            (false, false) => Form::People,
        };
        Self { form }
    }

    pub(super) fn live(self, context: &Context) -> Live {
        let silent = self.form != Form::People || context.output.is_quiet();
        Live {
            form: self.form,
            progress: context.settings.config.ui.progress,
            silent,
            sealing: None,
        }
    }

    /// Answers a request that could not even be made.
    pub(super) fn refuse(self, args: &ExecArgs, context: &Context, error: CliError) -> Result<u8> {
        if self.form == Form::People {
            output::report_error(&error, false);
        } else {
            let mut document = refused(args, context, &error);
            document.notes = context.output.take_notes();
            self.print(document);
        }
        Ok(ExitCode::ExecFailed.number())
    }

    /// Prints the envelope, and gives the exit code that stands for it.
    pub(super) fn finish(self, context: &Context, envelope: &ExecutionEnvelope) -> Result<u8> {
        if self.form == Form::People {
            context.output.print_notes();
            if !context.output.is_quiet() || envelope.result.error.is_some() {
                output::eprint(&summary(envelope));
            }
        } else {
            let mut document = wire::envelope(envelope);
            document.notes = context.output.take_notes();
            self.print(document);
        }
        Ok(exit_code(envelope))
    }

    fn print(self, document: ExecEnvelopeDoc) {
        match self.form {
            Form::Stream => {
                drop(print_event(&ExecEventDoc::Finished { envelope: Box::new(document) }));
            }
            _ => print_json(&document),
        }
    }
}

/// The exit code that stands for an envelope.
fn exit_code(envelope: &ExecutionEnvelope) -> u8 {
    let result = &envelope.result;
    if result.timed_out {
        return ExitCode::Timeout.number();
    }
    match (result.exit_code, result.signal, &result.error) {
        (Some(code), _, None) => u8::try_from(code).unwrap_or(u8::MAX),
        (Some(code @ (126 | 127)), _, Some(_)) => u8::try_from(code).unwrap_or(u8::MAX),
        (None, Some(signal), None) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        _ => ExitCode::ExecFailed.number(),
    }
}

/// Prints what happens as it happens.
pub(super) struct Live {
    form: Form,
    progress: When,
    silent: bool,
    sealing: Option<Patience>,
}

impl ExecutionObserver for Live {
    fn started(&mut self, result: &ExecutionResult) {
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

    fn sealing(&mut self) {
        self.sealing = Patience::new(self.progress, self.silent, "keeping what changed");
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Flow {
        let written = match (self.form, stream) {
            (Form::Json, _) => Ok(()),
            (Form::Stream, Stream::Stdout) => {
                print_event(&ExecEventDoc::Stdout { data: Text::new(bytes) })
            }
            (Form::Stream, Stream::Stderr) => {
                print_event(&ExecEventDoc::Stderr { data: Text::new(bytes) })
            }
            (Form::People, Stream::Stdout) => {
                let mut out = std::io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush())
            }
            (Form::People, Stream::Stderr) => std::io::stderr().lock().write_all(bytes),
        };
        // A reader that is gone has seen enough: the command finds its output closed, as it would without us.
        match written {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Flow::Close,
            _ => Flow::More,
        }
    }
}

fn print_event(event: &ExecEventDoc) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, event)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// A few words for people.
fn summary(envelope: &ExecutionEnvelope) -> String {
    let result = &envelope.result;
    let mut text = String::new();
    let mut line = |line: String| text.push_str(&format!("{line}\n"));
    for warning in &result.warnings {
        line(format!("{} {}", paint(BAD, "warning:"), render::line(warning)));
    }
    if let Some(error) = &result.error {
        line(format!("{} {}", paint(BAD, "error:"), render::line(&error.message)));
        if let Some(hint) = &error.hint {
            line(format!("  {} {}", paint(DIM, "hint:"), render::line(hint)));
        }
    }
    if result.timed_out {
        line(paint(BAD, "its time was over: the command was ended"));
    }
    let Some((_, workspace)) = &result.workspace else { return text };
    let changed = match (result.error.is_some(), result.changes.is_empty()) {
        (true, _) => return text,
        (false, true) => "nothing changed".to_owned(),
        (false, false) => render::change_counts(&result.changes),
    };
    let (dim, name) = (paint(DIM, "workspace"), paint(NAME, workspace));
    line(format!("{dim} {name}{}", paint(DIM, &format!(": {changed}"))));
    if !result.changes.is_empty() {
        let see =
            format!("see: offshoot diff -w {workspace}   take back: offshoot undo -w {workspace}");
        line(paint(DIM, &see));
    }
    text
}

/// The envelope of a request that never became one.
fn refused(args: &ExecArgs, context: &Context, error: &CliError) -> ExecEnvelopeDoc {
    let command: Vec<Text> = match &args.shell {
        Some(text) => vec![Text::new(text.as_bytes())],
        None => args.command.iter().map(|argument| Text::new(argument.as_bytes())).collect(),
    };
    let actor = wire::actor(&context.actor);
    let request = refused_request(args, context, command, actor);
    let shown = match &args.shell {
        Some(text) => text.to_string_lossy().into_owned(),
        None => {
            let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
            words.join(" ")
        }
    };
    let result = ExecResultDoc {
        vault: None,
        workspace: None,
        forked: false,
        exec: Id::random().to_string(),
        mountpoint: None,
        cwd: None,
        command: shown,
        exit_code: None,
        signal: None,
        stdout: Text::new(b""),
        stderr: Text::new(b""),
        truncated: TruncatedDoc::default(),
        readonly: args.read_only,
        duration_ms: 0,
        total_ms: 0,
        checkpoint: None,
        snapshot_before: None,
        snapshot_after: None,
        changed_files: Vec::new(),
        patch: None,
        decision: None,
        state: "failed".to_owned(),
        failed_in: Some("validating".to_owned()),
        timed_out: false,
        interrupted: false,
        durability: "none".to_owned(),
        driver: None,
        sandbox: None,
        usage: ExecUsageDoc::default(),
        warnings: Vec::new(),
        error: Some(error.body()),
        recoverable: false,
    };
    ExecEnvelopeDoc::new(false, request, result)
}

fn refused_request(
    args: &ExecArgs,
    context: &Context,
    command: Vec<Text>,
    actor: ActorDoc,
) -> ExecRequestDoc {
    ExecRequestDoc {
        command,
        shell: args.shell.is_some(),
        cwd: args.cwd.as_deref().map(|cwd| Text::new(cwd.as_os_str().as_bytes())),
        env: Vec::new(),
        stdin: args.stdin,
        timeout_ms: None,
        readonly: args.read_only,
        net: format!("{:?}", args.net).to_lowercase(),
        workspace: context.workspace_name().map(str::to_owned),
        from: args.from.clone(),
        ephemeral: args.ephemeral,
        checkpoint: format!("{:?}", args.checkpoint).to_lowercase(),
        actor,
    }
}
