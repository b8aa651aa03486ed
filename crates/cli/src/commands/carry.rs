//! `offshoot vault export` and `import`: a vault as one file.

use std::path::PathBuf;

use clap::Args;
use offshoot_engine::settings::parse_size;
use offshoot_engine::vault::ArchiveOptions;
use offshoot_protocol::{Hint, Text, VaultExportDoc, VaultImportDoc};

use super::vault::document::vault_doc;
use crate::context::{Context, OpenVault};
use crate::error::{CliError, Result};
use crate::invocation::next;
use crate::progress::Patience;
use crate::render::{self, NAME, line, paint, text};

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// File to write; it must not exist
    file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// File to read
    file: PathBuf,
    /// Name of the new vault [default: its old one]
    #[arg(long)]
    name: Option<String>,
    /// Refuse a vault whose files come to more than this [default: 100 times the file, at least 1GiB]
    #[arg(long, value_name = "SIZE")]
    max_size: Option<String>,
}

pub(crate) fn export(args: &ExportArgs, context: &Context) -> Result<()> {
    refuse_stream(&args.file, "write")?;
    let OpenVault { vault, name } = context.vault()?;
    let patience = Patience::new(context.config().ui.progress, context.is_silent(), "exporting");
    let archived = vault.export_archive(&args.file, &name)?;
    drop(patience);
    let document = VaultExportDoc {
        vault: name,
        file: Text::new(args.file.as_os_str().as_encoded_bytes()),
        bytes: archived.bytes,
        snapshots: archived.snapshots,
        contents: archived.contents,
        contents_bytes: archived.contents_bytes,
        operations: archived.operations,
    };
    context.output.done(document, |document| {
        format!(
            "vault {} written to {}: {}, {} ({}), {}; {}\n",
            paint(NAME, &document.vault),
            render::host_path(&args.file),
            render::count(document.snapshots, "snapshot"),
            render::count(document.contents, "content"),
            render::bytes(document.contents_bytes),
            render::count(document.operations, "operation"),
            render::bytes(document.bytes),
        )
    })
}

pub(crate) fn import(args: &ImportArgs, context: &Context) -> Result<()> {
    refuse_stream(&args.file, "read")?;
    let max_size = args.max_size.as_deref().map(|text| {
        let size = parse_size(text);
        size.ok_or_else(|| CliError::usage(format!("\"{}\" is not a size", line(text))))
    });
    let (name, max_size) = (args.name.as_deref(), max_size.transpose()?);
    let options = ArchiveOptions { name, max_size, ..ArchiveOptions::default() };
    let patience = Patience::new(context.config().ui.progress, context.is_silent(), "importing");
    let imported = context.engine.import_vault(&args.file, &options)?;
    drop(patience);
    let report = &imported.report;
    let document = VaultImportDoc {
        vault: vault_doc(&imported.name, &imported.vault)?,
        snapshots: report.snapshots,
        contents: report.blobs,
        contents_bytes: report.bytes,
        operations: report.operations,
        audit_events: report.audit_events,
        was_bound: imported.was_bound.iter().map(|binding| Text::new(&binding.path)).collect(),
    };
    context.output.done(document, |document| {
        let bound = document.was_bound.first().map_or_else(String::new, |folder| {
            let vault = &document.vault.name;
            let next = next(Hint::command("offshoot binding move / DIR --vault").arg(vault));
            format!("not bound to a folder (it was bound to {}); {next} binds it\n", text(folder))
        });
        format!(
            "vault {} imported: {}, {} ({}), {}\n{bound}",
            paint(NAME, &document.vault.name),
            render::count(document.snapshots, "snapshot"),
            render::count(document.contents, "content"),
            render::bytes(document.contents_bytes),
            render::count(document.operations, "operation"),
        )
    })
}

fn refuse_stream(file: &std::path::Path, verb: &str) -> Result<()> {
    if file.as_os_str() == "-" {
        return Err(CliError::usage(format!("cannot {verb} a vault as a stream"))
            .hint("name a file; it is a database that needs to be read from everywhere at once"));
    }
    Ok(())
}
