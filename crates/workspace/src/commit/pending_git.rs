//! Commits whose git commit is still to be made, since whoever was at it died.

use offshoot_store::Id;
use offshoot_tree::VaultPath;
use offshoot_vault::{ImportReport, WorkspaceRecord};
use serde_json::Value;

use super::commit_refs::CommitRefs;
use super::outcome::CommitOutcome;
use super::service::CommitService;
use super::settle::settle_interrupted;
use crate::error::Result;
use crate::git::{
    CommittedChanges, DueGitCommit, GitCommit, GitCommitRequest, GitFolder, GitOptions, GitReport,
    forget_git_due, git_due_of,
};

/// A commit whose git commit is still to be made.
#[derive(Clone, Debug)]
pub struct PendingGitCommit {
    /// What the commit did.
    pub outcome: CommitOutcome,
    /// How its git commit was asked for.
    pub asked: GitCommitRequest,
}

impl CommitService<'_> {
    /// The commit of a workspace whose git commit is still to be made, if there is one. What was interrupted in the folders is settled first.
    pub fn owed(&self, workspace: &WorkspaceRecord) -> Result<Option<PendingGitCommit>> {
        let vault = self.vault;
        settle_interrupted(vault, &self.actor, &self.options)?;
        match git_due_of(vault, &workspace.id)? {
            Some(due) => self.owed_of(workspace, due).map(Some),
            None => Ok(None),
        }
    }

    /// Whether the git commit of a workspace is still to be made. Where git has everything by now, that is forgotten.
    pub fn has_pending_git_commit(
        &self,
        workspace: &WorkspaceRecord,
        git: &GitOptions,
    ) -> Result<bool> {
        let Some(due) = git_due_of(self.vault, &workspace.id)? else { return Ok(false) };
        let PendingGitCommit { outcome, .. } = self.owed_of(workspace, due)?;
        let bindings = self.vault.bindings()?;
        let Some(first) = bindings.iter().find(|binding| binding.at().is_top()) else {
            return Ok(true);
        };
        let commit = GitCommit::prepare(GitFolder::require(&first.host_path(), git)?)?;
        let came = CommittedChanges {
            at: &VaultPath::top(),
            changes: &outcome.brought,
            before: outcome.before,
            offered: outcome.offered,
            workspace: outcome.tip,
            after: outcome.after,
            git: &outcome.git,
        };
        if !commit.is_settled(self.vault, &came)? {
            return Ok(true);
        }
        forget_git_due(self.vault, &self.actor, &workspace.id)?;
        Ok(false)
    }

    fn owed_of(&self, workspace: &WorkspaceRecord, due: DueGitCommit) -> Result<PendingGitCommit> {
        let vault = self.vault;
        let sides = CommitRefs::of(&vault.operation(&due.commit)?)?;
        let (before, after) =
            (vault.snapshot(&sides.before.head)?, vault.snapshot(&sides.after.head)?);
        vault.require_files(&before)?;
        vault.require_files(&after)?;
        // What was committed was made of the main line and of what the workspace offered.
        let offered = match after.parents.get(1) {
            Some(offered) => vault.snapshot(offered)?.root,
            None => after.root,
        };
        let details = vault.operation_details(&due.commit)?;
        let execs = details.get("execs").and_then(Value::as_array).into_iter().flatten();
        let execs = execs.filter_map(|exec| exec.as_str()?.parse::<Id>().ok()).collect();
        let outcome = CommitOutcome {
            workspace: workspace.name.clone(),
            dry_run: false,
            operation: Some(due.commit),
            snapshot: Some(after.id),
            message: after.message.clone().unwrap_or_default(),
            brought: self.changes(&before.root, &after.root)?.changes,
            metadata: Vec::new(),
            held: Vec::new(),
            meanwhile: 0,
            meanwhile_own: 0,
            conflicts: Vec::new(),
            kept_conflicts: Vec::new(),
            git: GitReport::default(),
            workspace_git: GitReport::default(),
            unmatched: Vec::new(),
            parts_of_git: Vec::new(),
            execs,
            offered,
            tip: offered,
            before: before.root,
            after: after.root,
            report: ImportReport::default(),
        };
        Ok(PendingGitCommit { outcome, asked: due.asked })
    }
}
