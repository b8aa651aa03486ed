//! `offshoot pull`: what changed in the folder comes into the main line and into a workspace.

use clap::Args;
use offshoot_engine::pull::Pulled;
use offshoot_engine::wire;

use super::commit::{MOST_NAMED, conflict_lines};
use super::conflicts::next_steps;
use offshoot_protocol::PullDoc;

use crate::context::Context;
use crate::context::noise::ExpandArgs;
use crate::error::Result;
use crate::global::Named;
use crate::progress::Patience;
use crate::render::listing::{Listing, show_expanded, show_metadata};
use crate::render::way_on::{self, take_back};
use crate::render::{self, BAD, DIM, NAME, paint};

const EXAMPLES: &str = "\
Examples:
  offshoot pull             merge the folder into the only workspace
  offshoot pull fix         or into workspace fix
  offshoot pull --head      only bring the main line up to date
  offshoot undo -w fix      undo the merge

The folder itself is not touched. If both sides changed the same lines, the files in the workspace
get conflict markers, and the exit code is 4. Ignored files that both sides changed stay as they
are on each side.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PullArgs {
    #[command(flatten)]
    pub(crate) named: Named,
    /// Update only the main line, and no workspace
    #[arg(long, conflicts_with_all = ["workspace", "named"])]
    head: bool,
    #[command(flatten)]
    expand: ExpandArgs,
}

pub(crate) fn run(args: &PullArgs, context: &Context) -> Result<()> {
    let vault = &context.vault_to_settle()?.vault;
    let progress = context.config().ui.progress;
    let waiting = Patience::new(progress, context.is_silent(), "reading the folder");
    let pulled = match args.head {
        true => context.engine.pull(vault, None),
        false => context.engine.pull(vault, Some(&context.workspace_to_change(vault)?)),
    };
    drop(waiting);
    let pulled = pulled?;
    context.engine.tell_pulled(&pulled);
    let snapshots = [pulled.head].into_iter().chain(pulled.snapshot);
    let roots = snapshots.map(|id| Ok(vault.snapshot(&id)?.root)).collect::<Result<Vec<_>>>()?;
    let mut noise = context.noise(vault, &roots, args.expand)?;
    let captured = Listing::new(&pulled.captured, noise.as_mut())?.without_metadata();
    let changes = Listing::new(&pulled.changes, noise.as_mut())?;
    let hint = show_metadata(pulled.workspace.as_deref().unwrap_or("head"));
    let changes = changes.and_metadata(pulled.metadata.iter().collect(), hint);
    let document = PullDoc {
        repositories: way_on::repositories(&pulled.git),
        ways_on: way_on::all_completed(wire::pull_ways_on(&pulled)),
        ..wire::pull(&pulled)
    };
    context.output.done(document, |_| text(&pulled, &captured, &changes))
}

fn text(pulled: &Pulled, captured: &Listing<'_>, changes: &Listing<'_>) -> String {
    let mut text = String::new();
    let is_news = !captured.single().is_empty() || !captured.folded().is_empty();
    if pulled.head_moved && (is_news || pulled.workspace.is_none()) {
        text.push_str(&format!("new in the folder: {}\n", captured.heading()));
        text.push_str(&captured.lines("  ", MOST_NAMED, &show_expanded("head")));
    }
    let Some(workspace) = &pulled.workspace else {
        if !pulled.head_moved {
            text.push_str("head is up to date with the folder\n");
        }
        return text;
    };
    let name = paint(NAME, workspace);
    let nothing =
        pulled.changes.is_empty() && pulled.metadata.is_empty() && pulled.conflicts.is_empty();
    if pulled.operation.is_none() || (nothing && pulled.git.notes.is_empty()) {
        text.push_str(&format!("workspace {name} is up to date\n"));
        return text;
    }
    let ways = wire::pull_ways_on(pulled);
    text.push_str(&format!("pulled into workspace {name}: {}\n", changes.heading()));
    text.push_str(&changes.lines("  ", MOST_NAMED, &show_expanded(workspace)));
    text.push_str(&render::git::notes(&pulled.git, &format!("{workspace}'s")));
    if !pulled.conflicts.is_empty() {
        let count = render::count(pulled.conflicts.len() as u64, "conflict");
        text.push_str(&format!("{} to resolve:\n", paint(BAD, &count)));
        text.push_str(&conflict_lines(&pulled.conflicts));
        text.push_str(&next_steps(&ways, workspace));
    }
    if let Some(line) = take_back(&ways) {
        text.push_str(&format!("{}\n", paint(DIM, &line)));
    }
    text
}
