//! `offshoot commit`: what a workspace changed comes into the folder.

mod ask;
pub(crate) mod git;
mod pick;
mod settle;
mod summary;

pub(crate) use summary::MOST_NAMED;
pub(crate) use summary::conflicts as conflict_lines;
pub(crate) use summary::held as held_lines;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use clap::{Args, ValueEnum};
use offshoot_engine::Workspace;
use offshoot_engine::commit::{Allow, Commit, CommitEvent, Outcome, Pattern};
use offshoot_engine::error::ServiceError;
use offshoot_engine::file::PathContext;
use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_engine::workspace::WorkspaceRecord;
use offshoot_protocol::{CommitDoc, Hint, Kind};

use crate::complete;
use crate::context::Context;
use crate::context::noise::ExpandArgs;
use crate::error::Result;
use crate::global::Named;
use crate::interrupt::{self, Watch};
use crate::invocation::next_in;
use crate::progress::Patience;
use crate::render::way_on;

const EXAMPLES: &str = "\
Examples:
  offshoot commit                              commit all changes of the only workspace
  offshoot commit fix                          or of workspace fix
  offshoot commit -w fix -m \"Fix the parser\"
  offshoot commit -w fix --dry-run             show what would be committed
  offshoot commit -w fix --only src --exclude '*.log'
  offshoot commit -w fix -p                    choose hunk by hunk
  offshoot commit -w fix --ignored             build output too
  offshoot commit -w fix --take .envrc         and a file that is held back for safety
  offshoot commit -w fix --git -m \"Fix it\"     and make a git commit of it
  offshoot undo -w fix                         undo it, in the folder too

Changes that were made in the folder meanwhile are merged. If both sides changed the same lines,
commit writes nothing and exits with 4; `offshoot pull -w fix` brings both versions into the
workspace. Ignored files (.gitignore), setuid bits, git hooks and git configuration stay in the
workspace unless you ask for them. So do files that something on this machine runs or obeys by
itself, such as .envrc, .vscode/tasks.json or CLAUDE.md: look at them, then take them with --take
PATH or --allow trusted.

Neither commit nor commit --git runs a hook, such as pre-commit; --git names those it did not run.
Filters of your own git configuration, such as git-lfs, do run.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CommitArgs {
    #[command(flatten)]
    pub(crate) named: Named,
    /// Describe the commit
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    /// Show what would be committed, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Commit only these paths, with all below them, or globs
    #[arg(long, value_name = "PATH", add = complete::paths())]
    only: Vec<OsString>,
    /// Leave these paths, or globs, in the workspace
    #[arg(long, value_name = "PATH", add = complete::paths())]
    exclude: Vec<OsString>,
    /// Choose what to commit, hunk by hunk
    #[arg(short, long)]
    patch: bool,
    /// Commit ignored files too (.gitignore)
    #[arg(long)]
    ignored: bool,
    /// Commit what is held back for safety
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    allow: Vec<Allowed>,
    /// Commit these paths, or globs, although they are held back for safety
    #[arg(long, value_name = "PATH", add = complete::paths())]
    take: Vec<OsString>,
    /// Make a git commit of exactly these changes
    #[arg(long)]
    git: bool,
    /// Set the author of the git commit [default: as git is configured]
    #[arg(long, value_name = "NAME <MAIL>", requires = "git")]
    author: Option<String>,
    /// Settle an interrupted commit this way, and commit nothing
    #[arg(
        long,
        value_name = "WAY",
        conflicts_with_all = ["message", "dry_run", "only", "exclude", "patch", "ignored", "allow", "take", "git"]
    )]
    settle: Option<settle::Way>,
    #[command(flatten)]
    expand: ExpandArgs,
}

/// What is held back for safety.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Allowed {
    /// Setuid and setgid files
    Setuid,
    /// Hooks and configuration that git runs or obeys
    Git,
    /// Files that something on this machine runs or obeys by itself, such as .envrc
    Trusted,
    /// Files with conflict markers
    Markers,
}

/// What is said from the moment on in which the folder is being changed.
pub(crate) const HALF_CHANGED: &str =
    "the folder was being changed: the next command finishes that or takes it back";

pub(crate) fn run(args: &CommitArgs, context: &Context) -> Result<()> {
    let vault = &context.vault_to_settle()?.vault;
    if let Some(way) = args.settle {
        return settle::run(way, context, vault);
    }
    let workspace = context.workspace_to_change(vault).map_err(|error| {
        // What is no workspace, and looks like a sentence, is what the commit is to say.
        match args.named.text().filter(|text| text.contains(char::is_whitespace)) {
            Some(text) => error
                .hint(Hint::from("to describe the commit: ").then("offshoot commit -m").arg(text)),
            None => error,
        }
    })?;
    // Where hunks are asked about, keys end it.
    let watch = match args.patch {
        true => None,
        false => Some(Watch::start(context, interrupt::NOTHING)?),
    };
    let told = |event: &_| {
        if let (CommitEvent::Changing, Some(watch)) = (event, &watch) {
            watch.say(HALF_CHANGED);
        }
        context.engine.tell_event(event);
    };
    let mut commit = asked(args, &context.standing(vault)?)?;
    if args.patch {
        let picked = pick::pick(context, vault, &workspace, &commit.selection(), args.expand)?;
        let Some(choices) = picked else { return Ok(()) };
        commit = commit.choices(choices);
    }
    if !args.patch && !args.dry_run {
        commit = ask::about_trusted(context, vault, &workspace, commit)?;
    }
    commit_and_report(context, vault, &workspace, &commit, &told, args.expand)
}

/// Commits what was selected, and says what came of it.
pub(crate) fn commit_and_report(
    context: &Context,
    vault: &Vault,
    workspace: &WorkspaceRecord,
    commit: &Commit,
    told: &dyn Fn(&CommitEvent),
    expand: ExpandArgs,
) -> Result<()> {
    let (document, text) = carry_out(context, vault, (workspace, commit), told, expand)?;
    match document.exit_code().is_success() {
        true => context.output.done(document, |_: &_| text)?,
        false => context.output.data(document, |_: &_| text)?,
    }
    context.engine.tell_git_due(vault);
    Ok(())
}

/// Commits all that a workspace changed: what came of it, for programs and for people.
pub(crate) fn commit_all(
    context: &Context,
    workspace: &Workspace,
    message: &str,
) -> Result<(CommitDoc, String)> {
    let (vault, record) = (workspace.project().vault(), workspace.record()?);
    let told = |event: &_| context.engine.tell_event(event);
    let commit = Commit::new(message);
    let done = carry_out(context, vault, (&record, &commit), &told, ExpandArgs::default())?;
    context.engine.tell_git_due(vault);
    Ok(done)
}

fn carry_out(
    context: &Context,
    vault: &Vault,
    (workspace, commit): (&WorkspaceRecord, &Commit),
    told: &dyn Fn(&CommitEvent),
    expand: ExpandArgs,
) -> Result<(CommitDoc, String)> {
    let progress = context.config().ui.progress;
    let waiting = Patience::new(progress, context.is_silent(), "writing files to the folder");
    let outcome = context.engine.commit(vault, workspace, commit, told)?;
    drop(waiting);
    let Outcome { brought, end, git: made, earlier, behind, submodules, uncommitted } = &outcome;
    let mut noise = context.noise(vault, &[end.before, end.after], expand)?;
    let text = summary::text(end, noise.as_mut())?;
    if *behind {
        let name = &brought.workspace;
        let pull = next_in(name, "offshoot pull");
        context.output.note(format!("{name} does not have the git commit yet: `{pull}` brings it"));
    }
    for note in git::left(submodules, *uncommitted, made.as_ref()) {
        context.output.note(note.to_string());
    }
    let text_of = |made| git::text(made, !submodules.is_empty());
    let before = earlier.as_ref().filter(|_| made.is_some()).map(text_of);
    let said = made.as_ref().or(earlier.as_ref());
    let after = said.map(text_of).unwrap_or_default();
    let text = before.unwrap_or_default() + &text + &after;
    let document = CommitDoc {
        git: said.map(git::document),
        repositories: way_on::repositories(&end.git),
        workspace_repositories: way_on::repositories(&end.workspace_git),
        ways_on: way_on::all_completed(wire::commit_ways_on(brought)),
        ..wire::commit(brought)
    };
    tell_notes(context, &outcome);
    Ok((document, text))
}

/// What was asked for.
fn asked(args: &CommitArgs, standing: &PathContext) -> Result<Commit> {
    let patterns = |texts: &[OsString]| -> Result<Vec<Pattern>> {
        let parsed = texts.iter().map(|text| standing.pattern(text.as_bytes()));
        Ok(parsed.collect::<Result<_, ServiceError>>()?)
    };
    let allows = |what: Allowed| args.allow.contains(&what);
    let commit = Commit::new(args.message.clone().unwrap_or_default())
        .only(patterns(&args.only)?)
        .exclude(patterns(&args.exclude)?)
        .ignored(args.ignored)
        .allow(Allow {
            setuid: allows(Allowed::Setuid),
            git: allows(Allowed::Git),
            trusted: allows(Allowed::Trusted),
            markers: allows(Allowed::Markers),
        })
        .take(patterns(&args.take)?)
        .dry_run(args.dry_run);
    Ok(match args.git {
        true => commit.git_by(args.author.clone()),
        false => commit,
    })
}

fn tell_notes(context: &Context, outcome: &Outcome) {
    let brought = &outcome.brought;
    context.engine.tell_skipped(&brought.report);
    for pattern in &brought.unmatched {
        context.output.note(format!("nothing that changed fits {pattern}"));
    }
    for pattern in &brought.parts_of_git {
        context.output.note(format!(
            "{pattern} names a part of a git directory, which is committed as a whole: `--exclude .git` leaves it out, `--only .git` takes it"
        ));
    }
}
