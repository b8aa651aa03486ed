//! `offshoot review`: deciding about the changes of a workspace.

mod choose;
mod list;

use std::ffi::OsString;

use clap::Args;
use offshoot_protocol::{ExitCode, ReviewDoc};
use offshoot_vault::{Vault, VaultPath, Workspace};
use offshoot_workspace::{Decision, Edited, PieceKind, ReviewItem, ReviewService, wire};

use crate::context::{Context, vault_path};
use crate::error::{CliError, Result};
use crate::render::{self, NAME, paint};
use crate::review::{self, Ending, Tally};
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  offshoot review -w fix                     walk through what fix changed
  offshoot review -w fix /src                only what is below /src
  offshoot review -w fix --list              the changes with their ids, for programs too
  offshoot review -w fix --drop 3f2a9c51d0e7 take a hunk out of the workspace
  offshoot review -w fix --drop /notes.txt   everything that was done to a file
  offshoot undo -w fix                       take the last review back

Keys: a accepts, d drops, e edits, n goes on, p back, s splits, f and F accept and drop the
whole file, / finds, ? shows all keys, q quits. At the end what was dropped is taken out of
the workspace and what was edited is put in, as one operation; the folder is not touched.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReviewArgs {
    /// Only what is at or below these paths
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,
    /// List the changes with the ids of their pieces
    #[arg(long, conflicts_with = "drop")]
    list: bool,
    /// Take these out of the workspace: ids of pieces with commas between them, or a path
    #[arg(long, value_name = "ID")]
    drop: Vec<String>,
    /// Divide hunks into their single changes
    #[arg(long)]
    split: bool,
}

/// Lists, carries out what was asked for, or walks through it all.
pub(crate) fn run(args: &ReviewArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let paths: Result<Vec<VaultPath>> = args.paths.iter().map(|path| vault_path(path)).collect();
    let workspace = workspace(args, context, vault)?;
    let service = ReviewService::new(vault, &context.actor, context.diff_options());
    let mut items = service.items(&workspace, &paths?)?;
    if args.split {
        items.iter_mut().for_each(split_all);
    }
    if args.list {
        return list::print(context, &workspace, &items);
    }
    if !args.drop.is_empty() {
        choose::decide(&mut items, &args.drop, &Decision::Dropped)?;
        return carry_out(context, &service, &workspace, &items);
    }
    if items.is_empty() {
        return carry_out(context, &service, &workspace, &items);
    }
    walk(context, &service, &workspace, items)
}

fn workspace(args: &ReviewArgs, context: &Context, vault: &Vault) -> Result<Workspace> {
    if !args.list {
        return context.workspace_to_change(vault);
    }
    let found = context.workspace_to_read(vault)?;
    found.ok_or_else(|| {
        CliError::new(ExitCode::NotFound, "the vault has no workspace yet")
            .hint("`offshoot workspace create NAME` forks one")
    })
}

/// Divides hunks into changes, and those no further.
fn split_all(item: &mut ReviewItem) {
    for at in (0..item.pieces.len()).rev() {
        let is_change = match (&item.pieces[at].kind, &item.text) {
            (PieceKind::Lines(part), Some(text)) => text.changes().contains(part),
            _ => true,
        };
        if !is_change {
            item.split(at);
        }
    }
}

fn walk(
    context: &Context,
    service: &ReviewService<'_>,
    workspace: &Workspace,
    items: Vec<ReviewItem>,
) -> Result<()> {
    if context.output.is_json() || !terminal::is_attended() {
        let message = "a review needs a terminal";
        let hint = "--list shows the changes with their ids, and --drop takes them out";
        return Err(CliError::usage(message).hint(hint));
    }
    let title = format!("review of {}", workspace.name);
    let (items, ending) = review::walk(title, items, false)?;
    match ending {
        Ending::Forget => {
            let name = &workspace.name;
            context.output.text(&format!("the decisions were forgotten; {name} is as it was\n"))
        }
        Ending::Apply | Ending::Commit => carry_out(context, service, workspace, &items),
    }
}

fn carry_out(
    context: &Context,
    service: &ReviewService<'_>,
    workspace: &Workspace,
    items: &[ReviewItem],
) -> Result<()> {
    let tally = Tally::of(items);
    let edited = service.apply(workspace, items)?;
    let document = document(workspace, &tally, &edited);
    context.output.done(document, |document| told(document, items.is_empty()))
}

fn document(workspace: &Workspace, tally: &Tally, edited: &Edited) -> ReviewDoc {
    ReviewDoc {
        workspace: workspace.name.clone(),
        snapshot: edited.snapshot.id.to_string(),
        accepted: tally.accepted,
        dropped: tally.dropped,
        edited: tally.edited,
        undecided: tally.undecided,
        changes: edited.changes.iter().map(wire::change).collect(),
        operation: edited.operation.map(|id| id.to_string()),
    }
}

fn told(document: &ReviewDoc, nothing: bool) -> String {
    let name = paint(NAME, &document.workspace);
    if nothing {
        return format!("workspace {name} has nothing to review\n");
    }
    let ReviewDoc { accepted, dropped, edited, undecided, .. } = *document;
    let tally = Tally { accepted, dropped, edited, undecided };
    let undo = match document.operation {
        Some(_) => {
            let name = render::line(&document.workspace);
            format!("; `offshoot undo -w {name}` takes it back")
        }
        None => String::new(),
    };
    format!("workspace {name}: {}{undo}\n", tally.text())
}
