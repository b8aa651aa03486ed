//! `offshoot snapshot create WORKSPACE --name NAME`: how some people are used to making checkpoints.

use clap::{Args, Subcommand};
use offshoot_engine::reference::Resolver;

use super::checkpoint;
use crate::context::Context;
use crate::error::Result;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum SnapshotCommand {
    /// Mark the current state of a workspace
    #[command(after_help = "Examples:\n  offshoot snapshot create fix --name before")]
    Create(CreateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Workspace
    #[arg(value_name = "WORKSPACE")]
    of: String,
    /// Name the checkpoint
    #[arg(long)]
    name: Option<String>,
}

pub(crate) fn run(command: &SnapshotCommand, context: &Context) -> Result<()> {
    let SnapshotCommand::Create(args) = command;
    let vault = &context.vault()?.vault;
    let workspace = Resolver::new(vault).workspace(&args.of)?;
    checkpoint::create(context, vault, &workspace, args.name.as_deref(), "")
}
