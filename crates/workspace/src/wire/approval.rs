//! Approvals as documents.

use offshoot_protocol::{
    ApprovalDecisionDoc, ApprovalDoc, ApprovalListItemDoc, ApprovalMovedDoc, ApprovalOutcomeDoc,
    ApprovalState, ApprovalVariableDoc, ExecEnvelopeDoc, Hint,
};
use offshoot_store::Id;
use offshoot_vault::{Approval, ApprovalDecision, WorkspaceRecord};

use super::change::change;
use super::git::repositories;
use super::history::actor;
use super::time::time;
use super::workspace::workspace_name;
use crate::approval::outcome::{AppliedTrial, MovedPlace, MovedWorkspace, is_awaited};
use crate::exec::waiting::WaitingRequest;

/// An approval.
pub fn approval(approval: &Approval) -> ApprovalDoc {
    let id = approval.id.to_string();
    let grant = (approval.state == ApprovalState::Pending)
        .then(|| Hint::command("offshoot approvals approve").arg(&id).commands().pop());
    ApprovalDoc {
        state: approval.state,
        command: approval.command.clone(),
        reason: approval.reason.clone(),
        asked_by: actor(&approval.asked_by),
        created: time(approval.created_ms),
        expires: time(approval.expires_ms),
        tried: approval.trial.is_some(),
        changes: approval.changed,
        untried: approval.untried.clone(),
        network: approval.network.clone(),
        snapshot_before: approval.base.as_ref().map(Id::to_string),
        snapshot_tried: approval.trial.as_ref().map(Id::to_string),
        digest: approval.digest.clone(),
        decision: approval.decision.as_ref().map(decision),
        grant: grant.flatten(),
        id,
    }
}

fn decision(decision: &ApprovalDecision) -> ApprovalDecisionDoc {
    let ApprovalDecision { by, time_ms, reason, scope } = decision;
    let (by, time, reason) = (actor(by), time(*time_ms), reason.clone());
    ApprovalDecisionDoc { by, time, reason, scope: *scope }
}

/// One approval of a list.
pub fn listed_approval(of: &Approval, workspaces: &[WorkspaceRecord]) -> ApprovalListItemDoc {
    ApprovalListItemDoc {
        approval: approval(of),
        workspace: match &of.workspace {
            Some(id) if workspaces.iter().any(|one| one.id == *id) => {
                Some(workspace_name(id, workspaces))
            }
            // One that is gone keeps the name that it had.
            Some(id) => Some(of.named.clone().unwrap_or_else(|| id.to_string())),
            None => of.named.clone(),
        },
        awaited: !of.state.is_final() && is_awaited(of),
    }
}

/// The variables that were set for a command, as far as that is kept.
pub fn approval_variables(
    of: &Approval,
    exec: Option<&ExecEnvelopeDoc>,
) -> Vec<ApprovalVariableDoc> {
    if let Some(kept) = of.request.as_ref().and_then(WaitingRequest::parse) {
        return kept.variables();
    }
    let names = exec.map(|exec| exec.request.env_set.as_slice()).unwrap_or_default();
    names.iter().map(|name| ApprovalVariableDoc { name: name.clone(), value: None }).collect()
}

/// A workspace that has changed since.
pub fn moved_workspace(moved: &MovedWorkspace, conflicts: Vec<String>) -> ApprovalMovedDoc {
    ApprovalMovedDoc {
        conflicts,
        snapshot: moved.head.to_string(),
        files: moved.files as u64,
        made: moved.place == MovedPlace::Made,
        told: moved.told(),
    }
}

/// What approving came to.
pub fn applied_trial(applied: &AppliedTrial) -> ApprovalOutcomeDoc {
    ApprovalOutcomeDoc {
        approval: approval(&applied.approval),
        workspace: Some(applied.workspace.name.clone()),
        merged: applied.merged,
        checkpoint: applied.checkpoint.clone(),
        changed_files: applied.changes.iter().map(change).collect(),
        repositories: repositories(&applied.git),
        exec: None,
        rule: None,
    }
}
