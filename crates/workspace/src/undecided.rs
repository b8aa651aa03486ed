//! What was tried and nobody has approved of: a person may use it all the same, an agent may look at it.

use offshoot_protocol::ApprovalState;
use offshoot_store::Id;
use offshoot_vault::{Actor, Transaction, Vault};

use crate::error::{Result, ServiceError};
use crate::resolve::Point;

/// Why the snapshot of a trial was made.
pub(crate) const TRIAL: &str = "trial";

/// Refuses an agent a state that it could bring into a workspace without the approval that this state waits for. Whatever forks, restores
/// or merges a state that somebody named asks here. For a person, the approval that they go past, for the log.
pub(crate) fn admit(vault: &Vault, actor: &Actor, point: &Point) -> Result<Option<Id>> {
    let snapshot = &point.snapshot;
    // What a workspace or a checkpoint stands at was put there by somebody who might.
    let is_named = point.workspace.is_some() || point.checkpoint.is_some();
    if is_named || snapshot.reason != TRIAL {
        return Ok(None);
    }
    let approvals = vault.approvals()?;
    let approval = approvals.into_iter().find(|approval| approval.trial == Some(snapshot.id));
    if approval.as_ref().is_some_and(|found| found.state == ApprovalState::Approved) {
        return Ok(None);
    }
    // Approvals are forgotten in time, and do not leave with a vault; what became part of a history stays.
    if approval.is_none() && is_in_history(vault, &snapshot.id)? {
        return Ok(None);
    }
    let id = approval.map(|found| found.id);
    match actor.agent {
        None => Ok(id.or(Some(snapshot.id))),
        Some(_) => {
            let agent = actor.agent.clone().unwrap_or_default();
            Err(ServiceError::Unapproved { agent, snapshot: snapshot.id, approval: id })
        }
    }
}

/// Notes in the log that a person went past an approval.
pub(crate) fn note(tx: &mut Transaction<'_, '_>, past: &[Id]) {
    if !past.is_empty() {
        let past: Vec<String> = past.iter().map(Id::to_string).collect();
        tx.detail("unapproved", past);
    }
}

fn is_in_history(vault: &Vault, snapshot: &Id) -> Result<bool> {
    let mut heads = vec![vault.head()?.id];
    heads.extend(vault.workspaces()?.into_iter().map(|workspace| workspace.state.head));
    for head in heads {
        if vault.came_from(&head, snapshot)? {
            return Ok(true);
        }
    }
    Ok(false)
}
