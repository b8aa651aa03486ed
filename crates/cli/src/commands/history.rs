//! `offshoot history`: the versions of a file.

use std::ffi::OsString;

use clap::Args;
use offshoot_engine::wire;
use offshoot_protocol::HistoryDoc;

use crate::complete;
use crate::context::Context;
use crate::error::Result;
use crate::render::{self, BAD, DIM, paint, table};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot history /src/main.rs -w fix\n  offshoot fs cat /src/main.rs --at 01k9x2m4      read one of them\n  offshoot diff 01k9x2m4 fix -- /src/main.rs     compare\n  offshoot fs revert /src/main.rs --at 01k9x2m4 -w fix"
)]
pub(crate) struct HistoryArgs {
    /// File
    #[arg(add = complete::paths())]
    path: OsString,
    /// Start from this REF [default: the workspace]
    #[arg(long, value_name = "REF", add = complete::references())]
    at: Option<String>,
}

pub(crate) fn run(args: &HistoryArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let path = context.typed(vault, &args.path)?;
    let point = context.point(vault, args.at.as_deref())?;
    let versions = context.engine.files(vault).history(&point.snapshot, &path)?;
    let document = HistoryDoc {
        path: wire::path(&path),
        of: point.label,
        versions: versions.iter().map(|version| wire::version(&path, version)).collect(),
    };
    context.output.data(document, |document| {
        let rows = versions.iter().zip(&document.versions).map(|(version, document)| {
            let snapshot = &version.snapshot;
            let what = match &document.entry {
                Some(entry) => {
                    let checksum = entry.checksum.as_deref().map_or("", |sum| &sum[..12]);
                    format!("{} {checksum}", render::bytes(entry.size))
                }
                None => paint(BAD, "deleted"),
            };
            vec![
                render::short(&snapshot.id),
                paint(DIM, &render::time(snapshot.time_ms)),
                render::line(&snapshot.reason),
                render::line(&snapshot.actor.user),
                what,
            ]
        });
        table(&["SNAPSHOT", "TIME", "REASON", "BY", "CONTENT"], rows.collect())
    })
}
