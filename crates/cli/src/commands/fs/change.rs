//! Changing files.

use std::ffi::OsString;
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use offshoot_engine::change::{Change, ChangeKind};
use offshoot_engine::file::{CopyOptions, Edited};
use offshoot_engine::import::ImportReport;
use offshoot_engine::reference::Resolver;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_engine::workspace::WorkspaceRecord;
use offshoot_protocol::ExitCode;

use crate::complete;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render;
use crate::render::listing::Listing;

#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// File
    #[arg(add = complete::paths())]
    path: OsString,
    /// Read this file of the host instead of standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Create missing parent directories
    #[arg(short, long)]
    parents: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MkdirArgs {
    /// Directory
    #[arg(add = complete::paths())]
    path: OsString,
    /// Create missing parents; do nothing if it exists
    #[arg(short, long)]
    parents: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CpArgs {
    /// Path to copy
    #[arg(add = complete::paths())]
    from: OsString,
    /// Destination; a directory there receives it
    #[arg(add = complete::paths())]
    to: OsString,
    /// Copy directories with everything in them
    #[arg(short, long)]
    recursive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MvArgs {
    /// Path to move
    #[arg(add = complete::paths())]
    from: OsString,
    /// Destination; a directory there receives it
    #[arg(add = complete::paths())]
    to: OsString,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// Paths to remove
    #[arg(required = true, add = complete::paths())]
    paths: Vec<OsString>,
    /// Remove directories with everything in them
    #[arg(short, long)]
    recursive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RevertArgs {
    /// Paths to restore
    #[arg(required = true, add = complete::paths())]
    paths: Vec<OsString>,
    /// Restore from this REF [default: the base of the workspace]
    #[arg(long, value_name = "REF", add = complete::references())]
    at: Option<String>,
}

/// More changes are only counted.
const MOST_NAMED: usize = 20;

/// Says what an edit did, a move as a move.
pub(super) fn report(
    context: &Context,
    vault: &Vault,
    workspace: &WorkspaceRecord,
    mut edited: Edited,
    import: Option<&ImportReport>,
) -> Result<()> {
    edited.changes = context.engine.with_renames(vault, edited.changes)?;
    let document = wire::edit(&workspace.name, &edited, import.map(wire::import));
    // Somebody named these paths, so nothing is folded.
    let listing = Listing::new(&edited.changes, None)?;
    let is_metadata = |change: &Change| change.kind() == ChangeKind::Metadata;
    let listing = match edited.changes.iter().all(is_metadata) {
        true => listing,
        false => listing.without_metadata(),
    };
    context.output.done(document, |_| match edited.operation {
        None => format!("nothing changed in {}\n", workspace.name),
        Some(_) if listing.single().len() > MOST_NAMED => format!("{}\n", listing.summary()),
        Some(_) => listing.lines("", MOST_NAMED, ""),
    })
}

pub(super) fn write(args: &WriteArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = context.workspace_to_change(vault)?;
    let path = context.typed(vault, &args.path)?;
    let service = context.engine.files(vault);
    let write = |source: &mut dyn Read, name: &Path| {
        service.write(&workspace, &path, source, name, args.parents)
    };
    let edited = match &args.from {
        Some(from) => {
            let mut file = File::open(from).map_err(|error| {
                CliError::new(ExitCode::NotFound, format!("{}: {error}", render::host_path(from)))
            })?;
            write(&mut file, from)?
        }
        None => {
            let mut input = std::io::stdin().lock();
            if input.is_terminal() {
                context.output.note("reading from the terminal; end with Ctrl-D");
                context.output.print_notes();
            }
            write(&mut input, Path::new("standard input"))?
        }
    };
    report(context, vault, &workspace, edited, None)
}

pub(super) fn mkdir(args: &MkdirArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = context.workspace_to_change(vault)?;
    let service = context.engine.files(vault);
    let edited = service.mkdir(&workspace, &context.typed(vault, &args.path)?, args.parents)?;
    report(context, vault, &workspace, edited, None)
}

pub(super) fn cp(args: &CpArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = context.workspace_to_change(vault)?;
    let service = context.engine.files(vault);
    let options = CopyOptions { recursive: args.recursive };
    let (from, to) = (context.typed(vault, &args.from)?, context.typed(vault, &args.to)?);
    let edited = service.copy(&workspace, &from, &to, options)?;
    report(context, vault, &workspace, edited, None)
}

pub(super) fn mv(args: &MvArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = context.workspace_to_change(vault)?;
    let service = context.engine.files(vault);
    let edited = service.rename(
        &workspace,
        &context.typed(vault, &args.from)?,
        &context.typed(vault, &args.to)?,
    )?;
    report(context, vault, &workspace, edited, None)
}

pub(super) fn rm(args: &RmArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = context.workspace_to_change(vault)?;
    let service = context.engine.files(vault);
    let edited =
        service.remove(&workspace, &context.typed_all(vault, &args.paths)?, args.recursive)?;
    report(context, vault, &workspace, edited, None)
}

pub(super) fn revert(args: &RevertArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = context.workspace_to_change(vault)?;
    let base = format!("{}@base", workspace.name);
    let at = args.at.as_deref().unwrap_or(&base);
    let point = Resolver::new(vault).point(at, Some(&workspace))?;
    let service = context.engine.files(vault);
    let edited = service.revert(&workspace, &context.typed_all(vault, &args.paths)?, &point)?;
    report(context, vault, &workspace, edited, None)
}
