//! `offshoot vault compact`, by hand and after a command.

use std::process::{Command, Stdio};

use clap::Args;
use offshoot_protocol::{CompactDoc, CompactedDoc, ExitCode};
use offshoot_vault::Id;
use offshoot_workspace::{CompactScope, CompactionService, Resolver, ServiceError, wire};

use crate::complete;
use crate::context::{Context, OpenVault};
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
        withdraw();
    }
    let opened = super::open(context, args.name.as_ref())?;
    let workspace = context.workspace_name();
    let workspace =
        workspace.map(|name| Resolver::new(&opened.vault).workspace(name)).transpose()?;
    if args.detach {
        let name = workspace.as_ref().map(|workspace| workspace.name.as_str());
        start(context, &opened, name, args.all).map_err(|error| {
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
    let depth = if args.all { FEWEST } else { context.settings.config.compact.depth.into() };
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

/// Merges the layers of a workspace in the background, where a command has left too many.
pub(crate) fn after_command(context: &Context, opened: &OpenVault, workspace: &Id) {
    let settings = &context.settings.config.compact;
    let service = CompactionService::new(&opened.vault);
    if settings.auto && service.is_due(workspace, settings.depth.into()).unwrap_or(false) {
        // The command is done and was answered; the next one tries again.
        drop(start(context, opened, Some(&workspace.to_string()), false));
    }
}

/// Starts this program again, apart from whoever waits for this one.
fn start(
    context: &Context,
    opened: &OpenVault,
    workspace: Option<&str>,
    all: bool,
) -> std::io::Result<()> {
    let config = &context.settings.config;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["vault", "compact", "--background", "--quiet"]).arg(&opened.name);
    // It works in no folder, so what a project's file says is passed on.
    command.arg("-c").arg(format!("compact.depth={}", config.compact.depth));
    let patience = config.store.busy_timeout.as_millis();
    command.arg("-c").arg(format!("store.busy_timeout={patience}ms"));
    command.arg("--home").arg(context.home.dir());
    command.args(all.then_some("--all"));
    command.env_remove("OFFSHOOT_VAULT").env_remove("OFFSHOOT_WORKSPACE");
    command.args(workspace.iter().flat_map(|name| ["--workspace", name]));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.current_dir("/").spawn().map(drop)
}

/// Makes this process one of the background: no terminal ends it, and everybody else goes first.
fn withdraw() {
    // A leader of a group has a session of its own already, or was started by hand from a shell.
    let _leader = rustix::process::setsid().is_err();
    offshoot_sandbox::give_way();
}
