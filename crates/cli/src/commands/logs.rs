//! `offshoot logs`: what a command printed, or prints.

use std::io::IsTerminal;
use std::thread;
use std::time::Duration;

use clap::Args;
use offshoot_engine::exec::{
    ExecRecord, ExecService, OutputReader, RunningExec, RunningService, STDERR, STDOUT,
};
use offshoot_engine::text::{Passes, TerminalText};
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{ExecLogsDoc, ExitCode, Hint, Text, TruncatedDoc};

use crate::complete;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::output;
use crate::render;

/// How often to look for more.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot logs 01k9x2m4        print its output and its errors\n  offshoot logs 01k9x2m4 -f     follow it until it ends\n  offshoot logs 01k9x2m4 --json\n\nFor a running command this is the output so far. The exit code is about the output, not about\nthe command: 0, or 1 if the command was cut short while it was followed."
)]
pub(crate) struct LogsArgs {
    /// Exec: the start of its id
    #[arg(value_name = "EXEC", add = complete::execs())]
    exec: String,
    /// Follow the output until the command ends
    #[arg(short, long, conflicts_with = "json")]
    follow: bool,
    /// Print control characters as they are, also to a terminal
    #[arg(long, conflicts_with = "json")]
    raw: bool,
}

/// Prints what a command printed to the two streams: as it is, but for a terminal.
struct Streams {
    /// What makes them harmless, where they lead to a terminal.
    texts: [Option<TerminalText>; 2],
}

impl Streams {
    fn new(raw: bool) -> Self {
        let at_terminal = [std::io::stdout().is_terminal(), std::io::stderr().is_terminal()];
        let text = |at_terminal| (at_terminal && !raw).then(|| TerminalText::new(Passes::Line));
        Self { texts: at_terminal.map(text) }
    }

    fn print(&mut self, stream: u8, bytes: &[u8]) -> Result<()> {
        let shown = self.texts[place(stream)].as_mut().map(|text| text.push(bytes));
        write(stream, shown.as_deref().unwrap_or(bytes))
    }

    /// Prints what was held back until more would come.
    fn end(&mut self) -> Result<()> {
        for stream in [STDOUT, STDERR] {
            if let Some(text) = &mut self.texts[place(stream)] {
                write(stream, &text.finish())?;
            }
        }
        Ok(())
    }
}

fn place(stream: u8) -> usize {
    usize::from(stream != STDOUT)
}

fn write(stream: u8, bytes: &[u8]) -> Result<()> {
    match stream {
        STDOUT => output::print_bytes(bytes),
        _ => {
            output::eprint_bytes(bytes);
            Ok(())
        }
    }
}

/// Prints what a command printed.
pub(crate) fn run(args: &LogsArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let mut streams = Streams::new(args.raw);
    match RunningService::new(vault).find(&args.exec)? {
        Some(running) if args.follow => follow(context, vault, &running, &mut streams),
        Some(running) => so_far(context, &running, &mut streams),
        None => {
            let record = ExecService::new(vault).find(&args.exec)?;
            recorded(context, vault, &record, [0; 2], &mut streams)
        }
    }
}

/// What a command that is over printed, but for what was shown already.
fn recorded(
    context: &Context,
    vault: &Vault,
    record: &ExecRecord,
    shown: [usize; 2],
    streams: &mut Streams,
) -> Result<()> {
    let (stdout, stderr) = ExecService::new(vault).output(&record.id)?;
    if let Some(time_ms) = vault.output_collected(&record.id)? {
        let time = render::time(time_ms);
        context.output.note(format!("what it printed was collected by gc ({time})"));
    }
    let envelope = wire::recorded_envelope(record, (b"", b""));
    let truncated = envelope.map_or_else(TruncatedDoc::default, |e| e.result.truncated);
    if context.output.is_json() {
        return document(context, record.id.to_string(), (&stdout, &stderr), truncated);
    }
    streams.print(STDOUT, stdout.get(shown[0]..).unwrap_or_default())?;
    streams.print(STDERR, stderr.get(shown[1]..).unwrap_or_default())?;
    streams.end()?;
    let missing = truncated.stdout_bytes + truncated.stderr_bytes;
    if missing > 0 {
        context.output.note(format!("{} more were printed and not kept", render::bytes(missing)));
    }
    Ok(())
}

/// What a command that runs has printed so far.
fn so_far(context: &Context, running: &RunningExec, streams: &mut Streams) -> Result<()> {
    let mut output: [Vec<u8>; 2] = Default::default();
    for (stream, bytes) in frames(&mut None, running)? {
        output[place(stream)].extend(bytes);
    }
    let [stdout, stderr] = &output;
    if context.output.is_json() {
        let exec = running.note.exec.to_string();
        return document(context, exec, (stdout, stderr), TruncatedDoc::default());
    }
    streams.print(STDOUT, stdout)?;
    streams.print(STDERR, stderr)?;
    streams.end()?;
    context.output.note("still running; -f follows its output");
    Ok(())
}

fn document(
    context: &Context,
    exec: String,
    (stdout, stderr): (&[u8], &[u8]),
    truncated: TruncatedDoc,
) -> Result<()> {
    let (stdout, stderr) = (Text::new(stdout), Text::new(stderr));
    let document = ExecLogsDoc { exec, stdout, stderr, truncated };
    context.output.data(document, |_| String::new())
}

/// Prints what comes until the command is over and recorded.
fn follow(
    context: &Context,
    vault: &Vault,
    running: &RunningExec,
    streams: &mut Streams,
) -> Result<()> {
    let mut reader = None;
    let mut shown = [0; 2];
    loop {
        // Asked before the rest is read: what comes after its end is nobody's.
        let over = running.is_over();
        for (stream, bytes) in frames(&mut reader, running)? {
            shown[place(stream)] += bytes.len();
            streams.print(stream, &bytes)?;
        }
        if over {
            break;
        }
        thread::sleep(LOOK);
    }
    let exec = &running.note.exec;
    match RunningService::new(vault).recorded(running)? {
        Some(record) => recorded(context, vault, &record, shown, streams),
        None => {
            let message = format!("exec {} was cut short", exec.short());
            Err(CliError::new(ExitCode::Failure, message).hint(
                Hint::command("offshoot recover list").text(" shows whether it left anything"),
            ))
        }
    }
}

/// What was printed since the last time. The file is there once there is something, and can be read when it is gone.
fn frames(reader: &mut Option<OutputReader>, running: &RunningExec) -> Result<Vec<(u8, Vec<u8>)>> {
    let failed = |error: std::io::Error| {
        CliError::new(ExitCode::Storage, format!("cannot read the output: {error}"))
    };
    if reader.is_none() {
        *reader = OutputReader::open(&running.output_file()).map_err(failed)?;
    }
    match reader {
        Some(reader) => reader.read().map_err(failed),
        None => Ok(Vec::new()),
    }
}
