//! `offshoot diff`: the difference of two states.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};

use clap::Args;
use offshoot_engine::change::{
    BinaryForm, ChangeKind, ChangeSummaryService, Summary, without_frames,
};
use offshoot_engine::commit::Held;
use offshoot_engine::diff::FileDiff;
use offshoot_engine::error::ServiceError;
use offshoot_engine::file::{RootId, VaultPath};
use offshoot_engine::id::Id;
use offshoot_engine::reference::{Point, Resolver};
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_engine::workspace::WorkspaceRecord;
use offshoot_protocol::{ChangeDoc, DiffDoc, ExitCode, Hint, Text};

use crate::commands::commit::held_lines;
use crate::complete;
use crate::context::Context;
use crate::context::noise::ExpandArgs;
use crate::error::Result;
use crate::invocation::{next, next_in};
use crate::render::columns::side_by_side;
use crate::render::listing::{EXPAND, Listing, METADATA};
use crate::render::stat;
use crate::render::words::{Marks, word_diff};
use crate::{output, pager, render, terminal};

const EXAMPLES: &str = "\
Examples:
  offshoot diff                        what the most recent workspace would commit
  offshoot diff fix                    what workspace fix would commit
  offshoot diff fix --stat             in figures
  offshoot diff --word-diff            the words that changed
  offshoot diff -y                     old and new side by side
  offshoot diff fix other              from one workspace to another
  offshoot diff fix@before fix -- src  only below src
  offshoot diff main.c                 only this file
  offshoot diff --json --patch         for programs, with lines
  offshoot diff fix | git apply        onto a checkout

Without A, or with a workspace as A, head is compared with head and what a commit would bring
there; what it would leave in the workspace is named on standard error, and shown if its path
is given. With another state as A, that is compared with the workspace.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DiffArgs {
    /// A workspace, to see what it would commit; or the old state: any REF
    #[arg(add = complete::references())]
    a: Option<String>,
    /// New state: any REF
    #[arg(add = complete::references())]
    b: Option<String>,
    /// Paths to compare, with all below them
    #[arg(last = true, value_name = "PATH", add = complete::paths())]
    paths: Vec<OsString>,
    /// Show lines, as a patch that git reads (the default for people)
    #[arg(short, long)]
    patch: bool,
    /// Show changed words: in colour, else as [-old-] and {+new+}
    #[arg(long, conflicts_with_all = ["patch", "side_by_side"])]
    word_diff: bool,
    /// Show old and new text side by side
    #[arg(short = 'y', long, conflicts_with = "patch")]
    side_by_side: bool,
    /// Show this many unchanged lines around each change [default: diff.context]
    #[arg(short = 'U', long, value_name = "COUNT")]
    unified: Option<u32>,
    /// Do not use a pager
    #[arg(long)]
    no_pager: bool,
    /// Show how many lines changed in each file
    #[arg(long, conflicts_with_all = ["patch", "word_diff", "side_by_side"])]
    stat: bool,
    /// Show a letter and the path of each change
    #[arg(long, conflicts_with_all = ["patch", "stat", "word_diff", "side_by_side"])]
    name_status: bool,
    /// Show the path of each change
    #[arg(long, conflicts_with_all = ["patch", "stat", "name_status", "word_diff", "side_by_side"])]
    name_only: bool,
    /// Count changes of times, owners and attributes too
    #[arg(long)]
    metadata: bool,
    /// Exit with 1 if there are differences, also if only held files differ
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    expand: ExpandArgs,
}

pub(crate) fn run(args: &DiffArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    // What would be committed is a state that nothing refers to.
    let _held = vault.hold()?;
    let Words { a, b, paths } = words(args, context, vault)?;
    let (before, after, mut held) =
        states(a, b, context, vault).map_err(|error| match error.hint {
            None if error.code == ExitCode::NotFound => error.hint(
                Hint::from("no file has that name either; ")
                    .then("offshoot diff --name-only")
                    .text(" lists what changed"),
            ),
            _ => error,
        })?;
    let mut options = context.engine.diff_options();
    options.context = args.unified.unwrap_or(options.context);
    let service = ChangeSummaryService::new(vault, options);
    let mut summary = service.between(&before.root, &after.root, args.metadata)?;
    if !paths.is_empty() {
        let wanted = |path: &VaultPath| paths.iter().any(|filter| path.is_within(filter));
        // What stays in the workspace is shown to whoever asks for it by name: it is to be looked at before it is taken.
        let listed: HashSet<VaultPath> =
            summary.changes.iter().map(|change| change.path.clone()).collect();
        held.retain(|held| wanted(&held.change.path));
        let stays = held.iter().map(|held| held.change.clone());
        let stays = stays.filter(|change| change.kind() != ChangeKind::Metadata);
        summary.changes.extend(stays.filter(|change| !listed.contains(&change.path)));
        summary.changes.sort_by(|one, other| one.path.cmp(&other.path));
        summary.changes.retain(|change| {
            wanted(&change.path) || change.moved.as_ref().is_some_and(|(from, _)| wanted(from))
        });
    }
    let roots = [before.root, after.root];
    // A document lists everything; its patch is for git all the same.
    let folds = !args.expand.expand && (args.patch || !context.output.is_json());
    let noise = folds.then(|| context.engine.folding(vault, &roots)).transpose()?;
    let mut noise = noise.map(|noise| noise.except(&paths));
    let listing = Listing::new(&summary.changes, noise.as_mut())?;
    if context.output.is_json() {
        let document = document(args, &service, (&before, &after), &summary, &listing, context)?;
        let document = DiffDoc { stays: held.iter().map(wire::held).collect(), ..document };
        return match args.exit_code {
            true => context.output.checked(document, |_| String::new()),
            false => context.output.data(document, |_| String::new()),
        };
    }
    context.output.print_notes();
    let listing = listing.and_metadata(summary.telling_metadata(), METADATA);
    print(args, &service, &summary, &listing, context)?;
    // What was asked for by name was shown; of all else nobody should think that it is not there.
    if paths.is_empty() && !context.output.is_quiet() {
        output::eprint(&held_lines(&after.label, &held, noise.as_mut())?);
    }
    let stays = held.iter().any(|held| held.reason.word().is_difference());
    if args.exit_code && (stays || !summary.changes.is_empty()) {
        context.output.conclude(ExitCode::Failure);
    }
    Ok(())
}

/// One state of two that are compared.
struct State {
    label: String,
    snapshot: Id,
    root: RootId,
}

impl From<Point> for State {
    fn from(point: Point) -> Self {
        Self { label: point.label, snapshot: point.snapshot.id, root: point.snapshot.root }
    }
}

/// What somebody named: states, and paths behind them.
struct Words<'a> {
    a: Option<&'a str>,
    b: Option<&'a str>,
    paths: Vec<VaultPath>,
}

/// Tells states and paths apart. As with git, a word that is no state and names a file means the file.
fn words<'a>(args: &'a DiffArgs, context: &Context, vault: &Vault) -> Result<Words<'a>> {
    let mut words = Words { a: None, b: None, paths: Vec::new() };
    let resolver = Resolver::new(vault);
    let named = context.workspace_name().map(|name| resolver.workspace(name)).transpose()?;
    for word in args.a.iter().chain(&args.b) {
        let unknown = |found: &ServiceError| matches!(found, ServiceError::Unknown { .. });
        let no_state = resolver.point(word, named.as_ref()).is_err_and(|error| unknown(&error));
        let path = context.typed(vault, word.as_ref()).ok().filter(|_| no_state);
        match path {
            Some(path) if is_somewhere(vault, &path)? => words.paths.push(path),
            _ if words.a.is_none() => words.a = Some(word),
            _ => words.b = Some(word),
        }
    }
    words.paths.extend(context.typed_all(vault, &args.paths)?);
    Ok(words)
}

/// Whether the main line or any workspace has something at a path.
fn is_somewhere(vault: &Vault, path: &VaultPath) -> Result<bool> {
    let workspaces = vault.workspaces()?.into_iter().map(|workspace| workspace.state.head);
    for snapshot in [vault.head()?.id].into_iter().chain(workspaces) {
        let root = vault.snapshot(&snapshot)?.root;
        if vault.tree(&root)?.get(path)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Which two states are meant, and what a commit between them leaves in the workspace.
fn states(
    a: Option<&str>,
    b: Option<&str>,
    context: &Context,
    vault: &Vault,
) -> Result<(State, State, Vec<Held>)> {
    let resolver = Resolver::new(vault);
    if let (Some(a), Some(b)) = (a, b) {
        let states = [resolver.point(a, None)?, resolver.point(b, None)?].map(State::from);
        let [before, after] = states;
        return Ok((before, after, Vec::new()));
    }
    let named = a.map(|a| vault.workspace_named(a)).transpose()?.flatten();
    if let Some(named) = named {
        if let Some(other) = context.workspace_name().filter(|other| *other != named.name) {
            let both = next(Hint::command("offshoot diff").arg(&named.name).arg(other));
            context.output.note(format!("`{both}` compares the two"));
        }
        return brought(context, vault, &named);
    }
    let Some(workspace) = context.workspace_to_read(vault)? else {
        let head = resolver.head()?;
        let before = match a {
            Some(a) => resolver.point(a, None)?,
            None => head.clone(),
        };
        return Ok((before.into(), head.into(), Vec::new()));
    };
    match a {
        None => brought(context, vault, &workspace),
        Some(a) => {
            let after = resolver.workspace_point(&workspace)?;
            Ok((resolver.point(a, Some(&workspace))?.into(), after.into(), Vec::new()))
        }
    }
}

/// The main line without and with what a workspace would commit.
fn brought(
    context: &Context,
    vault: &Vault,
    workspace: &WorkspaceRecord,
) -> Result<(State, State, Vec<Held>)> {
    let preview = context.preview(vault, workspace, false)?;
    let (before, after) = preview.proposal.sides();
    let fits = preview.proposal.fits();
    let name = render::line(&workspace.name);
    if let Some(refused) = &preview.refused {
        context.output.note(format!("commit is refused: {}", render::line(&refused.to_string())));
    }
    if !preview.proposal.conflicts.is_empty() {
        let pull = next_in(&workspace.name, "offshoot pull");
        context.output.note(format!(
            "{name} has conflicts with the folder, so this is what it changed since both were the same: `{pull}`"
        ));
    }
    let base = preview.proposal.common.first().filter(|_| !fits);
    let before = State {
        label: if fits { "head".to_owned() } else { format!("{}@base", workspace.name) },
        snapshot: base.copied().unwrap_or(preview.head.id),
        root: before,
    };
    let after = State { label: workspace.name.clone(), snapshot: preview.tip.id, root: after };
    Ok((before, after, preview.proposal.stays().cloned().collect()))
}

fn document(
    args: &DiffArgs,
    service: &ChangeSummaryService<'_>,
    (before, after): (&State, &State),
    summary: &Summary,
    listing: &Listing<'_>,
    context: &Context,
) -> Result<DiffDoc> {
    let mut changes: Vec<ChangeDoc> = summary.changes.iter().map(wire::change).collect();
    let mut patch = None;
    if args.patch || args.stat {
        for (document, change) in changes.iter_mut().zip(&summary.changes) {
            wire::add_lines(document, &service.lines(change)?, args.patch);
        }
    }
    if args.patch {
        let mut bytes = Vec::new();
        service.patch(listing.single().iter().copied(), BinaryForm::Whole, &mut bytes)?;
        left_out(listing).into_iter().for_each(|text| context.output.note(text));
        patch = Some(Text::new(&bytes));
    }
    Ok(DiffDoc {
        before: before.label.clone(),
        after: after.label.clone(),
        before_snapshot: before.snapshot.to_string(),
        after_snapshot: after.snapshot.to_string(),
        changes,
        metadata_only: summary.metadata_only(),
        stays: Vec::new(),
        patch,
    })
}

fn print(
    args: &DiffArgs,
    service: &ChangeSummaryService<'_>,
    summary: &Summary,
    listing: &Listing<'_>,
    context: &Context,
) -> Result<()> {
    // Names are for programs, which fold for themselves.
    if args.name_only {
        let shown = without_frames(&summary.changes);
        let lines: String = shown.iter().map(|change| format!("{}\n", change.path)).collect();
        return context.output.text(&lines);
    }
    if args.name_status {
        let shown = without_frames(&summary.changes);
        let lines = shown.iter().map(|change| format!("{}\n", render::change_for_scripts(change)));
        return context.output.text(&lines.collect::<String>());
    }
    if args.stat {
        return context.output.text(&stat_text(service, listing)?);
    }
    let left_out = left_out(listing);
    let coloured = context.output.is_coloured();
    let changes = || listing.single().iter().copied();
    let is_for_people = coloured || std::io::stdout().is_terminal();
    if !is_for_people && !args.side_by_side && !args.word_diff {
        // Programs get the exact bytes, and all of them.
        left_out.into_iter().for_each(|text| context.output.note(text));
        context.output.print_notes();
        let write = |out: &mut dyn Write| service.patch(changes(), BinaryForm::Whole, out);
        return context.output.stream(None, |out| Ok(write(out)?));
    }
    let mut patch = Vec::new();
    service.patch(changes(), BinaryForm::Named, &mut patch)?;
    let shown = if args.side_by_side {
        side_by_side(&patch, terminal::width())
    } else if args.word_diff {
        word_diff(&patch, if coloured { Marks::Colours } else { Marks::Brackets })
    } else {
        // People get colours, and no control characters that a file could hide things with.
        render::patch::coloured(&patch)
    };
    let left_out = left_out.map(|text| format!("{}\n", render::paint(render::DIM, &text)));
    pager::show(context, &(shown + &left_out.unwrap_or_default()), !args.no_pager)
}

/// What a patch does not have, and how to get it.
fn left_out(listing: &Listing<'_>) -> Option<String> {
    let folded = listing.folded();
    (!folded.is_empty()).then(|| format!("left out: {} ({EXPAND})", folded.join("; ")))
}

fn stat_text(service: &ChangeSummaryService<'_>, listing: &Listing<'_>) -> Result<String> {
    let mut lines = Vec::new();
    for change in listing.single() {
        let size = |entry: Option<&offshoot_engine::file::Entry>| entry.map_or(0, |e| e.size());
        let diff = service.lines(change)?;
        let (added, removed) = match &diff {
            FileDiff::Text(text) => (Some(text.added), Some(text.removed)),
            FileDiff::Nothing => (Some(0), Some(0)),
            FileDiff::Binary | FileDiff::TooLarge => (None, None),
        };
        lines.push(stat::StatLine {
            path: render::path(&change.path),
            added,
            removed,
            binary: matches!(diff, FileDiff::Binary | FileDiff::TooLarge),
            size_before: size(change.before.as_deref()),
            size_after: size(change.after.as_deref()),
        });
    }
    let left_out =
        left_out(listing).map(|text| format!(" {}\n", render::paint(render::DIM, &text)));
    Ok(stat::render(&lines, terminal::width()) + &left_out.unwrap_or_default())
}
