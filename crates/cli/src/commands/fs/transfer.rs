//! Between the vault and the host.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{ExportDoc, Text};

use super::change::report;
use super::read::AtArgs;
use crate::complete;
use crate::context::Context;
use crate::error::Result;
use crate::render;

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// File or folder of the host
    source: PathBuf,
    /// Destination in the workspace
    #[arg(add = complete::paths())]
    path: OsString,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Path to copy out
    #[arg(add = complete::paths())]
    path: OsString,
    /// Destination on the host; must not exist, or be an empty folder
    destination: PathBuf,
    #[command(flatten)]
    at: AtArgs,
}

pub(super) fn import(args: &ImportArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = context.workspace_to_change(vault)?;
    let path = context.typed(vault, &args.path)?;
    let (edited, imported) = context.engine.import_files(vault, &workspace, &args.source, &path)?;
    report(context, vault, &workspace, edited, Some(&imported))
}

pub(super) fn export(args: &ExportArgs, context: &Context, vault: &Vault) -> Result<()> {
    let point = context.point(vault, args.at.at.as_deref())?;
    let path = context.typed(vault, &args.path)?;
    let (root, engine) = (&point.snapshot.root, &context.engine);
    let entry = engine.export_files(vault, root, &path, &args.destination)?;
    let (entries, bytes) =
        entry.directory().map_or((1, entry.size()), |dir| (dir.entries, dir.bytes));
    let document = ExportDoc {
        at: point.label,
        path: wire::path(&path),
        destination: Text::new(args.destination.as_os_str().as_encoded_bytes()),
        entries,
        bytes,
    };
    context.output.done(document, |_| {
        let (what, size) = (render::count(entries, "entry"), render::bytes(bytes));
        format!("{path} written to {}: {what}, {size}\n", render::host_path(&args.destination))
    })
}
