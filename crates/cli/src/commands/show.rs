//! `offshoot show`: one thing of the history in detail.

use clap::Args;
use offshoot_engine::change::{Noise, Summary};
use offshoot_engine::error::ServiceError;
use offshoot_engine::exec::{ExecRecord, ExecService, RunningExec, RunningService};
use offshoot_engine::file::RootId;
use offshoot_engine::id::Id;
use offshoot_engine::operation::Operation;
use offshoot_engine::reference::{Point, Resolver};
use offshoot_engine::vault::{Vault, VaultError};
use offshoot_engine::wire;
use offshoot_protocol::{ExecEnvelopeDoc, ExitCode, Hint, RunningListDoc, ShowDoc};

use super::ps::now_ms;
use crate::complete;
use crate::context::noise::ExpandArgs;
use crate::context::{Context, OpenVault};
use crate::error::{CliError, Result};
use crate::invocation;
use crate::output::{finish_write, print_json};
use crate::render::listing::{EXPAND, Listing, METADATA};
use crate::render::{self, DIM, NAME, fields, paint};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot show fix\n  offshoot show fix@before\n  offshoot show 01k9x2m4"
)]
pub(crate) struct ShowArgs {
    /// Workspace, checkpoint, snapshot, exec or operation
    #[arg(value_name = "REF", add = complete::shown())]
    reference: String,
    /// Show changes of times, owners and attributes too
    #[arg(long)]
    metadata: bool,
    #[command(flatten)]
    expand: ExpandArgs,
}

pub(crate) fn run(args: &ShowArgs, context: &Context) -> Result<()> {
    let OpenVault { vault, name } = context.vault()?;
    let vault = &vault;
    let resolver = Resolver::new(vault);
    let current = context.workspace_name().map(|name| resolver.workspace(name)).transpose()?;
    match resolver.point(&args.reference, current.as_ref()) {
        Ok(point) => show_point(args, context, vault, &point),
        Err(error @ ServiceError::Unknown { .. }) => {
            if let Ok(exec) = ExecService::new(vault).find(&args.reference) {
                return show_exec(args, context, vault, &exec);
            }
            if let Ok(Some(running)) = RunningService::new(vault).find(&args.reference) {
                return show_running(context, &running, &name);
            }
            match resolver.operation(&args.reference) {
                Ok(operation) => show_operation(context, vault, &operation),
                Err(_) => Err(unknown(error)),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// Why nothing is called so; ids of commands and operations would have done as well.
fn unknown(error: ServiceError) -> CliError {
    let ServiceError::Unknown { text, suggestions, known, .. } = error else { return error.into() };
    let what = "workspace, checkpoint, snapshot, exec or operation";
    let is_near = !suggestions.is_empty();
    let mut error = CliError::from(ServiceError::Unknown { what, text, suggestions, known });
    if !is_near {
        let lists = Hint::command("offshoot execs")
            .text(" lists commands, ")
            .then("offshoot op log")
            .text(" operations");
        error.hint = Some(error.hint.unwrap_or_default().and(lists));
    }
    error
}

/// A command that is still running: there is no envelope yet.
fn show_running(context: &Context, running: &RunningExec, vault: &str) -> Result<()> {
    let note = &running.note;
    let document = RunningListDoc { running: vec![wire::running(note, vault, now_ms())] };
    context.output.data(document, |_| {
        let row = |name: &str, value: String| vec![paint(DIM, name), value];
        let rows = [
            row("exec", note.exec.to_string()),
            row("command", render::line(&note.command)),
            row("state", "running".to_owned()),
            row("workspace", paint(NAME, &note.workspace_name)),
            row("started", render::time(note.started_ms)),
            row("by", render::line(&note.actor.user)),
        ];
        let logs = Hint::command("offshoot logs -f").arg(note.exec.short());
        let kill = Hint::command("offshoot kill").arg(note.exec.short());
        let next =
            format!("output: {}   end it: {}", invocation::next(logs), invocation::next(kill));
        format!("{}{}\n", fields(&rows), paint(DIM, &next))
    })
}

fn show_point(args: &ShowArgs, context: &Context, vault: &Vault, point: &Point) -> Result<()> {
    let snapshot = &point.snapshot;
    let service = context.engine.changes(vault);
    let mut roots = vec![snapshot.root];
    let summary = match snapshot.parents.first() {
        Some(parent) => {
            let parent = vault.snapshot(parent)?;
            if let Err(error @ VaultError::Collected { .. }) = vault.require_files(&parent) {
                context.output.note(format!("cannot show what it changed: {error}"));
                return show_summary(context, point, &nothing(), None);
            }
            roots.push(parent.root);
            service.between(&parent.root, &snapshot.root, args.metadata)?
        }
        None => nothing(),
    };
    let noise = context.noise(vault, &roots, args.expand)?;
    show_summary(context, point, &summary, noise)
}

fn nothing() -> Summary {
    Summary { changes: Vec::new(), metadata: Vec::new() }
}

fn show_summary(
    context: &Context,
    point: &Point,
    summary: &Summary,
    mut noise: Option<Noise<'_>>,
) -> Result<()> {
    let snapshot = &point.snapshot;
    let listing = Listing::new(&summary.changes, noise.as_mut())?;
    let listing = listing.and_metadata(summary.telling_metadata(), METADATA);
    let document = ShowDoc {
        of: point.label.clone(),
        snapshot: wire::snapshot(snapshot),
        changes: summary.changes.iter().map(wire::change).collect(),
        metadata_only: summary.metadata_only(),
    };
    context.output.data(document, |document| {
        let row = |name: &str, value: String| vec![paint(DIM, name), value];
        let mut rows = vec![
            row("snapshot", snapshot.id.to_string()),
            row("called", paint(NAME, &document.of)),
            row("root", document.snapshot.root.clone()),
            row("parents", document.snapshot.parents.join(", ")),
            row("time", render::time(snapshot.time_ms)),
            row("by", render::line(&snapshot.actor.user)),
            row("reason", render::line(&snapshot.reason)),
        ];
        if let Some(message) = &snapshot.message {
            rows.push(row("message", render::line(message)));
        }
        let first = snapshot.parents.is_empty();
        let changed = if first { "it is the first".to_owned() } else { listing.heading() };
        rows.push(row("changed", changed));
        format!("{}{}", fields(&rows), listing.lines("  ", usize::MAX, EXPAND))
    })
}

fn show_exec(args: &ShowArgs, context: &Context, vault: &Vault, record: &ExecRecord) -> Result<()> {
    let (stdout, stderr) = ExecService::new(vault).output(&record.id)?;
    let Some(envelope) = wire::recorded_envelope(record, (&stdout, &stderr)) else {
        let message = format!("the envelope of exec {} cannot be read", record.id);
        return Err(CliError::new(ExitCode::Damaged, message));
    };
    if context.output.is_json() {
        return finish_write(print_json(&envelope));
    }
    let summary = changes_of(context, vault, &envelope)?;
    let Some((summary, roots)) = summary else {
        context
            .output
            .note("what it changed cannot be shown any more: its snapshots were collected");
        context.output.print_notes();
        return context.output.text(&render::exec::envelope(&envelope, None));
    };
    let mut noise = context.noise(vault, &roots, args.expand)?;
    let listing = Listing::new(&summary.changes, noise.as_mut())?;
    let listing = if args.metadata { listing } else { listing.without_metadata() };
    context.output.text(&render::exec::envelope(&envelope, Some(&listing)))
}

/// What an exec changed, and its states before and after; `None` where those were collected.
fn changes_of(
    context: &Context,
    vault: &Vault,
    envelope: &ExecEnvelopeDoc,
) -> Result<Option<(Summary, Vec<RootId>)>> {
    let result = &envelope.result;
    let (Some(before), Some(after)) = (&result.snapshot_before, &result.snapshot_after) else {
        return Ok(Some((nothing(), Vec::new())));
    };
    let mut roots = Vec::new();
    for text in [before, after] {
        let Ok(id) = text.parse::<Id>() else { return Ok(None) };
        let snapshot = vault.snapshot(&id)?;
        match vault.require_files(&snapshot) {
            Err(VaultError::Collected { .. }) => return Ok(None),
            found => found?,
        }
        roots.push(snapshot.root);
    }
    let service = context.engine.changes(vault);
    Ok(Some((service.between(&roots[0], &roots[1], true)?, roots)))
}

fn show_operation(context: &Context, vault: &Vault, operation: &Operation) -> Result<()> {
    let document = wire::operation(operation, &vault.workspaces()?);
    context.output.data(document, |document| {
        let row = |name: &str, value: String| vec![paint(DIM, name), value];
        let mut rows = vec![
            row("operation", document.id.clone()),
            row("kind", document.kind.clone()),
            row("did", render::line(&document.summary)),
            row("time", render::time(operation.time_ms)),
            row("by", render::line(&operation.actor.user)),
            row("changed", document.refs.join(", ")),
        ];
        if let Some(target) = &document.reverts {
            rows.push(row("reverts", target.clone()));
        }
        fields(&rows)
    })
}
