//! Making real what was tried.

use std::time::Duration;

use offshoot_protocol::ApprovalState;
use offshoot_store::Id;
use offshoot_tree::RootId;
use offshoot_tree::diff::DiffOptions;
use offshoot_tree::merge::MergeOptions;
use offshoot_vault::{Actor, Approval, ApprovalDecision, Transaction, WorkspaceRecord};

use super::outcome::AppliedTrial;
use super::record::{Completed, complete};
use super::{ApprovalService, describe, pending};
use crate::audited::audited;
use crate::change::ChangeSummaryService;
use crate::checkpoint::add_automatic;
use crate::error::{Result, ServiceError};
use crate::exec::summary::shortened;
use crate::git::GitReport;
use crate::merge::{MergeRecord, MergeRequest, MergeService, MergeTarget};
use crate::resolve::Point;
use crate::workspace_lock::lock_workspace;

/// How long a command that runs in the workspace is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

impl ApprovalService<'_> {
    /// The paths that approving of what was tried would find changed on both sides, as its workspace is now.
    pub fn conflicts(&self, approval: &Approval) -> Result<Vec<String>> {
        let (Some(id), Some(base), Some(trial)) =
            (approval.workspace, approval.base, approval.trial)
        else {
            return Ok(Vec::new());
        };
        let found = self.vault.workspace(&id)?;
        let moved = found.filter(|workspace| workspace.state.head != base && trial != base);
        let Some(workspace) = moved.filter(|_| approval.state == ApprovalState::Pending) else {
            return Ok(Vec::new());
        };
        let side = self.side(approval, trial)?;
        let service = MergeService::new(self.vault, &self.decider.actor);
        let outcome = service.preview(&merging(&[side], &workspace))?;
        Ok(outcome.conflicts.iter().map(|conflict| conflict.path.to_string()).collect())
    }

    /// What was tried, as a side of a merge.
    fn side(&self, approval: &Approval, trial: Id) -> Result<Point> {
        let label = format!("trial {}", approval.id.short());
        let snapshot = self.vault.snapshot(&trial)?;
        Ok(Point { label, snapshot, workspace: None, checkpoint: None })
    }

    /// Moves the workspace to what was tried if it stands where the trial began, and merges that with it if not.
    pub(super) fn apply(
        &self,
        approval: &Approval,
        decision: &ApprovalDecision,
    ) -> Result<AppliedTrial> {
        let (Some(id), Some(base), Some(trial)) =
            (approval.workspace, approval.base, approval.trial)
        else {
            return Err(ServiceError::Internal("a trial names what it began with".to_owned()));
        };
        let workspace = self.vault.workspace(&id)?.ok_or(ServiceError::Vanished(id))?;
        let _alone = lock_workspace(self.vault, &workspace, PATIENCE, "approvals approve")?;
        let _held = self.vault.hold()?;
        let workspace = self.vault.workspace(&id)?.ok_or(ServiceError::Vanished(id))?;
        let decided = Approval {
            state: ApprovalState::Approved,
            decision: Some(decision.clone()),
            ..approval.clone()
        };
        match workspace.state.head == base || trial == base {
            true => self.forward(&decided, workspace, base, trial),
            false => self.merge(&decided, workspace, trial),
        }
    }

    /// The workspace stands where the trial began, or the trial changed nothing.
    fn forward(
        &self,
        approval: &Approval,
        workspace: WorkspaceRecord,
        base: Id,
        trial: Id,
    ) -> Result<AppliedTrial> {
        let root = |id: &Id| Ok::<RootId, ServiceError>(self.vault.snapshot(id)?.root);
        // As the trial told them, a move as a move.
        let service = ChangeSummaryService::new(self.vault, DiffOptions::default());
        let changes = service.told(&root(&base)?, &root(&trial)?)?;
        let made = self.vault.transact("approve", &decided_by(approval), |tx| {
            let now = tx.workspace(&workspace.id)?.filter(|now| now.state == workspace.state);
            if pending(self.vault, tx, &approval.id)?.is_none() {
                return Ok(None);
            }
            let Some(mut now) = now else { return Ok(None) };
            describe(tx, approval, "approve");
            let mut checkpoint = None;
            if trial != base {
                checkpoint = Some(add_checkpoint(tx, approval, &now)?);
                now.state.head = trial;
                tx.set_workspace(&now)?;
                tx.files(audited(&changes));
            }
            let done = Completed {
                before: base,
                after: trial,
                checkpoint: checkpoint.as_deref(),
                changes: None,
            };
            complete(self.vault, tx, approval, &done)?;
            tx.set_approval(approval)?;
            Ok(Some((now, checkpoint)))
        })?;
        let (workspace, checkpoint) = made.value.ok_or_else(|| self.overtaken(approval))?;
        let approval = approval.clone();
        let (merged, git) = (false, GitReport::default());
        Ok(AppliedTrial { approval, workspace, changes, merged, git, checkpoint })
    }

    /// The workspace moved since. What conflicts is told, and nothing is changed.
    fn merge(
        &self,
        approval: &Approval,
        workspace: WorkspaceRecord,
        trial: Id,
    ) -> Result<AppliedTrial> {
        let sides = [self.side(approval, trial)?];
        let request = merging(&sides, &workspace);
        let mut checkpoint = None;
        let mut is_open = true;
        let mut also = |tx: &mut Transaction<'_, '_>, made: &MergeRecord<'_>| {
            is_open = pending(self.vault, tx, &approval.id)?.is_some();
            if !is_open {
                return Ok(false);
            }
            describe(tx, approval, "approve");
            tx.detail("merged", true);
            checkpoint = Some(add_checkpoint(tx, approval, made.workspace)?);
            let done = Completed {
                before: made.workspace.state.head,
                after: made.snapshot,
                checkpoint: checkpoint.as_deref(),
                changes: Some(made.changes),
            };
            complete(self.vault, tx, approval, &done)?;
            tx.set_approval(approval)?;
            Ok(true)
        };
        let service = MergeService::new(self.vault, &decided_by(approval));
        let merged = service.merge_without_conflicts(&request, "approve", &mut also)?;
        let Some(outcome) = merged else { return Err(self.overtaken(approval)) };
        if !outcome.conflicts.is_empty() {
            let paths = outcome.conflicts.iter().map(|conflict| conflict.path.to_string());
            if outcome.sides.iter().any(|side| side.snapshot == trial && side.included) {
                // Somebody brought it in by hand, and has not decided yet.
                let (workspace, paths) = (workspace.name, paths.collect());
                return Err(ServiceError::Undecided { workspace, paths });
            }
            return Err(ServiceError::ApprovalConflicts {
                id: approval.id,
                workspace: workspace.name,
                trial,
                paths: paths.collect(),
            });
        }
        let workspace =
            self.vault.workspace(&workspace.id)?.ok_or(ServiceError::Vanished(workspace.id))?;
        Ok(AppliedTrial {
            approval: approval.clone(),
            workspace,
            changes: outcome.changes,
            merged: true,
            git: outcome.git,
            checkpoint,
        })
    }
}

fn merging<'m>(sides: &'m [Point], workspace: &'m WorkspaceRecord) -> MergeRequest<'m> {
    MergeRequest {
        sides,
        into: MergeTarget::Workspace(workspace),
        message: None,
        options: MergeOptions::default(),
    }
}

/// Who decided: nobody in time counts as the program itself.
fn decided_by(approval: &Approval) -> Actor {
    approval.decision.as_ref().map(|decision| decision.by.clone()).unwrap_or_default()
}

/// Marks the state before, to come back to.
fn add_checkpoint(
    tx: &mut Transaction<'_, '_>,
    approval: &Approval,
    workspace: &WorkspaceRecord,
) -> offshoot_vault::Result<String> {
    let reason = format!("before {}", shortened(&approval.command));
    add_automatic(tx, &workspace.id, workspace.state.head, reason)
}
