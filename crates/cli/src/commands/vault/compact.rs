//! `offshoot vault compact`, by hand and after a command.

use clap::Args;
use offshoot_engine::compaction::{CompactScope, CompactionService};
use offshoot_engine::error::ServiceError;
use offshoot_engine::reference::Resolver;
use offshoot_engine::wire;
use offshoot_protocol::{CompactDoc, CompactedDoc, ExitCode};

use super::background;
use crate::complete;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render::{self, NAME, paint};

pub(super) const AFTER_HELP: &str = "\
Examples:
  offshoot vault compact                merge stacks of more than compact.depth layers
  offshoot vault compact -w fix --all   merge all layers of one workspace
  offshoot vault compact --detach       run in the background

Commands can run meanwhile. Only inode numbers change.";

/// The fewest layers that merging leaves.
const FEWEST: usize = 2;

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    /// Vault [default: the one of the current folder]
    #[arg(add = complete::vaults())]
    name: Option<String>,
    /// Merge all stacks, also short ones
    #[arg(long)]
    all: bool,
    /// Run in the background and do not wait
    #[arg(long)]
    detach: bool,
    /// Run as the process in the background
    #[arg(long, hide = true)]
    background: bool,
}

pub(super) fn run(args: &CompactArgs, context: &Context) -> Result<()> {
    if args.background {
        background::withdraw();
    }
    let mut opened = context.vault_or_named(args.name.as_deref())?;
    if args.background {
        // Nobody waits for the background to delete a vault.
        opened.vault.allow_deletion();
    }
    let workspace = context.workspace_name();
    let workspace =
        workspace.map(|name| Resolver::new(&opened.vault).workspace(name)).transpose()?;
    if args.detach {
        let mut words = vec!["compact"];
        words.extend(args.all.then_some("--all"));
        if let Some(workspace) = &workspace {
            words.extend(["--workspace", &workspace.name]);
        }
        background::start(context, &opened, &words).map_err(|error| {
            let message = format!("cannot start a process in the background: {error}");
            CliError::new(ExitCode::Failure, message)
        })?;
        let (vault, stacks) = (opened.name, Vec::new());
        let document = CompactDoc { vault, detached: true, stacks };
        return context.output.done(document, |document| {
            let name = paint(NAME, &document.vault);
            format!("layers of vault {name} are being merged in the background\n")
        });
    }
    let scope = workspace.map_or(CompactScope::Vault, |found| CompactScope::Workspace(found.id));
    let depth = if args.all { FEWEST } else { context.config().compact.depth.into() };
    let done = match CompactionService::new(&opened.vault).run(scope, depth) {
        // Whoever is at it does it all.
        Err(ServiceError::Compacting) if args.background => Vec::new(),
        done => done?,
    };
    let stacks = done.iter().map(wire::compacted).collect();
    let document = CompactDoc { vault: opened.name, detached: false, stacks };
    context.output.done(document, told)
}

fn told(document: &CompactDoc) -> String {
    if document.stacks.is_empty() {
        let name = paint(NAME, &document.vault);
        return format!("vault {name} has nothing to merge\n");
    }
    document.stacks.iter().map(told_of).collect()
}

fn told_of(stack: &CompactedDoc) -> String {
    let whose = match stack.workspaces.as_slice() {
        [] => "the main line".to_owned(),
        names => names.iter().map(|name| paint(NAME, name)).collect::<Vec<_>>().join(", "),
    };
    let beside = match stack.data_layers {
        0 => String::new(),
        number => format!(" over the bytes of {number} others"),
    };
    format!(
        "{whose}: {} became {}{beside}, {} copied\n",
        render::count(stack.layers_before, "layer"),
        stack.layers_after,
        render::bytes(stack.bytes_copied)
    )
}
