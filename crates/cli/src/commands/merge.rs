//! `offshoot merge`: states of files into one.

use clap::Args;
use offshoot_engine::approval::Approval;
use offshoot_engine::merge::{MergeOutcome, MergeTarget};
use offshoot_engine::reference::{Point, Resolver};
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{Hint, Kind, MergeDoc};

use super::conflicts;
use crate::complete;
use crate::context::Context;
use crate::context::noise::ExpandArgs;
use crate::error::Result;
use crate::invocation::next;
use crate::render::listing::{EXPAND, Listing, show_expanded};
use crate::render::way_on;
use crate::render::{self, DIM, NAME, paint};

const EXAMPLES: &str = "\
Examples:
  offshoot merge fix other --into both       a new workspace with what both changed
  offshoot merge head --into fix             what is new in the main line, into a workspace
  offshoot merge a b c --into main --dry-run whether it would fit, and nothing else

A target that does not exist is created; otherwise it is the first side. Without conflicts, the
order of the sides makes no difference. Conflicts stay in the workspace with every side, and the
exit code is 4: see `offshoot conflicts --help`.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MergeArgs {
    /// REFs to merge
    #[arg(required = true, value_name = "REF", add = complete::references())]
    sides: Vec<String>,
    /// Write the result to this workspace
    #[arg(long, value_name = "NAME", add = complete::workspaces())]
    into: String,
    /// Describe the merge
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    /// Show the result, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    #[command(flatten)]
    expand: ExpandArgs,
}

pub(crate) fn run(args: &MergeArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    let into = vault.workspace_named(&args.into)?;
    let resolver = Resolver::new(vault);
    let sides: std::result::Result<Vec<Point>, _> =
        args.sides.iter().map(|side| resolver.point(side, into.as_ref())).collect();
    let target = match &into {
        Some(workspace) => MergeTarget::Workspace(workspace),
        None => MergeTarget::New(&args.into),
    };
    let (engine, message) = (&context.engine, args.message.as_deref());
    let outcome = match args.dry_run {
        true => engine.preview_merge(vault, &sides?, target)?,
        false => engine.merge(vault, &sides?, target, message)?,
    };
    if !args.dry_run {
        note_approvals(context, vault, &outcome)?;
    }
    report(context, vault, &outcome, args.dry_run, args.expand)
}

/// A trial that was merged by hand is in the workspace, and waits for a word all the same.
fn note_approvals(context: &Context, vault: &Vault, outcome: &MergeOutcome) -> Result<()> {
    let is_merged = |approval: &Approval| {
        approval.state.is_pending()
            && outcome.sides.iter().any(|side| approval.trial == Some(side.snapshot))
    };
    let all = context.engine.approvals(vault).list()?;
    for approval in all.iter().filter(|approval| is_merged(approval)) {
        let id = approval.id.short();
        let settle = next(Hint::command("offshoot approvals approve").arg(&id));
        let when = match outcome.conflicts.is_empty() {
            true => "",
            false => ", when the conflicts are decided",
        };
        context.output.note(format!("approval {id} still waits: `{settle}` settles it{when}"));
    }
    Ok(())
}

fn report(
    context: &Context,
    vault: &Vault,
    outcome: &MergeOutcome,
    dry_run: bool,
    expand: ExpandArgs,
) -> Result<()> {
    let document = MergeDoc {
        repositories: way_on::repositories(&outcome.git),
        ways_on: way_on::all_completed(wire::merge_ways_on(outcome, dry_run)),
        ..wire::merge(outcome, dry_run)
    };
    let root = match &outcome.snapshot {
        Some(snapshot) => snapshot.root,
        None => vault.head()?.root,
    };
    let mut noise = context.noise(vault, &[root], expand)?;
    let listing = Listing::new(&outcome.changes, noise.as_mut())?;
    let human = || text(outcome, &listing, dry_run);
    match document.exit_code().is_success() {
        true => context.output.done(document, |_| human()),
        false => context.output.data(document, |_| human()),
    }
}

fn text(outcome: &MergeOutcome, listing: &Listing<'_>, dry_run: bool) -> String {
    let name = paint(NAME, &outcome.workspace);
    let mut out = String::new();
    let first = usize::from(!outcome.created);
    for side in outcome.sides.iter().skip(first).filter(|side| side.included) {
        let text = format!("{} is merged already", side.label);
        out.push_str(&format!("{}\n", paint(DIM, &text)));
    }
    let changed = listing.heading();
    out.push_str(&match (dry_run, outcome.created, outcome.operation) {
        (true, ..) => format!("would merge into {name}: {changed}\n"),
        (false, true, _) => format!("merged into the new workspace {name}: {changed}\n"),
        (false, false, Some(_)) => format!("merged into {name}: {changed}\n"),
        (false, false, None) => format!("nothing to merge into {name}\n"),
    });
    let hint = match dry_run {
        true => EXPAND.to_owned(),
        false => show_expanded(&outcome.workspace),
    };
    out.push_str(&listing.lines("  ", usize::MAX, &hint));
    out.push_str(&render::git::notes(&outcome.git, &format!("{}'s", outcome.workspace)));
    if !outcome.conflicts.is_empty() {
        out.push_str(&conflicts::lines(&outcome.conflicts));
        let ways = wire::merge_ways_on(outcome, dry_run);
        out.push_str(&conflicts::next_steps(&ways, &outcome.workspace));
    }
    out
}
