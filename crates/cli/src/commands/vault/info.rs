//! `offshoot vault info`: what a vault is, what it takes on disk and what for.

use clap::Args;
use offshoot_engine::gc::{GcDue, GcOptions};
use offshoot_engine::id::Id;
use offshoot_engine::vault::Vault;
use offshoot_engine::{gc, wire};
use offshoot_protocol::{CollectionDoc, StorageClass, StorageDoc, VaultInfoDoc};

use super::document::vault_doc;
use crate::context::{Context, OpenVault};
use crate::error::Result;
use crate::render::{self, DIM, NAME, fields, paint};

pub(super) const AFTER_HELP: &str = "\
Examples:
  offshoot vault info
  offshoot vault info demo --exact

Without --exact, sizes are those on record: bytes of files, not of disk blocks.";

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Vault [default: the one of the current folder]
    name: Option<String>,
    /// Measure every file, and show how much is garbage
    #[arg(long)]
    exact: bool,
}

pub(super) fn run(args: &InfoArgs, context: &Context) -> Result<()> {
    let OpenVault { vault, name } = context.vault_or_named(args.name.as_deref())?;
    let head = vault.head()?;
    let figures = vault.figures()?;
    let top = vault.objects()?.root(&head.root)?;
    let (files_bytes, entries) = top.directory().map_or((0, 0), |dir| (dir.bytes, dir.entries));
    let config = &context.config();
    let due = vault.gc_due(&gc::schedule(config))?;
    let usage = vault.storage_usage(due.last.as_ref())?;
    let garbage_bytes = args.exact.then(|| garbage(&vault, context)).transpose()?;
    let document = VaultInfoDoc {
        vault: vault_doc(&name, &vault)?,
        head: wire::snapshot(&head),
        files_bytes,
        entries,
        workspaces: vault.workspaces()?.len() as u64,
        checkpoints: vault.checkpoints()?.len() as u64,
        operations: figures.operations,
        catalog_bytes: usage.catalog,
        layers_bytes: figures.layers_bytes,
        layers: figures.layers,
        packs_bytes: figures.packs_bytes,
        packs: figures.packs,
        read_only: vault.is_read_only(),
        storage: wire::storage(&usage),
        disk_bytes: args.exact.then(|| vault.disk_bytes()),
        garbage_bytes,
        collection: collection(&due, config.gc.auto),
    };
    context.output.data(document, |document| {
        let bindings: Vec<String> = document.vault.bindings.iter().map(render::text).collect();
        let row = |name: &str, value: String| vec![paint(DIM, name), value];
        let mut rows = vec![
            row("vault", paint(NAME, &document.vault.name)),
            row("id", document.vault.id.clone()),
            row("directory", render::text(&document.vault.directory)),
            row("bound to", if bindings.is_empty() { "-".to_owned() } else { bindings.join(", ") }),
            row(
                "head",
                format!(
                    "{} ({}, {})",
                    render::short(&head.id),
                    head.reason,
                    render::time(head.time_ms)
                ),
            ),
            row(
                "files",
                format!(
                    "{}, {}",
                    render::count(document.entries, "entry"),
                    render::bytes(document.files_bytes)
                ),
            ),
            row("workspaces", document.workspaces.to_string()),
            row("checkpoints", document.checkpoints.to_string()),
            row("operations", operations(document)),
            row(
                "on disk",
                format!(
                    "{} catalog, {} in {}, {} in {}",
                    render::bytes(document.catalog_bytes),
                    render::bytes(document.layers_bytes),
                    render::count(document.layers, "layer"),
                    render::bytes(document.packs_bytes),
                    render::count(document.packs, "pack")
                ),
            ),
        ];
        let used = document.storage.iter().filter(|storage| storage.bytes > 0);
        rows.extend(used.filter_map(purpose).map(|text| row("", text)));
        if let Some(bytes) = document.disk_bytes {
            rows.push(row("", format!("{} in blocks, all together", render::bytes(bytes))));
        }
        if let Some(bytes) = document.garbage_bytes {
            rows.push(row("", format!("{} would be collected now", render::bytes(bytes))));
        }
        rows.push(row("last collection", last(&document.collection)));
        rows.push(row("next collection", next(&document.collection)));
        fields(&rows)
    })
}

fn collection(due: &GcDue, auto: bool) -> CollectionDoc {
    let last = due.last.as_ref();
    CollectionDoc {
        auto,
        last_ms: last.map(|last| last.time_ms),
        freed_bytes: last.map(|last| last.freed_bytes),
        undoable_operations: last.map_or(0, |last| last.kept_operations) + due.operations,
        oldest_ms: last.and_then(|last| last.oldest_ms),
        operations_since: due.operations,
        layers_since: due.layers,
        bytes_since: due.bytes,
        due_operations: due.due_operations,
        due_bytes: due.due_bytes,
        due_ms: due.due_ms,
        is_due: due.is_due(Id::random().time_ms()),
    }
}

/// What a collection would take.
fn garbage(vault: &Vault, context: &Context) -> Result<u64> {
    let options = GcOptions { dry_run: true, ..gc::kept(context.config()) };
    Ok(vault.collect(&options, context.actor())?.freed())
}

/// What something is there for; the catalog says so itself.
fn purpose(storage: &StorageDoc) -> Option<String> {
    let bytes = render::bytes(storage.bytes);
    let layers = || render::count(storage.count, "layer");
    Some(match storage.kind {
        StorageClass::Base => format!("{bytes} in {} for the main line", layers()),
        StorageClass::Workspaces => format!("{bytes} in {} for workspaces", layers()),
        StorageClass::History => format!("{bytes} in {} for undo and checkpoints", layers()),
        StorageClass::Uncollected => {
            format!("{bytes} in {} superseded, not collected yet", layers())
        }
        StorageClass::Packs => {
            format!("{bytes} in {} for content of any age", render::count(storage.count, "pack"))
        }
        StorageClass::Caches => format!("{bytes} for caches"),
        StorageClass::Leftovers => {
            format!("{bytes} left by {}", render::count(storage.count, "interrupted command"))
        }
        StorageClass::Reserve => format!("{bytes} kept to free space on a full disk"),
        StorageClass::Catalog => return None,
    })
}

fn operations(document: &VaultInfoDoc) -> String {
    let (all, collection) = (document.operations, &document.collection);
    let undoable = collection.undoable_operations.min(all);
    match collection.oldest_ms.filter(|_| undoable < all) {
        Some(oldest) => {
            format!("{all}; the last {undoable} are kept for undo, since {}", render::time(oldest))
        }
        None => format!("{all}, all kept for undo"),
    }
}

fn last(collection: &CollectionDoc) -> String {
    match (collection.last_ms, collection.freed_bytes) {
        (Some(time), Some(bytes)) => {
            format!("{}, freed {}", render::time(time), render::bytes(bytes))
        }
        _ => "none yet".to_owned(),
    }
}

fn next(collection: &CollectionDoc) -> String {
    if !collection.auto {
        return "when `offshoot gc` is run: gc.auto is off".to_owned();
    }
    if collection.is_due {
        return "due after the next command".to_owned();
    }
    let left = collection.due_operations.saturating_sub(collection.operations_since);
    let bytes = collection.due_bytes.saturating_sub(collection.bytes_since);
    let mut text =
        format!("after {} or {} more", render::count(left, "operation"), render::bytes(bytes));
    if let Some(time) = collection.due_ms {
        text.push_str(&format!(", or after {}", render::time(time)));
    }
    text
}
