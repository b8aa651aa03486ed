//! `offshoot execs`: what was run.

use clap::Args;
use offshoot_engine::exec::{ExecFilter, ExecService, RunningService};
use offshoot_engine::id::Id;
use offshoot_engine::reference::Resolver;
use offshoot_engine::settings::parse_duration;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{ExecListDoc, ExecState, ExecSummaryDoc};

use super::ps::now_ms;
use crate::context::Context;
use crate::error::Result;
use crate::render::{self, BAD, DIM, GOOD, NAME, paint, table};
use crate::words::names_of;

/// The states that can be asked for.
const STATES: &[ExecState] =
    &[ExecState::Completed, ExecState::Failed, ExecState::Crashed, ExecState::Running];

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot execs\n  offshoot execs -w fix -n 50\n  offshoot execs --failed --since 2h\n  offshoot execs --command 'cargo test' --changed\n  offshoot execs --since 2026-01-31 --until 2026-02-01T12:00\n  offshoot execs --running\n  offshoot execs --json"
)]
pub(crate) struct ExecsArgs {
    /// List at most this many
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20)]
    limit: u32,
    /// List only those in this state
    #[arg(long, value_name = "STATE", value_parser = names_of(STATES))]
    state: Option<ExecState>,
    /// List only those that failed
    #[arg(long)]
    failed: bool,
    /// List only those that changed something
    #[arg(long)]
    changed: bool,
    /// List only those that started since a time, or within a duration such as 2h
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<u64>,
    /// List only those that started before a time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<u64>,
    /// List only those whose command contains this text
    #[arg(long, value_name = "TEXT")]
    command: Option<String>,
    /// List only those that still run
    #[arg(long, conflicts_with_all = ["state", "failed", "changed"])]
    running: bool,
}

impl ExecsArgs {
    fn filter(&self, workspace: Option<Id>) -> ExecFilter {
        ExecFilter {
            workspace,
            state: self.state,
            failed: self.failed,
            changed: self.changed,
            since_ms: self.since,
            until_ms: self.until,
            command: self.command.clone(),
        }
    }

    fn wants_running(&self) -> bool {
        self.running || self.state == Some(ExecState::Running)
    }
}

/// A moment as people write it, in milliseconds since 1970.
pub(super) fn moment(text: &str) -> Result<u64, String> {
    if let Some(ago) = parse_duration(text) {
        return Ok(now_ms().saturating_sub(u64::try_from(ago.as_millis()).unwrap_or(u64::MAX)));
    }
    let local = |civil: jiff::civil::DateTime| {
        civil.to_zoned(jiff::tz::TimeZone::system()).map(|zoned| zoned.timestamp())
    };
    let time = text.parse::<jiff::Timestamp>().or_else(|_| text.parse().and_then(local));
    let time =
        time.or_else(|_| text.parse::<jiff::civil::Date>().and_then(|date| local(date.into())));
    let millis = time.ok().and_then(|time| u64::try_from(time.as_millisecond()).ok());
    millis.ok_or_else(|| {
        "expected a time such as 2026-01-31 or 2026-01-31T12:00, or a duration such as 2h"
            .to_owned()
    })
}

/// One line of the list.
struct Line {
    id: Id,
    started_ms: u64,
    exec: ExecSummaryDoc,
}

/// Lists what was run, newest first.
pub(crate) fn run(args: &ExecsArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let named = context.workspace_name().map(|name| Resolver::new(vault).workspace_ever(name));
    let filter = args.filter(named.transpose()?.map(|(id, _)| id));
    let (lines, more) = match args.wants_running() {
        true => running(vault, &filter, args.limit)?,
        false => recorded(vault, &filter, args.limit)?,
    };
    let execs = lines.iter().map(|line| line.exec.clone()).collect();
    context.output.data(ExecListDoc { execs, more }, |_| {
        let rows = lines.iter().map(row).collect();
        let older = if more { paint(DIM, "older ones with -n COUNT\n") } else { String::new() };
        format!("{}{older}", table(COLUMNS, rows))
    })
}

fn recorded(vault: &Vault, filter: &ExecFilter, limit: u32) -> Result<(Vec<Line>, bool)> {
    let (records, more) = ExecService::new(vault).list(filter, limit)?;
    let all = vault.workspaces()?;
    let line = |record: &offshoot_engine::exec::ExecRecord| Line {
        id: record.id,
        started_ms: record.started_ms,
        exec: wire::exec_summary(record, &all),
    };
    Ok((records.iter().map(line).collect(), more))
}

fn running(vault: &Vault, filter: &ExecFilter, limit: u32) -> Result<(Vec<Line>, bool)> {
    let mut notes = RunningService::new(vault).list(filter.workspace)?;
    notes.retain(|note| {
        filter.since_ms.is_none_or(|since| note.started_ms >= since)
            && filter.until_ms.is_none_or(|until| note.started_ms < until)
            && filter.command.as_ref().is_none_or(|text| note.command.contains(text.as_str()))
    });
    notes.reverse();
    let more = notes.len() > limit as usize;
    notes.truncate(limit as usize);
    let now = now_ms();
    let line = |note: &offshoot_engine::exec::ExecNote| Line {
        id: note.exec,
        started_ms: note.started_ms,
        exec: wire::running_summary(note, now),
    };
    Ok((notes.iter().map(line).collect(), more))
}

/// The columns of the list.
const COLUMNS: &[&str] = &["EXEC", "WORKSPACE", "STARTED", "ENDED", "CHANGED", "COMMAND"];

fn row(line: &Line) -> Vec<String> {
    let exec = &line.exec;
    let ending = match (exec.exit_code, exec.signal) {
        (Some(0), _) => "ok".to_owned(),
        (Some(code), _) => paint(BAD, &format!("exit {code}")),
        (None, Some(signal)) => paint(BAD, &format!("signal {signal}")),
        (None, None) if exec.state == ExecState::Running => paint(GOOD, exec.state.as_str()),
        (None, None) => paint(BAD, exec.state.as_str()),
    };
    // A workspace that is gone has no name, and nobody reads its id.
    let named = exec.workspace.as_deref().filter(|name| name.parse::<Id>().is_err());
    vec![
        paint(DIM, &line.id.short()),
        paint(NAME, named.unwrap_or("-")),
        render::time(line.started_ms),
        ending,
        exec.changed.to_string(),
        render::line(&exec.command),
    ]
}
