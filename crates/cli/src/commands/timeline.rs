//! `offshoot timeline`: what happened in a workspace.

use clap::Args;
use offshoot_engine::audit::{AuditEntry, AuditService};
use offshoot_engine::id::Id;
use offshoot_engine::reference::Resolver;
use offshoot_engine::wire;
use offshoot_protocol::{
    ApprovalScope, ApprovalState, AuditPrunedDoc, ExecState, TimelineDoc, TimelineEntryDoc,
    TimelineFileDoc,
};

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render::{self, BAD, DIM, GOOD, NAME, WARN, paint};

/// At most so many files of each entry are shown to people.
const SHOWN_FILES: usize = 5;
/// So many events are looked at for the last command of a vault.
const LOOKED_AT: usize = 20;

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
        Some(name) => Some(Resolver::new(vault).workspace_ever(name).map_err(|error| {
            let mut error = CliError::from(error);
            let known = error.hint.take().map(|hint| hint.text("; ")).unwrap_or_default();
            let all = known.then("offshoot timeline --all");
            error.hint(all.text(" has commands that were denied before their workspace was made"))
        })?),
        None => context.workspace_to_read(vault)?.map(|found| (found.id, found.name)),
    };
    let service = context.engine.audit(vault);
    if let Some((id, name)) = of.as_ref().filter(|_| context.workspace_name().is_none())
        && is_elsewhere(&service, *id)?
    {
        let name = render::line(name);
        context.output.note(format!(
            "this is workspace {name}; `offshoot timeline --all` tells of a later command"
        ));
    }
    let (entries, more) = service.story(of.as_ref().map(|(id, _)| *id), args.limit)?;
    // What is left out goes back that far only where all that is there is shown.
    let pruned = if more { None } else { service.pruned()? };
    let removed = pruned.map(|(seq, at)| removed(seq, at));
    let document = TimelineDoc {
        workspace: of.map(|(_, name)| name),
        entries: entries.iter().map(wire::timeline_entry).collect(),
        more,
        pruned: pruned.map(|(seq, at)| AuditPrunedDoc { seq, time: at.map(wire::time) }),
    };
    context.output.data(document, |document| {
        let older = more.then(|| "older entries with -n N".to_owned()).or(removed);
        let older = older.map(|text| paint(DIM, &format!("{text}\n"))).unwrap_or_default();
        let told = entries.iter().zip(&document.entries).map(|(entry, told)| tell(entry, told));
        format!("{older}{}", told.collect::<String>())
    })
}

/// Whether the last command of the vault, or what was decided about it, belongs to no workspace or to another one.
fn is_elsewhere(service: &AuditService<'_>, workspace: Id) -> Result<bool> {
    let (entries, _) = service.story(None, LOOKED_AT)?;
    let last = entries.iter().rev().find(|entry| entry.exec().is_some());
    Ok(last.is_some_and(|last| last.workspace != Some(workspace)))
}

/// That events are not there any more, up to which, and since when.
pub(super) fn removed(seq: u64, at: Option<u64>) -> String {
    let on = at.map(|at| format!(" on {}", render::time(at))).unwrap_or_default();
    format!("earlier events, up to #{seq}, were removed{on} with `audit prune`")
}

/// Which approvals somebody went past; nothing where they did not.
pub(super) fn unapproved<'a>(past: impl Iterator<Item = &'a str>) -> String {
    let past: Vec<String> = past.map(short).collect();
    match past.is_empty() {
        true => String::new(),
        false => paint(WARN, &format!("  unapproved: {}", past.join(", "))),
    }
}

fn tell(entry: &AuditEntry, told: &TimelineEntryDoc) -> String {
    let actor = &entry.actor;
    let by = actor.agent.as_ref().unwrap_or(&actor.user);
    let what = match &told.command {
        Some(command) => render::line(command),
        None => render::line(&render::paths_in(told.summary.clone())),
    };
    let outcome = outcome(told);
    let outcome = if outcome.is_empty() { outcome } else { format!("  {outcome}") };
    let outcome = outcome + &unapproved(told.unapproved.iter().map(String::as_str));
    let mut text = format!(
        "{}  {}  {}  {what}{outcome}\n",
        paint(DIM, &render::time(entry.event.time_ms)),
        paint(NAME, &told.event),
        render::line(by),
    );
    text.push_str(&files(&told.files, ""));
    text.push_str(&files(&told.tried_files, "would be "));
    text
}

fn files(files: &[TimelineFileDoc], would: &str) -> String {
    let mut text = String::new();
    for file in files.iter().take(SHOWN_FILES) {
        let path = render::line(&render::paths_in(file.path.clone()));
        text.push_str(&format!("    {} {path}\n", paint(WARN, &format!("{would}{}", file.kind))));
    }
    let hidden = files.len().saturating_sub(SHOWN_FILES) as u64;
    if hidden > 0 {
        text.push_str(&paint(DIM, &format!("    and {hidden} more\n")));
    }
    text
}

/// What was decided about a command, how it ended, and how long that took.
fn outcome(told: &TimelineEntryDoc) -> String {
    let Some(ended) = &told.ended else { return decided(told) };
    let state = told.state.as_deref().and_then(|state| state.parse().ok());
    let approval = told.approval.as_deref().map(short).unwrap_or_default();
    let style = if ended == "exit 0" { GOOD } else { BAD };
    let mut parts = match state {
        Some(ExecState::PendingApproval) if told.tried => {
            let waits = format!("tried, waits for approval {approval}");
            vec![paint(WARN, &waits), paint(style, ended)]
        }
        Some(ExecState::PendingApproval) => {
            vec![paint(WARN, &format!("waits for approval {approval}"))]
        }
        Some(ExecState::Denied) => {
            let rule = told.rule.as_deref().map(|rule| format!(" by rule {rule}"));
            let why = told.reason.as_deref().map(|why| format!(": {why}"));
            let text = format!("denied{}{}", rule.unwrap_or_default(), why.unwrap_or_default());
            vec![paint(BAD, &render::line(&text))]
        }
        _ => {
            let decision = told.decision.as_deref().map(|decision| paint(DIM, decision));
            let by = told.approval.as_ref().map(|_| paint(DIM, &format!("by approval {approval}")));
            [Some(paint(style, ended)), decision, by].into_iter().flatten().collect()
        }
    };
    parts.extend(told.duration_ms.map(|ms| paint(DIM, &format!("{ms} ms"))));
    parts.join(", ")
}

/// What somebody decided about an approval; nothing of what is none.
fn decided(told: &TimelineEntryDoc) -> String {
    let state = told.state.as_deref().and_then(|state| state.parse().ok());
    let (Some(approval), Some(state)) = (&told.approval, state) else { return String::new() };
    let by = match told.fallback {
        true => " as nobody decided in time".to_owned(),
        false => format!(" by {}", told.actor.user),
    };
    let how = if told.merged { " (merged)" } else { " (moved)" };
    let (style, mut text) = match state {
        ApprovalState::Approved => (GOOD, format!("approved{by}{how}")),
        ApprovalState::Granted => (GOOD, format!("approved{by}, to run next")),
        ApprovalState::Running => (GOOD, "starts, as it was approved".to_owned()),
        ApprovalState::Denied => (BAD, format!("denied{by}")),
        ApprovalState::Expired => (BAD, format!("expired{by}")),
        ApprovalState::Pending | ApprovalState::Gone => return String::new(),
    };
    match told.scope.as_deref().and_then(|scope| scope.parse().ok()) {
        Some(ApprovalScope::Session) => text.push_str(", for the session"),
        Some(ApprovalScope::Always) => text.push_str(", from now on"),
        Some(ApprovalScope::Once) | None => {}
    }
    if let Some(reason) = &told.reason {
        text.push_str(&format!(": {reason}"));
    }
    let id = paint(DIM, &format!("approval {}", short(approval)));
    format!("{}, {id}", paint(style, &render::line(&text)))
}

fn short(id: &str) -> String {
    id.parse().map_or_else(|_| id.to_owned(), |id: Id| id.short())
}
