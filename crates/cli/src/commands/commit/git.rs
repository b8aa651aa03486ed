//! `offshoot commit --git`: a git commit of what came home.

use offshoot_protocol::GitOutcomeDoc;
use offshoot_vault::{Actor, Id, Vault, VaultPath, Workspace};
use offshoot_workspace::git::{
    CameHome, GitCommit, GitCommitted, GitError, GitEvent, GitFolder, GitNote, GitWords,
    announce_git_commit, forget_git_due, record_git_commit,
};
use offshoot_workspace::{CommitOutcome, GitFollowed, PullService, ServiceError, wire};

use crate::context::Context;
use crate::error::{CliError, Result, body, shown};
use crate::render::{self, BAD, DIM, GOOD, NAME, WARN, paint};

/// A git commit about to be made, in the repository that the first folder is in.
#[derive(Debug)]
pub(super) struct Prepared(GitCommit);

/// What became of it.
#[derive(Debug)]
pub(super) enum Made {
    /// There is a new commit.
    Commit(GitCommitted),
    /// Git has everything already, or can see nothing of it.
    Nothing,
    /// The files came home, and the commit was not made.
    Failed(CliError),
    /// There would be a new commit.
    Planned(GitCommitted),
    /// There would be none.
    NothingPlanned,
    /// The files would come home, and the commit would not be made.
    Failing(CliError),
}

impl Prepared {
    /// Looks at the repository before anything comes home.
    pub(super) fn new(context: &Context, vault: &Vault, author: Option<&str>) -> Result<Self> {
        let options = context.engine.git(author)?;
        let folder = offshoot_engine::git::folder(vault)?;
        let folder = GitFolder::require(&folder, &options)?;
        Ok(Self(GitCommit::prepare(folder)?))
    }

    /// Fails where a commit of what would come home held more than that, and where what came home before cannot be merged.
    pub(super) fn check(
        &self,
        vault: &Vault,
        outcome: &CommitOutcome,
        dry_run: bool,
    ) -> Result<()> {
        let top = VaultPath::top();
        let came = came_home(outcome, &top);
        self.0.check(vault, &came)?;
        if outcome.brought.is_empty() && outcome.git.notes.is_empty() {
            self.0.check_left(&outcome.workspace)?;
        }
        match dry_run {
            true => Ok(self.0.check_planned_join(vault, &came)?),
            false => Ok(self.0.check_join(vault, &came)?),
        }
    }

    /// The commit that would be made.
    pub(super) fn planned(&self, vault: &Vault, outcome: &CommitOutcome) -> Made {
        let top = VaultPath::top();
        let came = came_home(outcome, &top);
        match self.0.plan(vault, &came, &words(outcome)) {
            Ok(Some(made)) => Made::Planned(made),
            Ok(None) => Made::NothingPlanned,
            Err(error) => Made::Failing(shown(error.into())),
        }
    }

    /// Makes the commit, and remembers it for undo.
    pub(super) fn commit(
        &self,
        vault: &Vault,
        actor: &Actor,
        workspace: Id,
        outcome: &CommitOutcome,
    ) -> Result<Made> {
        let top = VaultPath::top();
        let about_to = |made: &_| announce_git_commit(vault, actor, &workspace, made);
        let made = self.0.commit(vault, &came_home(outcome, &top), &words(outcome), &about_to);
        // Where it failed, it is still to be made.
        record(made, vault, actor, workspace, outcome)
    }

    /// Makes the commit of what came home before, by a command that died before that.
    pub(super) fn commit_late(
        &self,
        vault: &Vault,
        actor: &Actor,
        workspace: Id,
        outcome: &CommitOutcome,
    ) -> Result<Made> {
        let top = VaultPath::top();
        let about_to = |made: &_| announce_git_commit(vault, actor, &workspace, made);
        let came = came_home(outcome, &top);
        let made = self.0.commit_late(vault, &came, &words(outcome), &about_to);
        let moved_on = matches!(&made, Err(ServiceError::Git(GitError::MovedOn(_))));
        let made = record(made, vault, actor, workspace, outcome)?;
        if moved_on {
            // It can never be made any more, and the person is told: what is to become of it is up to them.
            forget_git_due(vault, actor, &workspace)?;
        }
        Ok(made)
    }
}

/// Remembers what became of a commit.
fn record(
    made: offshoot_workspace::Result<Option<GitCommitted>>,
    vault: &Vault,
    actor: &Actor,
    workspace: Id,
    outcome: &CommitOutcome,
) -> Result<Made> {
    match (made, &outcome.operation) {
        (Ok(Some(made)), Some(operation)) => {
            record_git_commit(vault, actor, operation, workspace, &made)?;
            Ok(Made::Commit(made))
        }
        (Ok(Some(made)), None) => Ok(Made::Commit(made)),
        (Ok(None), _) => {
            forget_git_due(vault, actor, &workspace)?;
            Ok(Made::Nothing)
        }
        (Err(error), _) => Ok(Made::Failed(shown(error.into()))),
    }
}

impl Made {
    /// Whether it settles what was said about repositories before: commits that were kept apart are merged, and what is checked out moved.
    pub(super) fn settles(&self, note: &GitNote) -> bool {
        let (Self::Commit(made) | Self::Planned(made)) = self else { return false };
        let is_merged =
            note.event.kept_as().is_some_and(|kept| Some(kept) == made.merged.as_deref());
        let is_head = note.name == "HEAD" && matches!(note.event, GitEvent::CheckoutStayed(_));
        is_merged || (is_head && note.repository.names().len() == 1)
    }

    /// Brings the commit into the workspace too. Whatever keeps it from that, such as a command that started meanwhile, a pull does it later.
    pub(super) fn follow(
        &self,
        service: &PullService<'_>,
        workspace: &Workspace,
        outcome: &CommitOutcome,
    ) -> Option<GitFollowed> {
        match self {
            Self::Commit(_) => {
                let sides = [&outcome.before, &outcome.after];
                service.follow_git(workspace, sides).unwrap_or_default()
            }
            _ => None,
        }
    }

    pub(super) fn document(&self) -> GitOutcomeDoc {
        match self {
            Self::Commit(made) => wire::git_commit(Some(made), None),
            Self::Nothing | Self::NothingPlanned => wire::git_commit(None, None),
            Self::Failed(error) | Self::Failing(error) => wire::git_commit(None, Some(body(error))),
            Self::Planned(made) => {
                let known = Some(made.commit.clone()).filter(|_| !made.is_new);
                GitOutcomeDoc { commit: known, ..wire::git_commit(Some(made), None) }
            }
        }
    }

    /// What is said about it.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Commit(made) => {
                let id = paint(WARN, made.commit.get(..12).unwrap_or(&made.commit));
                let what = if made.is_new { "git commit" } else { "fast-forward to" };
                let merges = merges(made, ["it merges ", "is"]);
                let skipped = skipped(made, ["hooks were not run", "it is not signed"]);
                format!("{} {id} {}{merges}\n{skipped}", paint(GOOD, what), on(made))
            }
            Self::Planned(made) => {
                let id = made.commit.get(..12).unwrap_or(&made.commit);
                let what = match made.is_new {
                    true => "would make a git commit".to_owned(),
                    false => format!("would fast-forward to {}", paint(WARN, id)),
                };
                let merges = merges(made, ["it would merge ", "would be"]);
                let skipped = skipped(made, ["hooks will not run", "it will not be signed"]);
                format!("{what} {}{merges}\n{skipped}", on(made))
            }
            Self::NothingPlanned => {
                "would make no git commit: there is nothing in it for git\n".to_owned()
            }
            Self::Failing(error) => {
                let why = format!("would make no git commit: {}", error.message);
                let next = error.hint.as_deref().map(|hint| format!("next: {hint}\n"));
                format!("{}\n{}", render::line(&why), paint(DIM, &next.unwrap_or_default()))
            }
            Self::Nothing => "no git commit: there is nothing in it for git\n".to_owned(),
            Self::Failed(error) => {
                let why = format!(
                    "the files are in the folder, but no git commit was made: {}",
                    error.message
                );
                let next = "`git add` and `git commit` in the folder";
                let next = format!("next: {}", error.hint.as_deref().unwrap_or(next));
                format!("{} {}\n{}\n", paint(BAD, "git:"), render::line(&why), paint(DIM, &next))
            }
        }
    }
}

/// What a commit moves, and how many files it changes.
fn on(made: &GitCommitted) -> String {
    let files = render::count(made.files, "file");
    let named = |branch: &str| format!("branch {}", paint(NAME, &render::line(branch)));
    let place = made.branch.as_deref().map_or_else(|| "HEAD".to_owned(), named);
    format!("on {place}: {files}")
}

/// The ref whose commits it has, and that goes unless somebody uses it.
fn merges(made: &GitCommitted, [merges, is]: [&str; 2]) -> String {
    let (Some(name), Some(tip)) = (&made.merged, &made.merged_commit) else { return String::new() };
    let name = render::line(name.strip_prefix("refs/heads/").unwrap_or(name));
    let tip = tip.get(..12).unwrap_or(tip);
    match (made.is_new, made.merged_stays) {
        (true, false) => format!("; {merges}{name}, which {is} gone (it was at {tip})"),
        (false, false) => format!("; {name} {is} gone"),
        (true, true) => format!("; {merges}{name}, which stays: a working tree uses it"),
        (false, true) => format!("; {name} stays: a working tree uses it"),
    }
}

/// Lines about what git would have done with a commit, and was not done.
fn skipped(made: &GitCommitted, [hooks, signed]: [&str; 2]) -> String {
    let hooks = (!made.hooks.is_empty()).then(|| format!("  {hooks}: {}", made.hooks.join(", ")));
    let signed = made.unsigned.then(|| format!("  {signed}, though commit.gpgSign is set"));
    let lines = hooks.into_iter().chain(signed);
    lines.map(|line| format!("{}\n", paint(DIM, &line))).collect()
}

fn came_home<'a>(outcome: &'a CommitOutcome, at: &'a VaultPath) -> CameHome<'a> {
    let CommitOutcome { brought: changes, offered, tip, before, after, git, .. } = outcome;
    let (offered, workspace) = (*offered, *tip);
    CameHome { at, changes, offered, workspace, before: *before, after: *after, git }
}

fn words(outcome: &CommitOutcome) -> GitWords<'_> {
    let (message, workspace) = (&outcome.message, &outcome.workspace);
    GitWords { message, workspace, execs: &outcome.execs }
}
