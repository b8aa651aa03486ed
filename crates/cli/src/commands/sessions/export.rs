//! `offshoot sessions export`: a session as lines of JSON, or as a page for people.

use std::fs;
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use clap::Args;
use offshoot_coder::to_markdown;
use offshoot_engine::text::Passes;
use offshoot_engine::vault::Vault;
use offshoot_protocol::{ExitCode, SessionExportDoc, Text};

use super::which::{NameArgs, find, records};
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render::{self, host_path};

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    which: NameArgs,
    /// File, which must not exist yet; - is standard output [default: -]
    file: Option<PathBuf>,
    /// Write the conversation as Markdown, for people; it cannot be read back
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(args: &ExportArgs, context: &Context, vault: &Vault) -> Result<()> {
    let session = find(&args.which, context, vault)?;
    let page = match args.markdown {
        true => Some(to_markdown(&records(&session, vault)?)),
        false => None,
    };
    let write = |out: &mut dyn Write| match &page {
        Some(page) => {
            out.write_all(page.as_bytes()).map_err(|error| {
                CliError::new(ExitCode::Storage, format!("cannot write the session: {error}"))
            })?;
            Ok(session.head.events)
        }
        None => Ok(context.engine.sessions(vault).export(&session, out)?),
    };
    let Some(path) = args.file.as_ref().filter(|path| path.as_os_str() != "-") else {
        return context.output.stream(page.is_some().then_some(Passes::Nothing), |out| {
            write(out)?;
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
    let mut out = BufWriter::new(file);
    let events = write(&mut out).inspect_err(|_: &CliError| {
        // The first error is the one to report.
        drop(fs::remove_file(path));
    })?;
    out.flush().and_then(|()| out.get_ref().sync_all()).map_err(failed)?;
    let file = Text::new(path.as_os_str().as_bytes());
    let document = SessionExportDoc { id: session.record.id.to_string(), file, events };
    context.output.done(document, |document| {
        format!("{} in {}\n", render::count(document.events, "event"), host_path(path))
    })
}
