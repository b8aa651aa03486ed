//! `offshoot vault maintain`: what commands start in the background when there is something to tidy.

use clap::Args;
use offshoot_engine::id::Id;
use offshoot_engine::reference::Resolver;

use super::background;
use crate::context::{Context, OpenVault};
use crate::error::Result;

#[derive(Debug, Args)]
pub(crate) struct MaintainArgs {
    /// The vault
    name: String,
    /// This is the process in the background
    #[arg(long)]
    background: bool,
}

/// Merges layers of the workspace and collects garbage, as far as it is due.
pub(super) fn run(args: &MaintainArgs, context: &Context) -> Result<()> {
    if args.background {
        background::withdraw();
    }
    let OpenVault { mut vault, .. } = context.vault_named(&args.name)?;
    // Nobody waits for the background to delete a vault.
    vault.allow_deletion();
    // Without a workspace there are no layers to merge.
    let workspace =
        context.workspace_name().and_then(|name| Resolver::new(&vault).workspace(name).ok());
    let workspace = workspace.map_or_else(Id::random, |workspace| workspace.id);
    let service = context.engine.maintenance(&vault);
    Ok(service.run(workspace, context.actor())?)
}

/// Starts it after a command in a workspace, where there is something to do.
pub(crate) fn after_command(context: &Context, opened: &OpenVault, workspace: &Id) {
    let service = context.engine.maintenance(&opened.vault);
    if service.is_due(workspace).unwrap_or(false) {
        // The command is done and was answered; the next one tries again.
        let words = ["maintain", "--workspace", &workspace.to_string()];
        drop(background::start(context, opened, &words));
    }
}
