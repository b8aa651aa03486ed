//! `offshoot ps` and `offshoot kill`: commands that are running.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use offshoot_engine::error::ServiceError;
use offshoot_engine::exec::{Ending, ExecNote, ExecService, RunningExec, RunningService};
use offshoot_engine::reference::Resolver;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{ExitCode, Hint, KilledDoc, RunningListDoc};

use crate::complete;
use crate::context::{Context, OpenVault};
use crate::error::{CliError, Result};
use crate::render::{self, DIM, NAME, paint, table};

/// How often to look whether a command is over.
const LOOK: Duration = Duration::from_millis(20);
/// How much longer than its grace a command may take until it is recorded.
const SEALING: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot ps\n  offshoot ps --all          in all vaults\n  offshoot ps -w fix --json"
)]
pub(crate) struct PsArgs {
    /// List those of all vaults
    #[arg(long, conflicts_with = "vault")]
    all: bool,
}

/// Lists what runs.
pub(crate) fn run(args: &PsArgs, context: &Context) -> Result<()> {
    let vaults = match args.all {
        true => {
            context.registry().list()?.iter().map(|listed| context.open_listed(listed)).collect()
        }
        false => context.vault().map(|vault| vec![vault]),
    };
    let vaults: Vec<OpenVault> = vaults?;
    let mut running = Vec::new();
    for OpenVault { vault, name } in &vaults {
        let named = context.workspace_name().filter(|_| !args.all);
        let workspace = named.map(|name| Resolver::new(vault).workspace(name)).transpose()?;
        let notes = RunningService::new(vault).list(workspace.map(|workspace| workspace.id))?;
        running.extend(notes.into_iter().map(|note| (note, name.clone())));
    }
    let now = now_ms();
    let documents = running.iter().map(|(note, vault)| wire::running(note, vault, now)).collect();
    context.output.data(RunningListDoc { running: documents }, |document| {
        if running.is_empty() {
            return "no commands are running\n".to_owned();
        }
        let rows = running.iter().zip(&document.running).map(|((note, vault), document)| {
            let mut row = vec![paint(DIM, &note.exec.short())];
            row.extend(args.all.then(|| render::line(vault)));
            row.extend([
                paint(NAME, &note.workspace_name),
                document.pid.to_string(),
                render::time(note.started_ms),
                elapsed(document.running_ms),
                preset(note),
                render::line(&note.command),
            ]);
            row
        });
        let mut header =
            vec!["EXEC", "WORKSPACE", "PID", "STARTED", "RUNNING FOR", "PRESET", "COMMAND"];
        if args.all {
            header.insert(1, "VAULT");
        }
        table(&header, rows.collect())
    })
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot kill 01k9x2m4                 as Ctrl-C would: asked first, killed after exec.grace\n  offshoot kill 01k9x2m4 --now           at once\n  offshoot kill 01k9x2m4 --signal HUP    only send its processes a signal\n\nWhat the command wrote until then is kept, and its envelope says that it was interrupted."
)]
pub(crate) struct KillArgs {
    /// Exec: the start of its id
    #[arg(value_name = "EXEC", add = complete::running())]
    exec: String,
    /// Kill it at once with everything it started
    #[arg(long)]
    now: bool,
    /// Send this signal: KILL is the same as --now, TERM as without this option; others are only sent
    #[arg(long, value_name = "NAME", conflicts_with = "now", value_parser = signal)]
    signal: Option<i32>,
    /// Do not wait until it has ended
    #[arg(long)]
    no_wait: bool,
}

/// Ends a command that runs.
pub(crate) fn kill(args: &KillArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let service = RunningService::new(vault);
    let Some(running) = service.find_to_end(&args.exec)? else {
        return Err(not_running(vault, &args.exec));
    };
    let ending = match (args.now, args.signal) {
        (true, _) | (_, Some(KILL)) => Ending::Now,
        (false, None | Some(TERM)) => Ending::Ask,
        (false, Some(other)) => Ending::Signal(other),
    };
    service.end(&running, ending, context.engine.actor())?;
    let waits = !args.no_wait && !matches!(ending, Ending::Signal(_));
    let ended = waits && wait_over(&running, context.config().exec.grace + SEALING);
    let exec = running.note.exec;
    let record = if ended { service.recorded(&running)? } else { None };
    let document = KilledDoc {
        exec: exec.to_string(),
        signal: match ending {
            Ending::Ask => "TERM".to_owned(),
            Ending::Now => "KILL".to_owned(),
            Ending::Signal(number) => signal_name(number),
        },
        ended,
        state: record.as_ref().map(wire::exec_state),
        changed: record.as_ref().map(|record| record.changed),
    };
    context.output.done(document, |document| {
        let exec = exec.short();
        match (&record, document.ended) {
            (Some(record), _) => {
                format!("{exec} is over; {} changed\n", render::count(record.changed, "path"))
            }
            (None, true) => format!("{exec} is over\n"),
            (None, false) => format!("sent {} to {exec}\n", document.signal),
        }
    })
}

/// Why there is nothing to end.
fn not_running(vault: &Vault, text: &str) -> CliError {
    match ExecService::new(vault).find(text) {
        Ok(record) => ServiceError::NotRunning { exec: record.id }.into(),
        Err(ServiceError::Unknown { .. }) => {
            let message = format!("no exec \"{text}\" is running");
            CliError::new(ExitCode::NotFound, message)
                .hint(Hint::command("offshoot ps").text(" lists what runs"))
        }
        Err(other) => other.into(),
    }
}

fn wait_over(running: &RunningExec, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    while !running.is_over() {
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(LOOK);
    }
    true
}

const KILL: i32 = 9;
const TERM: i32 = 15;

/// The signals that can be named.
const SIGNALS: [(&str, i32); 11] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ABRT", 6),
    ("KILL", KILL),
    ("USR1", 10),
    ("USR2", 12),
    ("TERM", TERM),
    ("CONT", 18),
    ("STOP", 19),
    ("WINCH", 28),
];

fn signal(text: &str) -> Result<i32, String> {
    let name = text.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    let known = SIGNALS.iter().find(|(word, number)| *word == name || number.to_string() == name);
    known.map(|(_, number)| *number).ok_or_else(|| {
        let names: Vec<&str> = SIGNALS.iter().map(|(name, _)| *name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn signal_name(number: i32) -> String {
    let known = SIGNALS.iter().find(|(_, own)| *own == number);
    known.map_or_else(|| number.to_string(), |(name, _)| (*name).to_owned())
}

/// The preset that a command runs by.
fn preset(note: &ExecNote) -> String {
    note.preset.as_deref().map_or_else(|| "-".to_owned(), render::line)
}

/// How long something has been running, for people.
pub(crate) fn elapsed(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ => format!("{}h {}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
