//! `offshoot commit`: what a workspace changed comes into the folder.

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
use offshoot_protocol::{CommitDoc, Kind};
use offshoot_vault::{Vault, Workspace};
use offshoot_workspace::git::GitAsked;
use offshoot_workspace::{
    Allow, CommitOutcome, CommitRequest, CommitService, GitFollowed, HomeEvent, HomeOptions,
    PathPattern, PullService, Selection, Standing, wire,
};

use crate::args::Named;
use crate::complete;
use crate::context::Context;
use crate::context::noise::ExpandArgs;
use crate::error::{CliError, Result};
use crate::interrupt::{self, Watch};
use crate::progress::Patience;

const EXAMPLES: &str = "\
Examples:
  offshoot commit                              bring all changes of the only workspace home
  offshoot commit fix                          or of workspace fix
  offshoot commit -w fix -m \"Fix the parser\"
  offshoot commit -w fix --dry-run             show what would come home
  offshoot commit -w fix --only src --exclude '*.log'
  offshoot commit -w fix -p                    choose hunk by hunk
  offshoot commit -w fix --ignored             build output too
  offshoot commit -w fix --git -m \"Fix it\"     and make a git commit of it
  offshoot undo -w fix                         undo it, in the folder too

Changes that were made in the folder meanwhile are merged. If both sides changed the same lines,
commit writes nothing and exits with 4; `offshoot pull -w fix` brings both versions into the
workspace. Ignored files (.gitignore), setuid bits, git hooks and git configuration stay in the
workspace unless you ask for them.

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
        conflicts_with_all = ["message", "dry_run", "only", "exclude", "patch", "ignored", "allow", "git"]
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
            Some(text) => {
                let text = text.replace('\'', r"'\''");
                error.hint(format!("to describe the commit: `offshoot commit -m '{text}'`"))
            }
            None => error,
        }
    })?;
    // Where hunks are asked about, keys end it.
    let watch = match args.patch {
        true => None,
        false => Some(Watch::start(context, interrupt::NOTHING)?),
    };
    let told = |event: &_| {
        if let (HomeEvent::Changing, Some(watch)) = (event, &watch) {
            watch.say(HALF_CHANGED);
        }
        context.engine.tell_event(event);
    };
    let options = context.engine.home_options(&told);
    let mut selection = selection(args, &context.standing(vault)?)?;
    if args.patch {
        let picked = pick::pick(context, vault, &workspace, &selection, args.expand)?;
        let Some(choices) = picked else { return Ok(()) };
        selection.choices = choices;
    }
    let about = About {
        message: args.message.as_deref(),
        dry_run: args.dry_run,
        git: args.git,
        author: args.author.as_deref(),
        expand: args.expand,
    };
    bring_home(context, vault, &workspace, selection, options, &about)
}

/// What else is said about a commit.
#[derive(Default)]
pub(crate) struct About<'a> {
    /// What is said in it.
    pub(crate) message: Option<&'a str>,
    /// Whether only what would come home is wanted.
    pub(crate) dry_run: bool,
    /// Whether git gets a commit of it as well.
    pub(crate) git: bool,
    /// Who made that one.
    pub(crate) author: Option<&'a str>,
    /// Whether all files are listed.
    pub(crate) expand: ExpandArgs,
}

/// Brings home what was selected, and says what came of it.
pub(crate) fn bring_home(
    context: &Context,
    vault: &Vault,
    workspace: &Workspace,
    selection: Selection<'_>,
    mut options: HomeOptions<'_>,
    about: &About<'_>,
) -> Result<()> {
    // One thing that turns is enough.
    options.import.progress = None;
    let diff = context.engine.diff_options();
    let tracked = context.engine.tracked(vault)?;
    let is_tracked = |path: &_| Ok(tracked.has(path));
    let puller = PullService::new(vault, context.actor(), options.clone(), diff);
    let puller = puller.tracking(&is_tracked);
    let service = CommitService::new(vault, context.actor(), options, diff);
    let request = CommitRequest {
        workspace,
        message: about.message,
        selection: Selection { tracked: &is_tracked, ..selection },
        dry_run: about.dry_run,
        times: context.config().commit.times,
        git: about.git.then(|| GitAsked { author: about.author.map(str::to_owned) }),
    };
    let progress = context.config().ui.progress;
    let waiting = Patience::new(progress, context.is_silent(), "writing files to the folder");
    // What an interrupted command left out comes first: it is older.
    let owed = match about.git && !about.dry_run {
        true => service.owed(workspace)?,
        false => None,
    };
    let named = owed.as_ref().and_then(|owed| owed.asked.author.as_deref());
    let late = match &owed {
        Some(owed) => {
            let prepared = git::Prepared::new(context, vault, named.or(about.author))?;
            Some(make_late(context, vault, workspace, &prepared, &puller, &owed.outcome)?)
        }
        None => None,
    };
    let prepared = match about.git {
        true => Some(git::Prepared::new(context, vault, about.author.or(named))?),
        false => None,
    };
    // What a dry run stores is looked at once more at the end.
    let held = match about.dry_run {
        true => Some(vault.hold()?),
        false => None,
    };
    if let Some(prepared) = &prepared {
        let dry = CommitRequest { dry_run: true, ..request.clone() };
        prepared.check(vault, &service.commit(&dry)?, about.dry_run)?;
    }
    let outcome = service.commit(&request)?;
    drop((waiting, service));
    let came_home = outcome.operation.is_some();
    let made = match prepared {
        Some(prepared) if came_home => {
            Some(prepared.commit(vault, context.actor(), workspace.id, &outcome)?)
        }
        Some(prepared) if about.dry_run && outcome.conflicts.is_empty() => {
            Some(prepared.planned(vault, &outcome))
        }
        _ => None,
    };
    drop(held);
    let followed = made.as_ref().and_then(|made| made.follow(&puller, workspace, &outcome));
    drop(puller);
    // What is said is what there is at the end.
    let mut end = outcome.clone();
    end.git.notes.retain(|note| !made.as_ref().is_some_and(|made| made.settles(note)));
    let behind = matches!(made, Some(git::Made::Commit(_))) && followed.is_none();
    if let Some(GitFollowed { brought, root, git }) = followed {
        // A commit that merges nothing is told in a line of its own.
        if end.git.notes.len() < outcome.git.notes.len() {
            (end.brought, end.after) = (brought, root);
        }
        end.workspace_git.notes.extend(git.notes);
    }
    let mut noise = context.noise(vault, &[end.before, end.after], about.expand)?;
    let text = summary::text(&end, noise.as_mut())?;
    if behind {
        let name = &outcome.workspace;
        context.output.note(format!(
            "{name} does not have the git commit yet: `offshoot pull -w {name}` brings it"
        ));
    }
    let earlier = late.as_ref().filter(|_| made.is_some()).map(git::Made::text);
    let text = earlier.unwrap_or_default() + &text;
    let said = made.as_ref().or(late.as_ref());
    let document = CommitDoc {
        git: said.map(git::Made::document),
        repositories: wire::repositories(&end.git),
        workspace_repositories: wire::repositories(&end.workspace_git),
        ..wire::commit(&outcome)
    };
    report(context, &outcome, said, document, &text)?;
    context.engine.tell_git_due(vault);
    Ok(())
}

/// Makes the git commit of what came home before, where a command was interrupted before that.
fn make_late(
    context: &Context,
    vault: &Vault,
    workspace: &Workspace,
    prepared: &git::Prepared,
    puller: &PullService<'_>,
    outcome: &CommitOutcome,
) -> Result<git::Made> {
    match prepared.commit_late(vault, context.actor(), workspace.id, outcome)? {
        git::Made::Failed(error) => {
            let what = "no git commit was made of what came home before";
            Err(CliError { message: format!("{what}: {}", error.message), ..error })
        }
        made => {
            // Where it does not follow, the workspace gets it with the commit that comes now, or by a pull.
            drop(made.follow(puller, workspace, outcome));
            Ok(made)
        }
    }
}

fn selection(args: &CommitArgs, standing: &Standing) -> Result<Selection<'static>> {
    let patterns = |texts: &[OsString]| -> Result<Vec<PathPattern>> {
        let parsed = texts.iter().map(|text| standing.pattern(text.as_bytes()));
        Ok(parsed.collect::<offshoot_workspace::Result<_>>()?)
    };
    let allows = |what: Allowed| args.allow.contains(&what);
    Ok(Selection {
        only: patterns(&args.only)?,
        exclude: patterns(&args.exclude)?,
        ignored: args.ignored,
        allow: Allow {
            setuid: allows(Allowed::Setuid),
            git: allows(Allowed::Git),
            markers: allows(Allowed::Markers),
        },
        ..Selection::default()
    })
}

fn report(
    context: &Context,
    outcome: &CommitOutcome,
    made: Option<&git::Made>,
    document: CommitDoc,
    summary: &str,
) -> Result<()> {
    context.engine.tell_skipped(&outcome.report);
    for pattern in &outcome.unmatched {
        context.output.note(format!("nothing that changed fits --only {pattern}"));
    }
    for pattern in &outcome.parts_of_git {
        context.output.note(format!(
            "{pattern} names a part of a git directory, which comes home as a whole: `--exclude .git` leaves it out, `--only .git` takes it"
        ));
    }
    let text = |_: &_| {
        let git = made.map(git::Made::text).unwrap_or_default();
        format!("{summary}{git}")
    };
    match document.exit_code().is_success() {
        true => context.output.done(document, text),
        false => context.output.data(document, text),
    }
}
