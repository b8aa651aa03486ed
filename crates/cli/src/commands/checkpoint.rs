//! `offshoot checkpoint`: marks to come back to.

use clap::{Args, Subcommand};
use offshoot_engine::checkpoint::NewCheckpoint;
use offshoot_engine::reference::Resolver;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_engine::workspace::WorkspaceRecord;
use offshoot_protocol::{
    CheckpointDeletedDoc, CheckpointListDoc, CheckpointShowDoc, Hint, RestoreDoc,
};

use crate::complete;
use crate::context::Context;
use crate::context::noise::ExpandArgs;
use crate::error::{CliError, Result};
use crate::invocation::next_in;
use crate::render::listing::{EXPAND, Listing};
use crate::render::{self, DIM, NAME, fields, paint, table};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum CheckpointCommand {
    /// Mark the current state of a workspace
    #[command(
        alias = "new",
        after_help = "Examples:\n  offshoot checkpoint create before-refactor -w fix\n  offshoot checkpoint create -w fix -m 'tests pass'"
    )]
    Create(CreateArgs),
    /// List the checkpoints of a workspace
    #[command(alias = "ls", after_help = "Examples:\n  offshoot checkpoint list -w fix")]
    List,
    /// Show a checkpoint and what changed since
    #[command(after_help = "Examples:\n  offshoot checkpoint show before-refactor -w fix")]
    Show(ShowArgs),
    /// Take a workspace back to a checkpoint or any REF; `undo` reverses it
    #[command(
        after_help = "Examples:\n  offshoot checkpoint restore before-refactor -w fix\n  offshoot checkpoint restore fix@base -w fix"
    )]
    Restore(RefArgs),
    /// Delete a checkpoint; the history stays
    #[command(
        alias = "rm",
        after_help = "Examples:\n  offshoot checkpoint delete before-refactor -w fix"
    )]
    Delete(NameArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Name of the checkpoint [default: made from its id]
    name: Option<String>,
    /// Describe the checkpoint
    #[arg(short, long, value_name = "TEXT", default_value = "")]
    message: String,
}

#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Checkpoint: a name or the start of an id
    #[arg(add = complete::checkpoints())]
    name: String,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    checkpoint: NameArgs,
    #[command(flatten)]
    expand: ExpandArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RefArgs {
    /// Checkpoint, or any other REF
    #[arg(value_name = "REF", add = complete::references())]
    reference: String,
}

pub(crate) fn run(command: &CheckpointCommand, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    match command {
        CheckpointCommand::Create(args) => {
            let workspace = context.workspace_to_change(vault)?;
            create(context, vault, &workspace, args.name.as_deref(), &args.message)
        }
        CheckpointCommand::List => list(context, vault),
        CheckpointCommand::Show(args) => show(args, context, vault),
        CheckpointCommand::Restore(args) => restore(args, context, vault),
        CheckpointCommand::Delete(args) => delete(args, context, vault),
    }
}

pub(crate) fn create(
    context: &Context,
    vault: &Vault,
    workspace: &WorkspaceRecord,
    name: Option<&str>,
    reason: &str,
) -> Result<()> {
    let service = context.engine.checkpoints(vault);
    let checkpoint =
        service.create(workspace, &NewCheckpoint { name, automatic: false, reason })?;
    let document = wire::checkpoint(&checkpoint, std::slice::from_ref(workspace));
    context.output.done(document, |document| {
        let name = paint(NAME, &document.name);
        format!(
            "checkpoint {name} of {} at {}\n",
            document.workspace,
            render::short(&checkpoint.state.snapshot)
        )
    })
}

fn readable_workspace(context: &Context, vault: &Vault) -> Result<WorkspaceRecord> {
    context.workspace_to_read(vault)?.ok_or_else(|| {
        CliError::new(offshoot_protocol::ExitCode::NotFound, "this vault has no workspace yet")
            .hint(Hint::command("offshoot workspace create NAME").text(" makes one"))
    })
}

fn list(context: &Context, vault: &Vault) -> Result<()> {
    let workspace = readable_workspace(context, vault)?;
    let checkpoints = context.engine.checkpoints(vault).list(&workspace)?;
    let all = [workspace];
    let document = CheckpointListDoc {
        workspace: all[0].name.clone(),
        checkpoints: checkpoints.iter().map(|c| wire::checkpoint(c, &all)).collect(),
    };
    context.output.data(document, |_| {
        let rows = checkpoints.iter().map(|checkpoint| {
            vec![
                paint(NAME, &checkpoint.name),
                render::short(&checkpoint.state.snapshot),
                paint(DIM, &render::time(checkpoint.state.created_ms)),
                render::line(&checkpoint.state.reason),
            ]
        });
        match checkpoints.is_empty() {
            true => format!("workspace {} has no checkpoints\n", all[0].name),
            false => table(&["CHECKPOINT", "SNAPSHOT", "CREATED", "REASON"], rows.collect()),
        }
    })
}

fn show(args: &ShowArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = readable_workspace(context, vault)?;
    let checkpoint = Resolver::new(vault).checkpoint(&workspace, &args.checkpoint.name)?;
    let snapshot = vault.snapshot(&checkpoint.state.snapshot)?;
    let head = vault.snapshot(&workspace.state.head)?;
    let changes = context.engine.changes(vault);
    let since = changes.between(&snapshot.root, &head.root, false)?.changes;
    let document = CheckpointShowDoc {
        checkpoint: wire::checkpoint(&checkpoint, std::slice::from_ref(&workspace)),
        snapshot: wire::snapshot(&snapshot),
        changes_since: since.iter().map(wire::change).collect(),
    };
    let mut noise = context.noise(vault, &[snapshot.root, head.root], args.expand)?;
    let listing = Listing::new(&since, noise.as_mut())?;
    context.output.data(document, |_| {
        let row = |name: &str, value: String| vec![paint(DIM, name), value];
        let mut out = fields(&[
            row("checkpoint", paint(NAME, &checkpoint.name)),
            row("id", checkpoint.id.to_string()),
            row("workspace", workspace.name.clone()),
            row("snapshot", render::short(&snapshot.id)),
            row("created", render::time(checkpoint.state.created_ms)),
            row("reason", render::line(&checkpoint.state.reason)),
            row("changed since", listing.heading()),
        ]);
        out.push_str(&listing.lines("  ", usize::MAX, EXPAND));
        out
    })
}

fn restore(args: &RefArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = context.workspace_to_change(vault)?;
    let point = Resolver::new(vault).point_to_restore(&args.reference, &workspace)?;
    let restored = context.engine.checkpoints(vault).restore(&workspace, &point)?;
    let document = RestoreDoc {
        workspace: workspace.name,
        to: point.label,
        snapshot: wire::snapshot(&restored.snapshot),
        operation: restored.operation.map(|id| id.to_string()),
    };
    context.output.done(document, |document| {
        let RestoreDoc { workspace, to, .. } = document;
        match document.operation {
            Some(_) => {
                let undo = next_in(workspace, "offshoot undo");
                format!("workspace {workspace} is back at {to}; `{undo}` takes it forward again\n")
            }
            None => format!("workspace {workspace} is at {to} already\n"),
        }
    })
}

fn delete(args: &NameArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = context.workspace_to_change(vault)?;
    let checkpoint = Resolver::new(vault).checkpoint(&workspace, &args.name)?;
    let operation = context.engine.checkpoints(vault).delete(&checkpoint)?;
    let document = CheckpointDeletedDoc {
        name: checkpoint.name,
        workspace: workspace.name,
        operation: operation.map(|id| id.to_string()),
    };
    context.output.done(document, |document| {
        format!("checkpoint {} of {} deleted\n", document.name, document.workspace)
    })
}
