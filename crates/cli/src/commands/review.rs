//! `offshoot review`: deciding about the changes of a workspace.

mod choose;
mod list;

use std::ffi::OsString;

use clap::Args;
use offshoot_engine::commit::{Commit, Selection};
use offshoot_engine::exec::Signals;
use offshoot_engine::file::Edited;
use offshoot_engine::git::TrackedPaths;
use offshoot_engine::review::{Decision, FoldedReview, ReviewService, Tally};
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_engine::workspace::WorkspaceRecord;
use offshoot_protocol::{ExitCode, Hint, ReviewDoc};

use super::commit::commit_and_report;
use crate::complete;
use crate::context::Context;
use crate::context::noise::ExpandArgs;
use crate::error::{CliError, Result};
use crate::invocation::next_in;
use crate::render::{NAME, paint};
use crate::review::{self, Ending, tally_text};
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  offshoot review -w fix                     walk through what fix changed
  offshoot review -w fix /src                only what is below /src
  offshoot review -w fix --list              the changes with their ids, for programs too
  offshoot review -w fix --drop 3f2a9c51d0e7 take a hunk out of the workspace
  offshoot review -w fix --drop /notes.txt   everything that was done to a file
  offshoot review -w fix --accept 3f2a9c51d0e7,90bb11c2ffe0 --commit -m \"Fix it\"
  offshoot undo -w fix                       take the last review back

Keys: a accepts, d drops, e edits, n goes on, p back, s splits, f and F accept and drop the
whole file, / finds, ? shows all keys, q quits. At the end what was dropped is taken out of
the workspace and what was edited is put in, as one operation. The folder is touched only if
what was accepted is committed then.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReviewArgs {
    /// Paths to review, with all below them
    #[arg(value_name = "PATH", add = complete::paths())]
    paths: Vec<OsString>,
    /// List the changes with their ids
    #[arg(long, conflicts_with = "drop")]
    list: bool,
    /// Drop these changes: ids separated by commas, or a path
    #[arg(long, value_name = "ID")]
    drop: Vec<OsString>,
    /// Accept these changes for --commit
    #[arg(long, value_name = "ID", conflicts_with = "list")]
    accept: Vec<OsString>,
    /// Commit exactly what was accepted or edited
    #[arg(long, conflicts_with = "list")]
    commit: bool,
    /// Describe the commit
    #[arg(short, long, value_name = "TEXT", requires = "commit")]
    message: Option<String>,
    /// Split hunks into single changes
    #[arg(long)]
    split: bool,
    #[command(flatten)]
    expand: ExpandArgs,
}

/// Lists, carries out what was asked for, or walks through it all.
pub(crate) fn run(args: &ReviewArgs, context: &Context) -> Result<()> {
    let vault = &context.vault()?.vault;
    if !args.accept.is_empty() && !args.commit {
        let why = "--accept needs --commit: what you accept is not remembered for a later review";
        return Err(CliError::usage(why).hint("add --commit; or use --drop for what is to go"));
    }
    let paths = context.typed_all(vault, &args.paths)?;
    let workspace = workspace(args, context, vault)?;
    let service = context.engine.reviews(vault);
    let tracked = context.engine.tracked(vault)?;
    let is_tracked = |path: &_| Ok(tracked.has(path));
    let selection = Selection { tracked: &is_tracked, git: Some(&tracked), ..Selection::default() };
    let decided = !args.drop.is_empty() || !args.accept.is_empty();
    // Looking at the changes starts threads, and those must leave signals to whoever waits for keys.
    let _signals =
        (!args.list && !decided).then(Signals::take_over).transpose().map_err(|error| {
            CliError::new(ExitCode::Failure, format!("cannot watch for signals: {error}"))
        })?;
    let mut items = service.items(&workspace, &selection, &paths)?;
    if items.is_empty() {
        context.refuse_workspace(vault, &args.paths, "offshoot review")?;
    }
    if args.split {
        items.iter_mut().for_each(choose::split_all);
    }
    if args.list && context.output.is_json() {
        list::print_document(context, vault, &workspace, &items)?;
        return Ok(());
    }
    let roots = [vault.head()?.root, vault.snapshot(&workspace.state.head)?.root];
    let mut noise = match args.expand.expand {
        true => None,
        false => Some(context.engine.folding(vault, &roots)?.except(&paths)),
    };
    let mut folded = FoldedReview::new(items, noise.as_mut())?;
    if args.list {
        list::print(context, vault, &workspace, &folded)?;
        return Ok(());
    }
    let review = Review { context, vault, service, workspace: &workspace, tracked: &tracked, args };
    if decided {
        let standing = context.standing(vault)?;
        choose::decide(&mut folded, &args.drop, &Decision::Dropped, &standing)?;
        choose::decide(&mut folded, &args.accept, &Decision::Accepted, &standing)?;
        return review.carry_out(&folded, args.commit);
    }
    if folded.items.is_empty() {
        return review.carry_out(&folded, false);
    }
    review.walk(folded)
}

/// What a review works with.
struct Review<'a> {
    context: &'a Context,
    vault: &'a Vault,
    service: ReviewService<'a>,
    workspace: &'a WorkspaceRecord,
    tracked: &'a TrackedPaths,
    args: &'a ReviewArgs,
}

fn workspace(args: &ReviewArgs, context: &Context, vault: &Vault) -> Result<WorkspaceRecord> {
    if !args.list {
        return context.workspace_to_change(vault);
    }
    let found = context.workspace_to_read(vault)?;
    found.ok_or_else(|| {
        CliError::new(ExitCode::NotFound, "the vault has no workspace yet")
            .hint(Hint::command("offshoot workspace create NAME").text(" forks one"))
    })
}

impl Review<'_> {
    fn walk(&self, folded: FoldedReview) -> Result<()> {
        let output = &self.context.output;
        if output.is_json() || !terminal::is_attended() {
            let hint = "--list shows the changes with their ids, --drop and --accept decide";
            return Err(CliError::usage("a review needs a terminal").hint(hint));
        }
        let name = &self.workspace.name;
        let can_commit = !self.vault.bindings()?.is_empty();
        let (folded, ending) = review::walk(format!("review of {name}"), folded, can_commit)?;
        match ending {
            Ending::Forget => {
                output.text(&format!("the decisions were forgotten; {name} is as it was\n"))?;
                Ok(())
            }
            Ending::Apply => self.carry_out(&folded, self.args.commit),
            Ending::Commit => self.carry_out(&folded, true),
        }
    }

    fn carry_out(&self, review: &FoldedReview, commit: bool) -> Result<()> {
        let items = &review.items;
        let pieces = Tally::of_pieces(items);
        for path in self.service.dropped_but_in_git(self.workspace, items)? {
            self.context.output.note(format!(
                "{path} is dropped from the files, and still in the workspace's git commits or index: drop /.git too, or `commit --exclude .git`"
            ));
        }
        let edited = self.service.apply(self.workspace, review)?;
        let commits = commit && pieces.takes_something();
        // With a commit its document is the answer, and one answer is all there is.
        if !(commits && self.context.output.is_json()) {
            let document = document(self.workspace, &pieces, &edited);
            let text = |document: &ReviewDoc| told(document, review);
            self.context.output.done(document, text)?;
        }
        if !commits {
            return Ok(());
        }
        let now = self.vault.workspace(&self.workspace.id)?;
        let now = now.ok_or(offshoot_engine::error::ServiceError::Vanished(self.workspace.id))?;
        let is_tracked = |path: &_| Ok(self.tracked.has(path));
        let selection =
            Selection { tracked: &is_tracked, git: Some(self.tracked), ..Selection::default() };
        let choices = self.service.choices(&now, &selection, items)?;
        let commit = Commit::new(self.args.message.clone().unwrap_or_default()).choices(choices);
        let told = |event: &_| self.context.engine.tell_event(event);
        commit_and_report(self.context, self.vault, &now, &commit, &told, self.args.expand)
    }
}

fn document(workspace: &WorkspaceRecord, tally: &Tally, edited: &Edited) -> ReviewDoc {
    ReviewDoc {
        workspace: workspace.name.clone(),
        snapshot: edited.snapshot.id.to_string(),
        accepted: tally.accepted,
        dropped: tally.dropped,
        edited: tally.edited,
        undecided: tally.undecided,
        changes: edited.changes.iter().map(wire::change).collect(),
        operation: edited.operation.map(|id| id.to_string()),
    }
}

fn told(document: &ReviewDoc, review: &FoldedReview) -> String {
    let name = paint(NAME, &document.workspace);
    if review.items.is_empty() {
        return format!("workspace {name} has nothing to review\n");
    }
    let undo = match document.operation {
        Some(_) => {
            format!("; `{}` takes it back", next_in(&document.workspace, "offshoot undo"))
        }
        None => String::new(),
    };
    let tally = tally_text(&Tally::of(&review.items, &review.groups));
    format!("workspace {name}: {tally}{undo}\n")
}
