//! Looking at files.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;
use offshoot_engine::file::{Body, Entry, EntryKind, VaultPath};
use offshoot_engine::text::Passes;
use offshoot_engine::text::display_bytes;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{EntryDoc, FileDoc, ListDoc};

use crate::complete;
use crate::context::Context;
use crate::error::Result;
use crate::render::{self, DIM, GOOD, NAME, fields, paint, table};

// Where a command that only reads looks.
#[derive(Debug, Args)]
pub(crate) struct AtArgs {
    /// Look at this REF instead of the workspace
    #[arg(long, value_name = "REF", add = complete::references())]
    pub(super) at: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// Directory [default: where you are]
    #[arg(default_value = ".", hide_default_value = true, add = complete::paths())]
    path: OsString,
    /// Show modes, owners, sizes and times
    #[arg(short, long)]
    long: bool,
    #[command(flatten)]
    at: AtArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CatArgs {
    /// Path
    #[arg(add = complete::paths())]
    path: OsString,
    /// Print control characters as they are, also to a terminal
    #[arg(long, conflicts_with = "json")]
    raw: bool,
    #[command(flatten)]
    at: AtArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    /// Directory [default: where you are]
    #[arg(default_value = ".", hide_default_value = true, add = complete::paths())]
    path: OsString,
    /// Show at most this many levels
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    #[command(flatten)]
    at: AtArgs,
}

pub(super) fn ls(args: &LsArgs, context: &Context, vault: &Vault) -> Result<()> {
    let point = context.point(vault, args.at.at.as_deref())?;
    let service = context.engine.files(vault);
    let (path, entries) = service.list(&point.snapshot.root, &context.typed(vault, &args.path)?)?;
    let is_directory = service.stat(&point.snapshot.root, &path)?.directory().is_some();
    let place = |entry: &Entry| if is_directory { path.join(&entry.name) } else { path.clone() };
    let document = ListDoc {
        at: point.label,
        path: wire::path(&path),
        entries: entries.iter().map(|entry| wire::entry(&place(entry), entry)).collect(),
    };
    context.output.data(document, |document| {
        if args.long {
            let rows = entries.iter().zip(&document.entries).map(|(entry, d)| long_row(entry, d));
            return table(LONG, rows.collect());
        }
        entries.iter().map(|entry| format!("{}\n", styled_name(entry))).collect()
    })
}

fn styled_name(entry: &Entry) -> String {
    let name = display_bytes(&entry.name);
    match &entry.body {
        Body::Directory(_) => format!("{}/", paint(NAME, &name)),
        Body::Symlink { target } => format!("{name} -> {}", display_bytes(target)),
        Body::File { .. } if entry.is_executable() => paint(GOOD, &name),
        Body::File { .. } | Body::Fifo => name,
    }
}

/// The columns of a long list.
const LONG: &[&str] = &["MODE", "OWNER", "SIZE", "CHANGED", "NAME"];

fn long_row(entry: &Entry, document: &EntryDoc) -> Vec<String> {
    vec![
        mode_text(entry),
        format!("{}:{}", document.uid, document.gid),
        document.size.to_string(),
        paint(DIM, document.mtime.get(..19).unwrap_or(&document.mtime)),
        styled_name(entry),
    ]
}

/// The mode as `ls -l` shows it.
fn mode_text(entry: &Entry) -> String {
    let mode = entry.meta.mode;
    let kind = match entry.kind() {
        EntryKind::File => '-',
        EntryKind::Directory => 'd',
        EntryKind::Symlink => 'l',
        EntryKind::Fifo => 'p',
    };
    let mut text = String::from(kind);
    for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
        let bits = mode >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push(match (bits & 1 != 0, mode & special != 0) {
            (true, false) => 'x',
            (false, false) => '-',
            (true, true) => letter,
            (false, true) => letter.to_ascii_uppercase(),
        });
    }
    text
}

pub(super) fn cat(args: &CatArgs, context: &Context, vault: &Vault) -> Result<()> {
    let point = context.point(vault, args.at.at.as_deref())?;
    let service = context.engine.files(vault);
    let mut file = service.open(&point.snapshot.root, &context.typed(vault, &args.path)?)?;
    if context.output.is_json() {
        let content = wire::content(vault, file.reader.blob())?;
        let document = FileDoc {
            at: point.label,
            path: wire::path(&file.path),
            size: file.entry.size(),
            checksum: wire::entry(&file.path, &file.entry).checksum.unwrap_or_default(),
            content: &content,
        };
        context.output.data(document, |_| String::new())?;
        return Ok(wire::written(content)?);
    }
    context.output.print_notes();
    let passes = (!args.raw).then_some(Passes::Nothing);
    context
        .output
        .stream(passes, |out| Ok(file.reader.copy_to(out, Path::new("standard output"))?))
}

pub(super) fn tree(args: &TreeArgs, context: &Context, vault: &Vault) -> Result<()> {
    let point = context.point(vault, args.at.at.as_deref())?;
    let tree = vault.tree(&point.snapshot.root)?;
    let (path, top) = tree.resolve(&context.typed(vault, &args.path)?)?;
    let mut found: Vec<(VaultPath, Entry)> = Vec::new();
    if let Some(dir) = top.directory() {
        let deepest = args.depth.map(|depth| path.names().len() + depth);
        tree.walk(&path, dir, &mut |at, entry| {
            if deepest.is_none_or(|deepest| at.names().len() <= deepest) {
                found.push((at.clone(), entry.clone()));
            }
            Ok(())
        })?;
    }
    let document = ListDoc {
        at: point.label,
        path: wire::path(&path),
        entries: found.iter().map(|(at, entry)| wire::entry(at, entry)).collect(),
    };
    context.output.data(document, |_| {
        let mut out = format!("{path}\n");
        for (at, entry) in &found {
            let depth = at.names().len() - path.names().len();
            out.push_str(&format!("{}{}\n", "  ".repeat(depth), styled_name(entry)));
        }
        out
    })
}

pub(super) fn stat(args: &CatArgs, context: &Context, vault: &Vault) -> Result<()> {
    let point = context.point(vault, args.at.at.as_deref())?;
    let path = context.typed(vault, &args.path)?;
    let entry = context.engine.files(vault).stat(&point.snapshot.root, &path)?;
    context.output.data(wire::entry(&path, &entry), |document| {
        let row = |name: &str, value: String| vec![paint(DIM, name), value];
        let mut rows = vec![
            row("path", render::path(&path)),
            row("kind", entry.kind().word().to_owned()),
            row("mode", format!("{} {}", document.mode, mode_text(&entry))),
            row("owner", format!("{}:{}", document.uid, document.gid)),
            row("size", format!("{} ({})", document.size, render::bytes(document.size))),
            row("mtime", document.mtime.clone()),
        ];
        if let Some(checksum) = &document.checksum {
            rows.push(row("checksum", checksum.clone()));
        }
        if let Body::Symlink { target } = &entry.body {
            rows.push(row("target", display_bytes(target)));
        }
        if let Some(entries) = document.entries {
            rows.push(row("entries", entries.to_string()));
        }
        if let Some(group) = &document.link_group {
            rows.push(row("link group", group.clone()));
        }
        for (name, value) in &entry.meta.xattrs {
            rows.push(row(
                "attribute",
                format!("{} = {}", display_bytes(name), display_bytes(value)),
            ));
        }
        fields(&rows)
    })
}
