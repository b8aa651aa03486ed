//! `offshoot cache`: package caches that outlive commands.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use offshoot_engine::cache::{CacheInfo, CacheService};
use offshoot_engine::wire;
use offshoot_protocol::{CacheClearDoc, CacheDoc, CacheListDoc};

use crate::complete;
use crate::context::{Context, OpenVault};
use crate::error::Result;
use crate::render::{self, DIM, NAME, paint, table};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum CacheCommand {
    /// List package caches and their sizes
    #[command(
        after_help = "Examples:\n  offshoot cache list\n  offshoot cache list --vault demo --json\n\nDownloads of cargo, npm, pip, go and others are kept for later commands of the vault. Caches\nof the host are read, never written."
    )]
    List,
    /// Clear package caches; tools download again what they need
    #[command(
        after_help = "Examples:\n  offshoot cache clear                all of them\n  offshoot cache clear npm\n  offshoot cache clear cargo go-build\n\nA cache that a running command uses is not cleared. Caches of the host stay as they are."
    )]
    Clear(ClearArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ClearArgs {
    /// Names from `cache list`, or of tools such as cargo [default: all]
    #[arg(value_name = "NAME", add = complete::caches())]
    names: Vec<String>,
}

pub(crate) fn run(command: &CacheCommand, context: &Context) -> Result<()> {
    let OpenVault { vault, name } = context.vault()?;
    let service = CacheService::new(&vault);
    match command {
        CacheCommand::List => list(context, name, &service.list()?),
        CacheCommand::Clear(args) => {
            let cleared = service.clear(&args.names, context.engine.actor())?;
            clear(context, name, &cleared)
        }
    }
}

fn list(context: &Context, vault: String, found: &[CacheInfo]) -> Result<()> {
    let document = CacheListDoc {
        vault,
        caches: found.iter().map(document).collect(),
        total_bytes: total(found),
        max_bytes: context.config().cache.max_size,
    };
    context.output.data(document, |document| {
        if document.caches.is_empty() {
            return format!("vault {} has no package caches\n", paint(NAME, &document.vault));
        }
        let rows = found.iter().map(|info| {
            let used = info.used.map(|used| render::time(millis(used))).unwrap_or_default();
            vec![paint(NAME, &info.name), render::bytes(info.bytes), paint(DIM, &used)]
        });
        let total = render::bytes(document.total_bytes);
        let max = render::bytes(document.max_bytes);
        format!("{}{total} of {max}\n", table(&["CACHE", "SIZE", "LAST USED"], rows.collect()))
    })
}

fn clear(context: &Context, vault: String, cleared: &[CacheInfo]) -> Result<()> {
    let document = CacheClearDoc {
        vault,
        cleared: cleared.iter().map(document).collect(),
        freed_bytes: total(cleared),
    };
    context.output.data(document, |document| {
        let names = document.cleared.iter().map(|cache| cache.name.as_str());
        match names.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => "nothing to clear\n".to_owned(),
            names => format!("cleared {names}: {}\n", render::bytes(document.freed_bytes)),
        }
    })
}

fn document(info: &CacheInfo) -> CacheDoc {
    let used = info.used.map(|used| wire::time(millis(used)));
    CacheDoc { name: info.name.clone(), bytes: info.bytes, used }
}

fn total(caches: &[CacheInfo]) -> u64 {
    caches.iter().map(|info| info.bytes).sum()
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
