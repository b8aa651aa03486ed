//! A git commit of what reached the folder.

use offshoot_store::Id;
use offshoot_tree::VaultPath;
use offshoot_vault::{Actor, Vault, WorkspaceRecord};
use offshoot_workspace::git::{
    CommittedChanges, GitCommit, GitCommitMessage, GitCommitted, GitError, GitEvent, GitFolder,
    GitNote, announce_git_commit, forget_git_due, record_git_commit,
};
use offshoot_workspace::{CommitOutcome, GitFollowed, PullService, ServiceError};

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;

/// What became of a git commit that was asked for.
///
/// ```
/// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
/// use offshoot_engine::commit::{Commit, GitOutcome};
///
/// let outcome = workspace.commit(Commit::new("Fix the parser").git())?;
/// if let Some(GitOutcome::Failed(error)) = outcome.git {
///     println!("the files reached the folder, but there is no git commit: {error}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub enum GitOutcome {
    /// There is a new commit.
    Commit(GitCommitted),
    /// Git has everything already, or can see nothing of it.
    Nothing,
    /// The files reached the folder, and the commit was not made.
    Failed(Error),
    /// There would be a new commit.
    Planned(GitCommitted),
    /// There would be none.
    NothingPlanned,
    /// The files would reach the folder, and the commit would not be made.
    Failing(Error),
}

impl GitOutcome {
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
        workspace: &WorkspaceRecord,
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
}

/// A git commit about to be made, in the repository that the first folder is in.
#[derive(Debug)]
pub(super) struct Prepared(GitCommit);

impl Prepared {
    /// Looks at the repository before anything reaches the folder.
    pub(super) fn new(engine: &Offshoot, vault: &Vault, author: Option<&str>) -> Result<Self> {
        let folder = GitFolder::require(&crate::git::folder(vault)?, &engine.git(author)?)?;
        Ok(Self(GitCommit::prepare(folder)?))
    }

    /// Whether there are changes in the folder that git has not committed.
    pub(super) fn is_uncommitted(&self) -> Result<bool> {
        Ok(self.0.is_uncommitted()?)
    }

    /// Fails where a commit of what would reach the folder held more than that, and where what reached the folder before cannot be merged.
    pub(super) fn check(
        &self,
        vault: &Vault,
        outcome: &CommitOutcome,
        dry_run: bool,
    ) -> Result<()> {
        let top = VaultPath::top();
        let came = committed_changes(outcome, &top);
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
    pub(super) fn planned(&self, vault: &Vault, outcome: &CommitOutcome) -> GitOutcome {
        let top = VaultPath::top();
        let came = committed_changes(outcome, &top);
        match self.0.plan(vault, &came, &words(outcome)) {
            Ok(Some(made)) => GitOutcome::Planned(made),
            Ok(None) => GitOutcome::NothingPlanned,
            Err(error) => GitOutcome::Failing(error.into()),
        }
    }

    /// Makes the commit, and remembers it for undo.
    pub(super) fn commit(
        &self,
        vault: &Vault,
        actor: &Actor,
        workspace: Id,
        outcome: &CommitOutcome,
    ) -> Result<GitOutcome> {
        let top = VaultPath::top();
        let about_to = |made: &_| announce_git_commit(vault, actor, &workspace, made);
        let made =
            self.0.commit(vault, &committed_changes(outcome, &top), &words(outcome), &about_to);
        // Where it failed, it is still to be made.
        record(made, vault, actor, workspace, outcome)
    }

    /// Makes the commit of what reached the folder before, by a command that died before that.
    pub(super) fn commit_late(
        &self,
        vault: &Vault,
        actor: &Actor,
        workspace: Id,
        outcome: &CommitOutcome,
    ) -> Result<GitOutcome> {
        let top = VaultPath::top();
        let about_to = |made: &_| announce_git_commit(vault, actor, &workspace, made);
        let came = committed_changes(outcome, &top);
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
) -> Result<GitOutcome> {
    match (made, &outcome.operation) {
        (Ok(Some(made)), Some(operation)) => {
            record_git_commit(vault, actor, operation, workspace, &made)?;
            Ok(GitOutcome::Commit(made))
        }
        (Ok(Some(made)), None) => Ok(GitOutcome::Commit(made)),
        (Ok(None), _) => {
            forget_git_due(vault, actor, &workspace)?;
            Ok(GitOutcome::Nothing)
        }
        (Err(error), _) => Ok(GitOutcome::Failed(error.into())),
    }
}

fn committed_changes<'a>(outcome: &'a CommitOutcome, at: &'a VaultPath) -> CommittedChanges<'a> {
    let CommitOutcome { brought: changes, offered, tip, before, after, git, .. } = outcome;
    let (offered, workspace) = (*offered, *tip);
    CommittedChanges { at, changes, offered, workspace, before: *before, after: *after, git }
}

fn words(outcome: &CommitOutcome) -> GitCommitMessage<'_> {
    let (message, workspace) = (&outcome.message, &outcome.workspace);
    GitCommitMessage { message, workspace, execs: &outcome.execs }
}
