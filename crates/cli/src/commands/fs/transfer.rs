//! Between the vault and the host.

use offshoot_engine::file::ExportOptions;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{ExportDoc, Text};

use super::change::report;
use super::{ExportArgs, ImportArgs};
use crate::context::Context;
use crate::error::Result;
use crate::render;

pub(super) fn import(args: &ImportArgs, context: &Context, vault: &Vault) -> Result<()> {
    let workspace = context.workspace_to_change(vault)?;
    let options = context.engine.import_options();
    let service = context.engine.files(vault);
    let path = context.typed(vault, &args.path)?;
    let (edited, imported) = service.import(&workspace, &args.source, &path, &options)?;
    drop(options);
    context.engine.tell_skipped(&imported);
    report(context, vault, &workspace, edited, Some(&imported))
}

pub(super) fn export(args: &ExportArgs, context: &Context, vault: &Vault) -> Result<()> {
    let point = context.point(vault, args.at.at.as_deref())?;
    let path = context.typed(vault, &args.path)?;
    let options = ExportOptions {
        // Only root can give files away; for others everything is their own.
        owners: rustix::process::geteuid().is_root(),
        threads: context.config().import.threads.into(),
    };
    let service = context.engine.files(vault);
    let entry = service.export(&point.snapshot.root, &path, &args.destination, &options)?;
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
