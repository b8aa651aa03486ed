//! `offshoot op`: the operation log.

use clap::{Args, Subcommand};
use offshoot_engine::operation::Scope;
use offshoot_engine::reference::Resolver;
use offshoot_engine::wire;
use offshoot_protocol::{OperationLogDoc, OperationRestoreDoc};

use super::revert;
use crate::complete;
use crate::context::Context;
use crate::error::Result;
use crate::invocation::next_in;
use crate::render::{self, BAD, DIM, NAME, paint, table};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum OpCommand {
    /// List operations, newest first
    #[command(after_help = "Examples:\n  offshoot op log\n  offshoot op log -w fix -n 10")]
    Log(LogArgs),
    /// Go back to the state right after an operation; `undo` reverses it
    #[command(
        after_help = "Examples:\n  offshoot op restore 01k9x2m4 -w fix\n  offshoot op restore 01k9x2m4 --vault-wide"
    )]
    Restore(RestoreArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Show at most this many operations
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// Operation: the start of its id
    #[arg(add = complete::operations())]
    id: String,
    /// Restore the whole vault, not one workspace
    #[arg(long, conflicts_with = "workspace")]
    vault_wide: bool,
}

pub(crate) fn run(command: &OpCommand, context: &Context) -> Result<()> {
    match command {
        OpCommand::Log(args) => log(args, context),
        OpCommand::Restore(args) => restore(args, context),
    }
}

/// Lists what can be read, and says which records cannot.
fn log(args: &LogArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let scope = match context.workspace_name() {
        Some(name) => Scope::Workspace(Resolver::new(vault).workspace_ever(name)?.0),
        None => Scope::Vault,
    };
    let log = context.engine.history(vault).operations(scope, args.limit)?;
    let operations = &log.operations;
    let workspaces = vault.workspaces()?;
    let documents = operations.iter().map(|o| wire::operation(o, &workspaces)).collect();
    let document = OperationLogDoc { operations: documents, problems: log.problems.clone() };
    context.output.data(document, |document| {
        let rows = operations.iter().map(|operation| {
            vec![
                render::short(&operation.id),
                paint(DIM, &render::time(operation.time_ms)),
                paint(NAME, &operation.kind),
                render::line(&operation.actor.user),
                render::line(&render::paths_in(operation.summary.clone())),
            ]
        });
        let problems = document
            .problems
            .iter()
            .map(|problem| format!("{} {}\n", paint(BAD, "problem:"), render::line(problem)));
        problems.collect::<String>()
            + &table(&["OPERATION", "TIME", "KIND", "BY", "SUMMARY"], rows.collect())
    })
}

fn restore(args: &RestoreArgs, context: &Context) -> Result<()> {
    let vault = &context.vault_to_settle()?.vault;
    let scope = revert::scope(args.vault_wide, context, vault)?;
    let target = Resolver::new(vault).operation(&args.id)?;
    let head = vault.head()?.id;
    let workspace = || match scope {
        Scope::Workspace(id) => vault.workspace(&id),
        Scope::Vault => Ok(None),
    };
    let before = workspace()?;
    let operation = context.engine.restore(vault, &target, scope)?;
    let after = workspace()?;
    if vault.head()?.id != head {
        context.output.note("the main line moved; folders stay as they are");
    }
    let document = OperationRestoreDoc {
        to: wire::operation(&target, &vault.workspaces()?),
        operation: operation.map(|id| id.to_string()),
    };
    context.output.done(document, |document| {
        let at = format!("{} ({})", render::line(&document.to.summary), render::short(&target.id));
        match document.operation {
            Some(_) => match (&before, &after) {
                (_, Some(it)) => format!("workspace {} is as it was after: {at}\n", paint(NAME, &it.name)),
                (Some(it), None) => {
                    let (name, undo) = (&it.name, next_in(&it.name, "offshoot undo"));
                    format!(
                        "workspace {name} is deleted, since it was not there after: {at}; `{undo}` brings it back\n"
                    )
                }
                (None, None) => format!("everything is as it was after: {at}\n"),
            },
            None => format!("nothing has changed since: {at}\n"),
        }
    })
}
