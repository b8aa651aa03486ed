//! `offshoot timeline`: what happened in a workspace.

use clap::Args;
use offshoot_engine::audit::AuditEntry;
use offshoot_engine::reference::Resolver;
use offshoot_engine::wire;
use offshoot_protocol::{TimelineDoc, TimelineEntryDoc};

use crate::context::Context;
use crate::error::Result;
use crate::render::{self, BAD, DIM, GOOD, NAME, WARN, paint};

/// At most so many files of each entry are shown to people.
const SHOWN_FILES: usize = 5;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot timeline\n  offshoot timeline -w fix -n 100\n  offshoot timeline --all     the whole vault\n  offshoot timeline -w fix --json"
)]
pub(crate) struct TimelineArgs {
    /// Show at most this many entries, the newest
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Show the whole vault, not one workspace
    #[arg(long, conflicts_with = "workspace")]
    all: bool,
}

pub(crate) fn run(args: &TimelineArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let of = match context.workspace_name() {
        _ if args.all => None,
        Some(name) => Some(Resolver::new(vault).workspace_ever(name)?),
        None => context.workspace_to_read(vault)?.map(|found| (found.id, found.name)),
    };
    let service = context.engine.audit(vault);
    let (entries, more) = service.story(of.as_ref().map(|(id, _)| *id), args.limit)?;
    let document = TimelineDoc {
        workspace: of.map(|(_, name)| name),
        entries: entries.iter().map(wire::timeline_entry).collect(),
        more,
    };
    context.output.data(document, |document| {
        let older = if more { paint(DIM, "older entries with -n N\n") } else { String::new() };
        let told = entries.iter().zip(&document.entries).map(|(entry, told)| tell(entry, told));
        format!("{older}{}", told.collect::<String>())
    })
}

fn tell(entry: &AuditEntry, told: &TimelineEntryDoc) -> String {
    let actor = &entry.actor;
    let by = actor.agent.as_ref().unwrap_or(&actor.user);
    let what = match &told.command {
        Some(command) => render::line(command),
        None => render::line(&render::paths_in(told.summary.clone())),
    };
    let mut text = format!(
        "{}  {}  {}  {what}{}\n",
        paint(DIM, &render::time(entry.event.time_ms)),
        paint(NAME, &told.event),
        render::line(by),
        outcome(told),
    );
    for file in told.files.iter().take(SHOWN_FILES) {
        let path = render::line(&render::paths_in(file.path.clone()));
        text.push_str(&format!("    {} {path}\n", paint(WARN, &file.kind)));
    }
    let hidden = told.files.len().saturating_sub(SHOWN_FILES) as u64;
    if hidden > 0 {
        text.push_str(&paint(DIM, &format!("    and {hidden} more\n")));
    }
    text
}

/// What was decided about a command, how it ended, and how long that took.
fn outcome(told: &TimelineEntryDoc) -> String {
    let Some(ended) = &told.ended else { return String::new() };
    let style = if ended == "exit 0" { GOOD } else { BAD };
    let mut parts = vec![paint(style, ended)];
    parts.extend(told.decision.as_deref().map(|decision| paint(DIM, decision)));
    parts.extend(told.duration_ms.map(|ms| paint(DIM, &format!("{ms} ms"))));
    format!("  {}", parts.join(", "))
}
