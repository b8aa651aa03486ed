//! `offshoot conflicts`: what a merge left to be decided.

use std::ffi::OsString;

use clap::Args;
use offshoot_engine::change::{BinaryForm, Change, ChangeSummaryService};
use offshoot_engine::conflict::{OpenConflict, RecordedSide};
use offshoot_engine::file::{Body, Entry, EntryKind, VaultPath};
use offshoot_engine::reference::Point;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{ConflictDoc, ConflictListDoc, ExitCode, Goal, Text, WayOnDoc};

use crate::complete;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::invocation::next_in;
use crate::render::{self, BAD, BOLD, DIM, NAME, paint};

const EXAMPLES: &str = "\
Examples:
  offshoot conflicts                          list those of the most recent workspace
  offshoot conflicts -w fix /src              at a path and below
  offshoot conflicts /a.txt --side other      the bytes that one side has; also a number, or `base`
  offshoot conflicts /a.txt --diff            what each side changed, as patches

To resolve a text, edit the file and remove its conflict markers. `offshoot resolve` resolves all
other conflicts, or delete the path.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConflictsArgs {
    /// Paths to look at, with all below them
    #[arg(value_name = "PATH", add = complete::paths())]
    paths: Vec<OsString>,
    /// Print one side of a conflict: its label, its number, or `base`
    #[arg(long, value_name = "SIDE")]
    side: Option<String>,
    /// Show what each side changed, as patches
    #[arg(long, conflicts_with = "side")]
    diff: bool,
    /// Look at this REF instead of the workspace
    #[arg(long, value_name = "REF", add = complete::references())]
    at: Option<String>,
}

pub(crate) fn run(args: &ConflictsArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let point = context.point(vault, args.at.as_deref())?;
    let paths = context.typed_all(vault, &args.paths)?;
    let service = context.engine.conflicts(vault);
    if let Some(side) = &args.side {
        let [path] = paths.as_slice() else {
            return Err(CliError::usage("--side needs the path of one conflict"));
        };
        return show(context, vault, &point, path, side);
    }
    let found = service.list(&point.snapshot.root, &paths);
    if found.is_err() {
        context.refuse_workspace(vault, &args.paths, "offshoot conflicts")?;
    }
    let found = found?;
    if args.diff && !context.output.is_json() {
        context.output.print_notes();
        return print_diffs(context, vault, &found);
    }
    let mut conflicts: Vec<ConflictDoc> = found.iter().map(wire::conflict).collect();
    if args.diff {
        let changes = context.engine.changes(vault);
        for (document, conflict) in conflicts.iter_mut().zip(&found) {
            for (side, of_side) in document.sides.iter_mut().zip(&conflict.record.sides) {
                let patch = patch(&changes, conflict, of_side, BinaryForm::Whole)?;
                side.patch = Some(Text::new(&patch));
            }
        }
    }
    let document = ConflictListDoc { at: point.label.clone(), conflicts };
    context.output.data(document, |_| match &point.workspace {
        _ if found.is_empty() => format!("no conflicts in {}\n", point.label),
        Some(workspace) => format!("{}{}", details(&found), ways(&workspace.name)),
        None => details(&found),
    })
}

/// Prints what one side has.
fn show(
    context: &Context,
    vault: &Vault,
    point: &Point,
    path: &VaultPath,
    side: &str,
) -> Result<()> {
    let service = context.engine.conflicts(vault);
    let found = service.list(&point.snapshot.root, std::slice::from_ref(path))?;
    let Some(conflict) = found.iter().find(|conflict| conflict.path == *path) else {
        return Err(offshoot_engine::error::ServiceError::NoConflict(path.to_string()).into());
    };
    let entry = service.version(conflict, side)?;
    let content = match entry.as_ref().map(|entry| &entry.body) {
        Some(Body::File { blob, .. }) => Some(vault.objects()?.blob(blob)?),
        Some(Body::Symlink { target }) => Some(target.clone()),
        Some(Body::Directory(_)) if !context.output.is_json() => {
            let message = format!("{path} is a directory for {side}");
            return Err(CliError::new(ExitCode::Conflict, message));
        }
        _ => None,
    };
    if context.output.is_json() {
        let document = wire::conflict_version(path, side, entry.as_ref(), content.as_deref());
        return context.output.data(document, |_| String::new());
    }
    match content {
        Some(bytes) => context.output.file(&bytes),
        None => {
            let message = format!("side {side} has nothing at {path}");
            Err(CliError::new(ExitCode::NotFound, message))
        }
    }
}

/// What a side changed since the base.
fn patch(
    service: &ChangeSummaryService<'_>,
    conflict: &OpenConflict,
    side: &RecordedSide,
    binary: BinaryForm,
) -> Result<Vec<u8>> {
    let base = conflict.record.base.as_ref();
    let mut patch = Vec::new();
    if side.version.as_ref() != base {
        let moved = base
            .map(|base| &base.path)
            .filter(|path| side.version.as_ref().is_some_and(|version| version.path != **path));
        let path = side.version.as_ref().or(base).map_or(&conflict.path, |version| &version.path);
        let change = Change {
            path: path.clone(),
            before: base.map(|version| version.entry.clone().into()),
            after: side.version.as_ref().map(|version| version.entry.clone().into()),
            moved: moved.map(|path| (path.clone(), 0)),
        };
        service.patch(&[change], binary, &mut patch)?;
    }
    Ok(patch)
}

fn print_diffs(context: &Context, vault: &Vault, conflicts: &[OpenConflict]) -> Result<()> {
    let service = context.engine.changes(vault);
    for conflict in conflicts {
        for (name, side) in conflict.side_names().iter().zip(&conflict.record.sides) {
            let patch = patch(&service, conflict, side, BinaryForm::Named)?;
            let title = format!("{} in {}", render::path(&conflict.path), render::line(name));
            let same = if patch.is_empty() { ": as in the base" } else { "" };
            context.output.text(&format!("{}{same}\n", paint(BOLD, &title)))?;
            let text: String = patch
                .split_inclusive(|&byte| byte == b'\n')
                .map(|line| {
                    format!("{}\n", render::harmless(line.strip_suffix(b"\n").unwrap_or(line)))
                })
                .collect();
            context.output.text(&text)?;
        }
    }
    Ok(())
}

/// One line for each conflict.
pub(crate) fn lines(conflicts: &[OpenConflict]) -> String {
    let line = |conflict: &OpenConflict| {
        let kinds = format!("  ({})", kinds(conflict));
        format!("  {} {}{}\n", paint(BAD, "U"), shown_path(conflict), paint(DIM, &kinds))
    };
    let count = render::count(conflicts.len() as u64, "conflict");
    let lines: String = conflicts.iter().map(line).collect();
    format!("{}\n{lines}", paint(BAD, &format!("{count} to resolve:")))
}

/// What to do about them, where there is anything to decide.
pub(crate) fn next_steps(ways: &[WayOnDoc], workspace: &str) -> String {
    let line = |see: String| {
        let resolve = next_in(workspace, "offshoot resolve PATH");
        format!("{}\n", paint(DIM, &format!("see: {see}   resolve: {resolve} --ours|--theirs")))
    };
    render::way_on::to(Goal::Decide, ways).map(line).unwrap_or_default()
}

/// How to look at sides and to decide.
fn ways(workspace: &str) -> String {
    let see = next_in(workspace, "offshoot conflicts PATH --side NAME");
    let resolve = next_in(workspace, "offshoot resolve PATH");
    let choices = "--ours|--theirs|--side NAME|--from FILE";
    let text = format!("see: {see}   resolve: {resolve} {choices}");
    format!("{}\n", paint(DIM, &text))
}

fn shown_path(conflict: &OpenConflict) -> String {
    let is_folder = conflict.shown.directory().is_some() && !conflict.path.is_top();
    format!("{}{}", render::path(&conflict.path), if is_folder { "/" } else { "" })
}

fn kinds(conflict: &OpenConflict) -> String {
    let words: Vec<&str> = conflict.record.kinds.iter().map(|kind| kind.word()).collect();
    words.join(", ")
}

/// Each conflict with what every side has and how it is decided.
fn details(conflicts: &[OpenConflict]) -> String {
    conflicts.iter().map(detail).collect()
}

fn detail(conflict: &OpenConflict) -> String {
    let record = &conflict.record;
    let kinds = kinds(conflict);
    let mut out = format!("{}  {}\n", paint(BOLD, &shown_path(conflict)), paint(BAD, &kinds));
    let row = |name: &str, path: Option<&VaultPath>, entry: Option<&Entry>| {
        let elsewhere = path.filter(|path| **path != conflict.path);
        let place = elsewhere.map(|path| format!(" at {}", render::path(path))).unwrap_or_default();
        vec![format!("  {name}"), format!("{}{place}", describe(entry))]
    };
    let mut rows = vec![row("shown", None, Some(&conflict.shown))];
    let base = record.base.as_ref();
    rows.push(row(&paint(DIM, "base"), base.map(|it| &it.path), base.map(|it| &it.entry)));
    for (name, side) in conflict.side_names().iter().zip(&record.sides) {
        let version = side.version.as_ref();
        let name = paint(NAME, &render::line(name));
        rows.push(row(&name, version.map(|it| &it.path), version.map(|it| &it.entry)));
    }
    for path in &record.beside {
        rows.push(vec!["  beside".to_owned(), render::path(path)]);
    }
    out.push_str(&render::fields(&rows));
    let decide = match record.has_markers() {
        true => "  resolved once its markers are removed",
        false => "  resolved by `offshoot resolve`, or by deleting it",
    };
    out.push_str(&format!("{}\n", paint(DIM, decide)));
    out
}

/// What an entry is, in a few words.
fn describe(entry: Option<&Entry>) -> String {
    let Some(entry) = entry else { return "nothing".to_owned() };
    match &entry.body {
        Body::Symlink { target } => {
            format!("symlink to {}", offshoot_engine::text::display_bytes(target))
        }
        _ if entry.kind() == EntryKind::File => {
            format!("file, {}, mode {:04o}", render::bytes(entry.size()), entry.meta.mode)
        }
        _ => format!("{}, mode {:04o}", entry.kind().word(), entry.meta.mode),
    }
}
