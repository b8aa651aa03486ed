//! `offshoot recover`: what interrupted commands left.

use clap::{Args, Subcommand};
use offshoot_engine::recover::{Inspected, RecoverService, Recoverable, RecoveredWork};
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{Hint, RecoverListDoc};

use crate::complete;
use crate::context::Context;
use crate::context::noise::ExpandArgs;
use crate::error::Result;
use crate::invocation::{next, next_in};
use crate::render::listing::{EXPAND, Listing};
use crate::render::{self, BAD, DIM, NAME, fields, paint, table};

/// At most so much of an output is shown to people.
const SHOWN_OUTPUT: usize = 2_000;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum RecoverCommand {
    /// List what interrupted commands left
    #[command(after_help = "Examples:\n  offshoot recover list\n  offshoot recover list --json")]
    List,
    /// Show what an interrupted command left
    #[command(after_help = "Examples:\n  offshoot recover show 01k9x2m4")]
    Show(ShowArgs),
    /// Keep what a command left, as a checkpoint of its workspace or as a new workspace
    #[command(
        after_help = "Examples:\n  offshoot recover keep 01k9x2m4\n  offshoot recover keep 01k9x2m4 --name half-done\n  offshoot checkpoint restore half-done -w fix     go on from there"
    )]
    Keep(KeepArgs),
    /// Delete what a command left; this cannot be undone
    #[command(
        after_help = "Examples:\n  offshoot recover drop 01k9x2m4\n  offshoot recover drop --all"
    )]
    Drop(DropArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Exec: the start of its id
    #[arg(value_name = "EXEC", add = complete::left())]
    exec: String,
    #[command(flatten)]
    expand: ExpandArgs,
}

#[derive(Debug, Args)]
pub(crate) struct KeepArgs {
    /// Exec: the start of its id
    #[arg(value_name = "EXEC", add = complete::left())]
    exec: String,
    /// Name the checkpoint, or the workspace if its own is gone
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DropArgs {
    /// Exec: the start of its id
    #[arg(value_name = "EXEC", required_unless_present = "all", add = complete::left())]
    exec: Option<String>,
    /// Delete everything that was left
    #[arg(long, conflicts_with = "exec")]
    all: bool,
}

pub(crate) fn run(command: &RecoverCommand, context: &Context) -> Result<()> {
    let opened = context.vault_as_left()?;
    let vault = &opened.vault;
    context.engine.settle_shared(vault);
    let service = context.engine.leftovers(vault);
    match command {
        RecoverCommand::List => list(context, &service),
        RecoverCommand::Show(args) => {
            let inspected = service.show(&service.find(&args.exec)?)?;
            let document = wire::inspected(&inspected);
            let root = vault.snapshot(&inspected.found.note.snapshot)?.root;
            let noise = context.noise(vault, &[root], args.expand)?;
            let mut noise = noise.map(|noise| noise.reading(&inspected.preview.objects));
            let listing = Listing::new(&inspected.preview.changes, noise.as_mut())?;
            let listing = listing.without_metadata();
            context.output.data(document, |_| shown(&inspected, &listing))
        }
        RecoverCommand::Keep(args) => {
            let kept = service.keep(&service.find(&args.exec)?, args.name.as_deref())?;
            answer_kept(context, vault, &kept)
        }
        RecoverCommand::Drop(args) => discard(args, context, &service),
    }
}

/// The columns of the list.
const RECOVERABLE: &[&str] = &["EXEC", "WORKSPACE", "STARTED", "CHANGED", "NOTE", "COMMAND"];

fn list(context: &Context, service: &RecoverService<'_>) -> Result<()> {
    let found = service.list()?;
    let recoverable = found.iter().map(wire::recoverable).collect();
    context.output.data(RecoverListDoc { recoverable }, |_| {
        if found.is_empty() {
            return "no interrupted command left anything\n".to_owned();
        }
        let rows: Vec<Vec<String>> = found.iter().map(row).collect();
        let next = format!(
            "see: {}   keep: {}   throw away: {}\n",
            next(Hint::command("offshoot recover show EXEC")),
            next(Hint::command("offshoot recover keep EXEC")),
            next(Hint::command("offshoot recover drop EXEC"))
        );
        format!("{}{}", table(RECOVERABLE, rows), paint(DIM, &next))
    })
}

fn row(found: &Recoverable) -> Vec<String> {
    let note = &found.note;
    let trust = if note.went_through_a_boot() { paint(BAD, "power cut") } else { String::new() };
    vec![
        paint(DIM, &note.exec.short()),
        workspace(found),
        render::time(note.started_ms),
        amount(found),
        trust,
        render::line(&note.command),
    ]
}

/// The workspace that a command ran in, as it is called now.
fn workspace(found: &Recoverable) -> String {
    match &found.workspace {
        Some(workspace) => paint(NAME, &workspace.name),
        None => {
            format!("{} {}", render::line(&found.note.workspace_name), paint(BAD, "(deleted)"))
        }
    }
}

fn amount(found: &Recoverable) -> String {
    match found.size {
        Some(size) if size.files == 0 => render::count(size.directories, "folder"),
        Some(size) => {
            format!("{}, {}", render::count(size.files, "file"), render::bytes(size.bytes))
        }
        None => "a copy".to_owned(),
    }
}

fn shown(inspected: &Inspected, listing: &Listing<'_>) -> String {
    let found = &inspected.found;
    let row = |name: &str, value: String| vec![paint(DIM, name), value];
    let mut rows = vec![
        row("exec", found.note.exec.to_string()),
        row("command", render::line(&found.note.command)),
        row("workspace", workspace(found)),
        row("started", render::time(found.note.started_ms)),
        row("by", render::line(&found.note.actor.user)),
        row("from", found.note.snapshot.to_string()),
    ];
    if found.note.went_through_a_boot() {
        let warning = "the machine was started anew since; files may be incomplete";
        rows.push(row("note", paint(BAD, warning)));
    }
    rows.push(row("changed", listing.heading()));
    let mut text = format!("{}{}", fields(&rows), listing.lines("  ", usize::MAX, EXPAND));
    for (name, bytes) in [("stdout", &inspected.output.0), ("stderr", &inspected.output.1)] {
        if !bytes.is_empty() {
            let end = &bytes[bytes.len().saturating_sub(SHOWN_OUTPUT)..];
            text.push_str(&format!("{}\n", paint(DIM, name)));
            for line in String::from_utf8_lossy(end).lines() {
                text.push_str(&format!("  {}\n", render::line(line)));
            }
        }
    }
    text
}

fn answer_kept(context: &Context, vault: &Vault, kept: &RecoveredWork) -> Result<()> {
    let document = wire::kept(kept, &vault.workspaces()?);
    if document.power_cut {
        context.output.note("the machine was started anew since; files may be incomplete");
    }
    let root = vault.snapshot(&kept.note.snapshot)?.root;
    let mut noise = context.noise(vault, &[root], ExpandArgs::default())?;
    let listing = Listing::new(&kept.changes, noise.as_mut())?.without_metadata();
    let counts = listing.summary();
    context.output.done(document, |_| said(kept, &counts))
}

/// What was kept, in a few words.
fn said(kept: &RecoveredWork, counts: &str) -> String {
    let (exec, workspace) = (kept.note.exec.short(), paint(NAME, &kept.workspace.name));
    match &kept.checkpoint {
        Some(checkpoint) => {
            let (name, workspace_name) = (&checkpoint.name, &kept.workspace.name);
            let restore = Hint::command("offshoot checkpoint restore").arg(name);
            let next = format!(
                "the workspace itself is where it was; to go on from there: {}",
                next(restore.words("-w").arg(workspace_name))
            );
            let name = paint(NAME, name);
            format!(
                "kept what {exec} left as checkpoint {name} of {workspace}: {counts}\n{}\n",
                paint(DIM, &next)
            )
        }
        None if kept.snapshot.is_some() => {
            let (gone, name) = (render::line(&kept.note.workspace_name), &kept.workspace.name);
            let next = format!("see it: {}", next_in(name, "offshoot diff"));
            format!(
                "workspace {gone} is deleted, so what {exec} left is the new workspace {workspace}: {counts}\n{}\n",
                paint(DIM, &next)
            )
        }
        None => format!("{exec} had changed nothing; there is nothing to keep\n"),
    }
}

fn discard(args: &DropArgs, context: &Context, service: &RecoverService<'_>) -> Result<()> {
    let wanted = match &args.exec {
        Some(text) => vec![service.find_to_drop(text)?],
        None => service.left()?,
    };
    let mut dropped = Vec::new();
    for exec in wanted {
        dropped.push(service.drop(&exec)?);
    }
    context.output.done(wire::dropped(&dropped), |_| {
        let lines = dropped.iter().map(|note| {
            let (exec, command) = (note.exec.short(), render::line(&note.command));
            format!("dropped what {exec} left: {command}\n")
        });
        let lines: String = lines.collect();
        if lines.is_empty() { "nothing was left\n".to_owned() } else { lines }
    })
}
