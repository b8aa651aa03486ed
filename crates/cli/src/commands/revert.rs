//! `offshoot undo` and `offshoot redo`.

use clap::Args;
use offshoot_engine::commit::CommitEvent;
use offshoot_engine::error::ServiceError;
use offshoot_engine::id::Id;
use offshoot_engine::operation::{RevertOutcome, Scope};
use offshoot_engine::reference::Resolver;
use offshoot_engine::vault::{Vault, VaultError};
use offshoot_engine::wire;
use offshoot_protocol::{Hint, RevertDoc, RevertVerb};

use super::commit::HALF_CHANGED;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::global::Named;
use crate::interrupt::{self, Watch};
use crate::invocation::next_in;
use crate::render::way_on;
use crate::render::{self, DIM, NAME, paint};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot undo                   undo the last operation of the only workspace\n  offshoot undo fix               or of workspace fix\n  offshoot redo fix               redo it\n  offshoot undo --vault-wide      undo the last operation of the vault"
)]
pub(crate) struct RevertArgs {
    #[command(flatten)]
    pub(crate) named: Named,
    /// Act on the last operation of the whole vault
    #[arg(long, conflicts_with_all = ["workspace", "named"])]
    vault_wide: bool,
}

pub(crate) fn undo(args: &RevertArgs, context: &Context) -> Result<()> {
    revert(args, context, RevertVerb::Undo)
}

pub(crate) fn redo(args: &RevertArgs, context: &Context) -> Result<()> {
    revert(args, context, RevertVerb::Redo)
}

fn revert(args: &RevertArgs, context: &Context, verb: RevertVerb) -> Result<()> {
    let vault = &context.vault_to_settle()?.vault;
    if !args.vault_wide && context.workspace_name().is_none() && vault.workspaces()?.is_empty() {
        return Err(nothing_to(verb, None, vault));
    }
    let scope = scope(args.vault_wide, context, vault)?;
    let watch = Watch::start(context, interrupt::NOTHING)?;
    let told = |event: &_| {
        if let CommitEvent::Changing = event {
            watch.say(HALF_CHANGED);
        }
        context.engine.tell_event(event);
    };
    let reverted = context.engine.revert(vault, verb, scope, &told);
    let RevertOutcome { reversal: reverted, gone } = reverted.map_err(|error| match error {
        ServiceError::Vault(VaultError::NothingToUndo | VaultError::NothingToRedo) => {
            nothing_to(verb, Some(scope), vault)
        }
        error => error.into(),
    })?;
    drop(watch);
    let document = RevertDoc {
        verb,
        target: wire::operation(&reverted.target, &vault.workspaces()?),
        operation: reverted.operation.to_string(),
        repositories: way_on::repositories(&reverted.git),
    };
    context.output.done(document, |document| {
        let (done, back) = match verb {
            RevertVerb::Undo => ("undone", RevertVerb::Redo),
            RevertVerb::Redo => ("redone", RevertVerb::Undo),
        };
        let folder = match document.target.kind.as_str() {
            "commit" => ", in the folder too",
            _ => "",
        };
        let summary = render::line(&document.target.summary);
        let id = render::short(&reverted.target.id);
        let git = render::git::notes(&reverted.git, "yours");
        let gone = gone.iter().map(|name| {
            let back = next_in(name, &format!("offshoot {back}"));
            let back = format!("; `{back}` brings it back");
            format!("workspace {} is gone{}\n", paint(NAME, name), paint(DIM, &back))
        });
        let gone: String = gone.collect();
        format!("{done}: {summary} ({id}){folder}\n{gone}{git}")
    })
}

/// That nothing is left, and why. Where a workspace has nothing, the vault may have: a deleted workspace whose name was used again, for example.
/// Without a scope there is no workspace at all.
fn nothing_to(verb: RevertVerb, scope: Option<Scope>, vault: &Vault) -> CliError {
    let is_undo = verb == RevertVerb::Undo;
    let why = match (scope, is_undo) {
        (None, _) => "the vault has no workspace",
        (Some(Scope::Vault), true) => "everything since the vault was created is undone already",
        (Some(Scope::Workspace(_)), true) => "all operations of this workspace are undone already",
        (Some(_), false) => "the last operation was not an undo",
    };
    let error = if is_undo { VaultError::NothingToUndo } else { VaultError::NothingToRedo };
    let error = CliError::from(error);
    let error = CliError { message: format!("{}: {why}", error.message), ..error };
    let target = match (scope, is_undo) {
        (Some(Scope::Vault), _) => return error,
        (_, true) => vault.undo_target(Scope::Vault),
        (_, false) => vault.redo_target(Scope::Vault),
    };
    match target {
        Ok(target) => {
            let (does, summary) =
                (if is_undo { "undoes" } else { "redoes" }, render::line(&target.summary));
            let last = format!("{does} the last operation of the whole vault: {summary}");
            error.hint(
                match verb {
                    RevertVerb::Undo => Hint::command("offshoot undo --vault-wide"),
                    RevertVerb::Redo => Hint::command("offshoot redo --vault-wide"),
                }
                .text(format!(" {last}")),
            )
        }
        Err(_) => error,
    }
}

/// The workspace whose operations are meant, there or deleted, or the whole vault.
pub(crate) fn scope(vault_wide: bool, context: &Context, vault: &Vault) -> Result<Scope> {
    if vault_wide {
        return Ok(Scope::Vault);
    }
    let id: Id = match context.workspace_name() {
        Some(name) => Resolver::new(vault).workspace_ever(name)?.0,
        None => context.workspace_to_change(vault)?.id,
    };
    Ok(Scope::Workspace(id))
}
