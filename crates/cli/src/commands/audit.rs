//! `offshoot audit`: the audit log, and whether it is what was recorded.

mod log;
mod prune;
mod verify;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use offshoot_engine::wire;
use offshoot_protocol::{AuditExportDoc, AuditKeyDoc, AuditRotateDoc, ExitCode, Hint, Text};

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render::{self, host_path};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum AuditCommand {
    /// List events, oldest first
    #[command(
        after_help = "Examples:\n  offshoot audit log\n  offshoot audit log -w fix --since 2h\n  offshoot audit log --path /src --agent claude -n 100\n  offshoot audit log --exec 01k9x2m4\n  offshoot audit log --kind commit --user me --until 2026-02-01\n  offshoot audit log --session s1 --json     a document a line\n  offshoot audit log --follow"
    )]
    Log(log::LogArgs),
    /// Check that the log is what was recorded
    #[command(
        after_help = "Examples:\n  offshoot audit verify\n  offshoot audit verify --head 812:5f3a...      an end that you noted\n  offshoot audit verify audit.jsonl --key 9c01...   an export, without its vault\n\nExits with 0 if nothing was altered, dropped, added or moved. Without --key, a vault is checked\nwith the key of this machine, and a file with the keys that it names itself."
    )]
    Verify(verify::VerifyArgs),
    /// Write the log to a file that can be verified elsewhere
    #[command(
        after_help = "Examples:\n  offshoot audit export audit.jsonl\n  offshoot audit export > audit.jsonl"
    )]
    Export(ExportArgs),
    /// Print how far the log goes, to keep elsewhere
    #[command(
        after_help = "Examples:\n  offshoot audit head\n  offshoot audit head --json\n\nWhoever keeps it can tell later that nothing before was changed and that the end is not missing:\noffshoot audit verify --head SEQ:CHAIN"
    )]
    Head,
    /// Print the public key that signs for the log
    #[command(after_help = "Examples:\n  offshoot audit key\n  offshoot audit key --json")]
    Key,
    /// Have a new key sign from now on
    #[command(
        after_help = "Examples:\n  offshoot audit rotate\n\nThe old key signs for the new one, so whoever trusts the old one can still verify."
    )]
    Rotate,
    /// Remove old events; this cannot be undone
    #[command(
        after_help = "Examples:\n  offshoot audit prune --before 2026-01-01\n  offshoot audit prune --before 90d --yes\n\nExport them first if you may need them. The log records that they\nwere removed, and verifying starts there."
    )]
    Prune(prune::PruneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// File, which must not exist yet; - is standard output [default: -]
    file: Option<PathBuf>,
}

pub(crate) fn run(command: &AuditCommand, context: &Context) -> Result<()> {
    match command {
        AuditCommand::Log(args) => log::run(args, context),
        AuditCommand::Verify(args) => verify::run(args, context),
        AuditCommand::Export(args) => export(args, context),
        AuditCommand::Head => head(context),
        AuditCommand::Key => key(context),
        AuditCommand::Rotate => rotate(context),
        AuditCommand::Prune(args) => prune::run(args, context),
    }
}

fn export(args: &ExportArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let Some(path) = args.file.as_ref().filter(|path| path.as_os_str() != "-") else {
        return context.output.stream(None, |out| {
            context.engine.export_audit(vault, out)?;
            Ok(())
        });
    };
    let failed = |error: std::io::Error| {
        let code = match error.kind() {
            std::io::ErrorKind::AlreadyExists => ExitCode::Conflict,
            _ => ExitCode::Storage,
        };
        CliError::new(code, format!("cannot write {}: {error}", host_path(path)))
    };
    // Nobody else may read what only the owner of the vault can.
    let mut options = fs::File::options();
    let file = options.write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    let mut out = std::io::BufWriter::new(file);
    let exported = context.engine.export_audit(vault, &mut out).inspect_err(|_| {
        // The first error is the one to report.
        drop(fs::remove_file(path));
    })?;
    out.flush().and_then(|()| out.get_ref().sync_all()).map_err(failed)?;
    let document = AuditExportDoc {
        file: Text::new(path.as_os_str().as_bytes()),
        events: exported.events,
        head: exported.head.to_string(),
    };
    context.output.done(document, |document| {
        let events = render::count(document.events, "event");
        format!("{events} in {}\nhead {}\n", host_path(path), document.head)
    })
}

fn head(context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let (head, signed) = context.engine.audit(vault).durable_head()?;
    context.output.data(wire::audit_head(&head, signed.as_ref()), |head| format!("{}\n", head.head))
}

fn key(context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let Some(key) = vault.audit_key()? else {
        let text = "no key of this machine has signed for this vault yet";
        return Err(CliError::new(ExitCode::NotFound, text).hint(
            Hint::from("the next change makes one; ")
                .then("offshoot audit rotate")
                .text(" makes one now"),
        ));
    };
    let document = AuditKeyDoc { vault: vault.id().to_string(), key: key.to_string() };
    context.output.data(document, |document| format!("{}\n", document.key))
}

fn rotate(context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let former = vault.audit_key()?;
    let key = vault.rotate_audit_key(context.engine.actor())?;
    let document =
        AuditRotateDoc { key: key.to_string(), former: former.map(|key| key.to_string()) };
    context.output.done(document, |document| format!("key {}\n", document.key))
}

/// Opens a file to read; `-` is standard input.
fn open(path: &Path) -> Result<Box<dyn Read>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin()));
    }
    let file = fs::File::open(path).map_err(|error| {
        CliError::new(ExitCode::NotFound, format!("cannot open {}: {error}", host_path(path)))
    })?;
    Ok(Box::new(file))
}
