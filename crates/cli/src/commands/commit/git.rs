//! `offshoot commit --git`: a git commit of what came home.

use offshoot_protocol::{ErrorBody, GitOutcomeDoc};
use offshoot_vault::{Actor, Id, Vault, VaultPath, Workspace};
use offshoot_workspace::git::{
    CameHome, GitCommit, GitCommitted, GitEvent, GitFolder, GitNote, GitWords, TrackedPaths,
    record_git_commit,
};
use offshoot_workspace::{CommitOutcome, GitFollowed, PullService, wire};

use crate::error::{CliError, Result};
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
}

/// Which files git tracks, in all folders; asked when it matters.
pub(crate) fn tracked(vault: &Vault) -> Result<TrackedPaths> {
    let folders = vault.bindings()?.iter().map(|b| (b.at(), b.host_path())).collect();
    Ok(TrackedPaths::new(folders, crate::git::options(None)?))
}

impl Prepared {
    /// Looks at the repository before anything comes home.
    pub(super) fn new(vault: &Vault, author: Option<&str>) -> Result<Self> {
        let options = crate::git::options(author)?;
        let folder = crate::git::folder(vault)?;
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
        match dry_run {
            true => Ok(()),
            false => Ok(self.0.check_join(vault, &came)?),
        }
    }

    /// What is said of the commit that would be made.
    pub(super) fn planned(&self, vault: &Vault, outcome: &CommitOutcome) -> Result<String> {
        let planned = self.0.plan(vault, &came_home(outcome, &VaultPath::top()))?;
        let Some(planned) = planned else {
            return Ok("would make no git commit: git sees nothing of it\n".to_owned());
        };
        let (on, files) = (place(planned.branch.as_deref()), render::count(planned.files, "file"));
        let hooks = hooks(&planned.hooks, "hooks will not run");
        Ok(format!("would make a git commit on {on}: {files}\n{hooks}"))
    }

    /// Makes the commit, and remembers it for undo.
    pub(super) fn commit(
        &self,
        vault: &Vault,
        actor: &Actor,
        workspace: Id,
        outcome: &CommitOutcome,
    ) -> Result<Made> {
        let execs = &outcome.execs;
        let words = GitWords { message: &outcome.message, workspace: &outcome.workspace, execs };
        let made = match self.0.commit(vault, &came_home(outcome, &VaultPath::top()), &words) {
            Ok(Some(made)) => made,
            Ok(None) => return Ok(Made::Nothing),
            Err(error) => return Ok(Made::Failed(error.into())),
        };
        if let Some(operation) = &outcome.operation {
            record_git_commit(vault, actor, operation, workspace, &made)?;
        }
        Ok(Made::Commit(made))
    }
}

impl Made {
    /// Whether it settles what was said about repositories before: commits that were kept apart are merged, and what is checked out moved.
    pub(super) fn settles(&self, note: &GitNote) -> bool {
        let Self::Commit(made) = self else { return false };
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
            Self::Nothing => wire::git_commit(None, None),
            Self::Failed(error) => wire::git_commit(None, Some(body(error))),
        }
    }

    /// What is said about it.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Commit(made) => {
                let files = render::count(made.files, "file");
                let on = place(made.branch.as_deref());
                let id = made.commit.get(..12).unwrap_or(&made.commit);
                let what = if made.is_new { "git commit" } else { "fast-forward to" };
                let line = format!("{} {} on {on}: {files}", paint(GOOD, what), paint(WARN, id));
                let merges = made.merged.as_deref().filter(|_| made.is_new).map(|name| {
                    let name = name.strip_prefix("refs/heads/").unwrap_or(name);
                    format!("; it merges {}, which is gone", render::line(name))
                });
                let hooks = hooks(&made.hooks, "hooks were not run");
                format!("{line}{}\n{hooks}", merges.unwrap_or_default())
            }
            Self::Nothing => "no git commit: git has everything already\n".to_owned(),
            Self::Failed(error) => {
                let why =
                    format!("the files came home, and no git commit was made: {}", error.message);
                let next = "`git add` and `git commit` in the folder";
                let next = format!("way on: {}", error.hint.as_deref().unwrap_or(next));
                format!("{} {}\n{}\n", paint(BAD, "git:"), render::line(&why), paint(DIM, &next))
            }
        }
    }
}

/// What a commit moves.
fn place(branch: Option<&str>) -> String {
    let named = |branch: &str| format!("branch {}", paint(NAME, &render::line(branch)));
    branch.map_or_else(|| "HEAD".to_owned(), named)
}

/// A line about hooks, where there are any.
fn hooks(hooks: &[String], what: &str) -> String {
    match hooks {
        [] => String::new(),
        hooks => format!("{}\n", paint(DIM, &format!("  {what}: {}", hooks.join(", ")))),
    }
}

fn came_home<'a>(outcome: &'a CommitOutcome, at: &'a VaultPath) -> CameHome<'a> {
    let CommitOutcome { brought: changes, offered, after, git, .. } = outcome;
    CameHome { at, changes, offered: *offered, after: *after, git }
}

fn body(error: &CliError) -> ErrorBody {
    error.body()
}
