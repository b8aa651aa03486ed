//! `offshoot log`: the history of a workspace.

use clap::Args;
use offshoot_engine::operation::LogEntry;
use offshoot_engine::snapshot::Snapshot;
use offshoot_engine::wire;
use offshoot_protocol::LogDoc;

use crate::complete;
use crate::context::Context;
use crate::error::Result;
use crate::render::{self, DIM, NAME, paint, table};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot log\n  offshoot log -w fix -n 5\n  offshoot log head --oneline"
)]
pub(crate) struct LogArgs {
    /// REF to start from [default: the workspace]
    #[arg(value_name = "REF", add = complete::references())]
    from: Option<String>,
    /// Show at most this many snapshots
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Show the id and the message of each snapshot, and nothing else
    #[arg(long)]
    oneline: bool,
}

pub(crate) fn run(args: &LogArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let point = context.point(vault, args.from.as_deref())?;
    let log = context.engine.history(vault).log(&point.snapshot, args.limit)?;
    let snapshots = log.iter().map(wire::log_entry).collect();
    context.output.data(LogDoc { of: point.label, snapshots }, |_| {
        if args.oneline {
            return log.iter().map(oneline).collect();
        }
        let rows = log.iter().map(|entry| {
            let snapshot = &entry.snapshot;
            vec![
                render::short(&snapshot.id),
                paint(DIM, &render::time(snapshot.time_ms)),
                render::line(&snapshot.reason),
                render::line(&snapshot.actor.user),
                paint(NAME, &entry.names.join(", ")),
                message(snapshot).unwrap_or_default(),
            ]
        });
        table(&["SNAPSHOT", "TIME", "REASON", "BY", "NAMES", "MESSAGE"], rows.collect())
    })
}

/// The first line of what was said about a snapshot.
fn message(snapshot: &Snapshot) -> Option<String> {
    snapshot.message.as_deref()?.lines().next().map(render::line)
}

/// Id, names and message, or where nothing was said, why it was made.
fn oneline(entry: &LogEntry) -> String {
    let snapshot = &entry.snapshot;
    let said = message(snapshot).unwrap_or_else(|| render::line(&snapshot.reason));
    let names = match entry.names.is_empty() {
        true => String::new(),
        false => format!("({}) ", paint(NAME, &entry.names.join(", "))),
    };
    format!("{} {names}{said}\n", render::short(&snapshot.id))
}
