//! The history of a vault: what happened, and taking it back.

use offshoot_store::{Id, RefChange};
use offshoot_vault::{
    Actor, Operation, OperationLog, Reverted, Scope, Snapshot, Transaction, Vault, WorkspaceShare,
    WorkspaceState,
};

use crate::commit::{CommitOptions, Reverter, is_commit, settle_interrupted};
use crate::error::{Result, ServiceError};
use crate::git::{FOLLOW, GitOptions, GitReport, git_due_of};
use crate::moved_files::MovedFiles;
use crate::workspace_lock::share_workspace;

/// One snapshot of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// Names that point at it: workspaces, checkpoints, head.
    pub names: Vec<String>,
}

/// What an undo or redo did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reversal {
    /// The operation that was taken back or brought back.
    pub target: Operation,
    /// The operation that did it.
    pub operation: Id,
    /// What became of repositories in the folders.
    pub git: GitReport,
}

/// Reads the log, undoes and redoes.
#[derive(Debug)]
pub struct HistoryService<'a> {
    vault: &'a Vault,
    actor: Actor,
    commit_options: CommitOptions<'a>,
    git: Option<GitOptions>,
}

impl<'a> HistoryService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor) -> Self {
        Self { vault, actor: actor.clone(), commit_options: CommitOptions::default(), git: None }
    }

    /// Says how folders are changed where a commit is taken back or brought back.
    #[must_use]
    pub fn with_commit_options(mut self, options: CommitOptions<'a>) -> Self {
        self.commit_options = options;
        self
    }

    /// Says how git is run where a commit comes with a git commit; without it, that one stays.
    #[must_use]
    pub fn with_git(mut self, git: GitOptions) -> Self {
        self.git = Some(git);
        self
    }

    /// A snapshot and what came before it, newest first, with the names that point at each.
    pub fn log(&self, from: &Snapshot, limit: usize) -> Result<Vec<LogEntry>> {
        let names = self.names()?;
        let named = |snapshot: Snapshot| {
            let here = names.iter().filter(|(id, _)| *id == snapshot.id);
            LogEntry { names: here.map(|(_, name)| name.clone()).collect(), snapshot }
        };
        let snapshots = self.vault.ancestry(from.id, limit)?;
        Ok(snapshots.into_iter().map(named).collect())
    }

    fn names(&self) -> Result<Vec<(Id, String)>> {
        let workspaces = self.vault.workspaces()?;
        let mut names = vec![(self.vault.head()?.id, "head".to_owned())];
        names.extend(workspaces.iter().map(|w| (w.state.head, w.name.clone())));
        for checkpoint in self.vault.checkpoints()? {
            let workspace = workspaces.iter().find(|w| w.id == checkpoint.workspace);
            let workspace = workspace.map_or("?", |w| w.name.as_str());
            names.push((checkpoint.state.snapshot, format!("{workspace}@{}", checkpoint.name)));
        }
        Ok(names)
    }

    /// The operation log, newest first, as far as its records are legible.
    pub fn operations(&self, scope: Scope, limit: u32) -> Result<OperationLog> {
        Ok(self.vault.operation_log(scope, limit)?)
    }

    /// Takes back the last operation of the scope that stands. A commit takes the folders back as well.
    pub fn undo(&self, scope: Scope) -> Result<Reversal> {
        self.settle()?;
        let target = self.vault.undo_target(scope)?;
        if target.kind == FOLLOW {
            return self.undo_followed(&target);
        }
        match is_commit(&target) {
            true => self.revert_commit(&target, false),
            false => {
                let _shared = self.share(target.workspace)?;
                Ok(self.undo_refs(&target, scope)?.into())
            }
        }
    }

    /// The workspaces that an operation made, changed or removed and that are not there now, by name: taking back the first operation of
    /// one takes back the workspace.
    pub fn gone(&self, operation: &Operation) -> Result<Vec<String>> {
        let mut gone = Vec::new();
        for change in operation.changes.iter().filter(|change| change.key.kind == "workspace") {
            let row = change.after.as_ref().or(change.before.as_ref());
            let name = row.and_then(|row| row.name.clone());
            let id: Option<Id> = change.key.id.parse().ok();
            if let (Some(id), Some(name)) = (id, name)
                && self.vault.workspace(&id)?.is_none()
            {
                gone.push(name);
            }
        }
        Ok(gone)
    }

    /// Brings back what the last undo took back. A commit changes the folders again.
    pub fn redo(&self, scope: Scope) -> Result<Reversal> {
        self.settle()?;
        let target = self.vault.redo_target(scope)?;
        match is_commit(&target) {
            true => {
                let reversal = self.revert_commit(&target, true)?;
                self.redo_followed(&target)?;
                Ok(reversal)
            }
            false => {
                let git = self.make_up(&target)?;
                let _shared = self.share(target.workspace)?;
                Ok(Reversal { git, ..self.redo_refs(&target, scope)?.into() })
            }
        }
    }

    /// Brings the git commit back before the workspace gets it again, where a redo was interrupted between the files and git.
    fn make_up(&self, target: &Operation) -> Result<GitReport> {
        let workspace = target.workspace.filter(|_| target.kind == FOLLOW);
        let due = workspace.map(|id| git_due_of(self.vault, &id)).transpose()?.flatten();
        match due {
            Some(due) => self.reverter().make_up(&self.vault.operation(&due.commit)?),
            None => Ok(GitReport::default()),
        }
    }

    /// Takes a commit back whose git commit the workspace has.
    fn undo_followed(&self, followed: &Operation) -> Result<Reversal> {
        // What else happened in the vault between the two does not matter.
        let scope = followed.workspace.map_or(Scope::Vault, Scope::Workspace);
        {
            let _shared = self.share(followed.workspace)?;
            self.undo_refs(followed, scope)?;
        }
        let reversal = self.undo(scope);
        if reversal.is_err() {
            self.redo_followed(followed)?;
        }
        reversal
    }

    /// Gives the workspace of an operation its git commit again, if that is what was taken back before.
    fn redo_followed(&self, operation: &Operation) -> Result<()> {
        let scope = operation.workspace.map_or(Scope::Vault, Scope::Workspace);
        match self.vault.redo_target(scope) {
            Ok(target) if target.kind == FOLLOW => {
                let _shared = self.share(target.workspace)?;
                self.redo_refs(&target, scope)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes back what moved refs alone, with the files that this changes in the audit log.
    fn undo_refs(&self, target: &Operation, scope: Scope) -> Result<Reverted> {
        let back: Vec<RefChange> = target.changes.iter().map(RefChange::reversed).collect();
        let files = MovedFiles::new(self.vault).expecting(&back);
        Ok(self.vault.undo_and(scope, &self.actor, |tx| files.note(tx))?)
    }

    /// Brings back what moved refs alone, in the same way.
    fn redo_refs(&self, target: &Operation, scope: Scope) -> Result<Reverted> {
        let files = MovedFiles::new(self.vault).expecting(&target.changes);
        Ok(self.vault.redo_and(scope, &self.actor, |tx| files.note(tx))?)
    }

    /// Takes a commit back, or brings it back, and the git commit that was made of it.
    fn revert_commit(&self, target: &Operation, redo: bool) -> Result<Reversal> {
        let (reverted, git) = self.reverter().revert(target, redo)?;
        Ok(Reversal { git, ..reverted.into() })
    }

    /// Makes everything what it was right after an operation. Folders stay as they are.
    pub fn restore(&self, operation: &Operation, scope: Scope) -> Result<Option<Id>> {
        self.settle()?;
        if let Scope::Workspace(id) = scope {
            self.require_same(operation, &id)?;
        }
        let _shared = self.share(match scope {
            Scope::Workspace(id) => Some(id),
            Scope::Vault => None,
        })?;
        let files = MovedFiles::new(self.vault);
        let note = |tx: &mut Transaction<'_, '_>| files.note(tx);
        Ok(self.vault.restore_operation_and(&operation.id, scope, &self.actor, note)?)
    }

    /// Settles what was interrupted in the folders: what it is to record must not be overtaken.
    fn settle(&self) -> Result<()> {
        settle_interrupted(self.vault, &self.actor, &self.commit_options)
    }

    /// Fails where an operation is of an earlier workspace of the same name: that one is meant, and not that there was none of
    /// this id then.
    fn require_same(&self, operation: &Operation, id: &Id) -> Result<()> {
        let name = match self.vault.workspace(id)? {
            Some(now) => Some(now.name),
            None => self.last_name(id)?,
        };
        let Some(name) = name else { return Ok(()) };
        let named = |change: &&RefChange| {
            let after = change.after.as_ref().and_then(|row| row.name.as_deref());
            change.key.kind == "workspace" && after == Some(&*name)
        };
        let changed = operation.changes.iter().find(named);
        let Some(other) = changed.filter(|change| change.key.id != id.to_string()) else {
            return Ok(());
        };
        let row = other.after.as_ref().map_or("", |row| &row.value);
        let state: WorkspaceState = serde_json::from_str(row)
            .map_err(|error| ServiceError::Internal(format!("{}: {error}", operation.id)))?;
        let (operation, workspace, snapshot) = (operation.id, name, state.head);
        Err(ServiceError::EarlierWorkspace { operation, workspace, snapshot })
    }

    /// What a workspace that is gone was called last.
    fn last_name(&self, id: &Id) -> Result<Option<String>> {
        let id_text = id.to_string();
        let last = self.vault.operations(Scope::Workspace(*id), None, 1)?;
        let mut changes = last.iter().flat_map(|operation| &operation.changes);
        let change = changes.find(|c| c.key.kind == "workspace" && c.key.id == id_text);
        let row = change.and_then(|change| change.after.as_ref().or(change.before.as_ref()));
        Ok(row.and_then(|row| row.name.clone()))
    }

    /// Keeps commands out of a workspace, or out of all where an operation belongs to none alone.
    fn share(&self, only: Option<Id>) -> Result<Vec<WorkspaceShare>> {
        let mut workspaces = self.vault.workspaces()?;
        workspaces.retain(|workspace| only.is_none_or(|id| workspace.id == id));
        workspaces.iter().map(|workspace| share_workspace(self.vault, workspace)).collect()
    }

    fn reverter(&self) -> Reverter<'_> {
        let (vault, actor, options) = (self.vault, &self.actor, &self.commit_options);
        Reverter { vault, actor, options, git: self.git.as_ref() }
    }
}

impl From<Reverted> for Reversal {
    fn from(reverted: Reverted) -> Self {
        let Reverted { target, operation } = reverted;
        Self { target, operation, git: GitReport::default() }
    }
}
