//! `offshoot gc`: taking away what nothing needs, and packing what is needed.

use clap::Args;
use offshoot_engine::gc::{GcOptions, GcReport, kept};
use offshoot_engine::settings::{parse_duration, parse_size};
use offshoot_engine::wire;
use offshoot_protocol::{GcDoc, PackDoc};

use crate::complete;
use crate::context::{Context, OpenVault};
use crate::error::{CliError, Result};
use crate::interrupt::{self, Watch};
use crate::progress::Patience;
use crate::render::{self, DIM, NAME, paint, table};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot gc --dry-run\n  offshoot gc\n  offshoot gc --keep-operations 10 --keep-age 0s\n  offshoot vault gc demo --max-size 20GiB\n\nWorkspaces, checkpoints, the main line and running commands keep their data. Recent operations\nstay undoable; older ones, and the automatic checkpoints that they made, do not. The operation\nlog itself is never cut."
)]
pub(crate) struct GcArgs {
    /// Vault [default: the one of the current folder]
    #[arg(add = complete::vaults())]
    name: Option<String>,
    /// Show what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Keep this many operations undoable [default: gc.keep_operations]
    #[arg(long, value_name = "COUNT")]
    keep_operations: Option<u64>,
    /// Keep operations undoable that are younger than this, such as 30d [default: gc.keep_age]
    #[arg(long, value_name = "TIME")]
    keep_age: Option<String>,
    /// Give up the oldest operations until content takes less than this [default: gc.max_size]
    #[arg(long, value_name = "SIZE")]
    max_size: Option<String>,
    /// Do not move content to packs
    #[arg(long)]
    no_pack: bool,
}

pub(crate) fn run(args: &GcArgs, context: &Context) -> Result<()> {
    let options = options(args, context)?;
    let OpenVault { vault, name } = context.vault_or_named(args.name.as_deref())?;
    let patience =
        Patience::new(context.config().ui.progress, context.is_silent(), "collecting garbage");
    let state =
        if args.dry_run { interrupt::NOTHING } else { "`offshoot gc` continues where it stopped" };
    let _watch = Watch::start(context, state)?;
    let report = context.engine.collect(&vault, &options)?;
    drop(patience);
    let document = document(name, args.dry_run, &report);
    context.output.data(document, text)
}

fn options(args: &GcArgs, context: &Context) -> Result<GcOptions> {
    let settings = kept(context.config());
    let keep_age = match &args.keep_age {
        Some(text) => parse_duration(text)
            .ok_or_else(|| wrong("--keep-age", text, "a duration with its unit such as 30d"))?,
        None => settings.keep_age,
    };
    let max_size = match &args.max_size {
        Some(text) => {
            let size = parse_size(text);
            let size = size.ok_or_else(|| wrong("--max-size", text, "a size such as 20GiB"))?;
            (size > 0).then_some(size)
        }
        None => settings.max_size,
    };
    Ok(GcOptions {
        keep_operations: args.keep_operations.unwrap_or(settings.keep_operations),
        keep_age,
        max_size,
        dry_run: args.dry_run,
        pack: !args.no_pack,
    })
}

fn wrong(option: &str, text: &str, expected: &str) -> CliError {
    CliError::usage(format!("{option}: {} is not {expected}", render::line(text)))
}

fn document(vault: String, dry_run: bool, report: &GcReport) -> GcDoc {
    GcDoc {
        vault,
        dry_run,
        kept_operations: report.kept_operations,
        given_up_operations: report.given_up,
        taken: wire::taken(report),
        taken_bytes: report.freed(),
        packed: report.packed.count,
        packed_bytes: report.packed.bytes,
        bytes_before: report.bytes_before,
        bytes_after: report.bytes_after,
        longest_pause_us: u64::try_from(report.longest_pause.as_micros()).unwrap_or(u64::MAX),
    }
}

fn text(document: &GcDoc) -> String {
    let (would, name) =
        (if document.dry_run { "would delete" } else { "deleted" }, &document.vault);
    if document.taken.is_empty() && document.packed == 0 {
        return format!("vault {}: there is no garbage\n", paint(NAME, name));
    }
    let rows: Vec<Vec<String>> = document
        .taken
        .iter()
        .map(|taken| {
            let (count, bytes) = (taken.count.to_string(), render::bytes(taken.bytes));
            vec![paint(DIM, taken.kind.as_str()), count, bytes]
        })
        .collect();
    let mut out = format!(
        "vault {}: {would} {}\n{}",
        paint(NAME, name),
        render::bytes(document.taken_bytes),
        table(&["KIND", "COUNT", "SIZE"], rows)
    );
    if document.packed > 0 {
        let moved = if document.dry_run { "would move" } else { "moved" };
        let (what, bytes) =
            (render::count(document.packed, "content"), render::bytes(document.packed_bytes));
        out.push_str(&format!("{moved} {what} ({bytes}) to packs\n"));
    }
    if document.given_up_operations > 0 {
        let given_up = render::count(document.given_up_operations, "operation");
        out.push_str(&format!("{given_up} can no longer be undone, because of the size limit\n"));
    }
    if !document.dry_run {
        out.push_str(&format!(
            "on disk: {}, before {}; others waited {:.1} ms at most\n",
            render::bytes(document.bytes_after),
            render::bytes(document.bytes_before),
            document.longest_pause_us as f64 / 1000.0
        ));
    }
    out
}

/// Moves all content to packs.
pub(crate) fn pack(name: Option<&str>, context: &Context) -> Result<()> {
    let OpenVault { vault, name } = context.vault_or_named(name)?;
    let patience = Patience::new(context.config().ui.progress, context.is_silent(), "packing");
    let report = vault.pack(context.actor())?;
    drop(patience);
    let document = PackDoc {
        vault: name,
        packed: report.packed.count,
        packed_bytes: report.packed.bytes,
        packs: report.packs.count,
        packs_bytes: report.packs.bytes,
    };
    context.output.data(document, |document| {
        format!(
            "vault {}: moved {} ({}) to packs; {} in {} now\n",
            paint(NAME, &document.vault),
            render::count(document.packed, "content"),
            render::bytes(document.packed_bytes),
            render::bytes(document.packs_bytes),
            render::count(document.packs, "pack"),
        )
    })
}
