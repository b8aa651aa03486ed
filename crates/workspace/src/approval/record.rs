//! What the record of a command says once somebody has decided about it.

use offshoot_protocol::{ApprovalState, ErrorBody, ExecEnvelopeDoc, ExecState, ExitCode, Hint};
use offshoot_store::Id;
use offshoot_vault::{Approval, ExecRecord, Result, Transaction, Vault};

use crate::wire;

/// The state of a command that waits.
pub(super) const PENDING: &str = ExecState::PendingApproval.as_str();

/// What a command that was tried came to.
pub(super) struct Completed<'a> {
    pub(super) before: Id,
    pub(super) after: Id,
    pub(super) checkpoint: Option<&'a str>,
    /// What changed, where that is not what the trial changed.
    pub(super) changes: Option<&'a [offshoot_tree::diff::Change]>,
}

/// Records that a command which was tried is done.
pub(super) fn complete(
    vault: &Vault,
    tx: &mut Transaction<'_, '_>,
    approval: &Approval,
    done: &Completed<'_>,
) -> Result<()> {
    let Some(mut record) = vault.exec(&approval.id)? else { return Ok(()) };
    (record.before, record.after) = (Some(done.before), Some(done.after));
    if let Some(changes) = done.changes {
        record.changed = changes.len() as u64;
    }
    update(tx, record, ExecState::Completed, |envelope| {
        let result = &mut envelope.result;
        result.error = None;
        result.approval = Some(wire::approval(approval));
        result.checkpoint = done.checkpoint.map(str::to_owned);
        result.snapshot_before = Some(done.before.to_string());
        result.snapshot_after = Some(done.after.to_string());
        if let Some(changes) = done.changes {
            result.changed_files = changes.iter().map(wire::change).collect();
        }
    })
}

/// Records that a command which waited comes to nothing, and removes a workspace that was made for it alone.
pub(super) fn refuse(
    vault: &Vault,
    tx: &mut Transaction<'_, '_>,
    approval: &Approval,
) -> Result<()> {
    let Some(mut record) = vault.exec(&approval.id)? else { return Ok(()) };
    (record.after, record.changed) = (record.before, 0);
    let mut forked = false;
    update(tx, record, ExecState::Denied, |envelope| {
        let result = &mut envelope.result;
        forked = result.forked;
        result.error = Some(ErrorBody::new(ExitCode::Denied, refusal(approval)));
        result.approval = Some(wire::approval(approval));
        // Nothing of it came to be.
        result.changed_files.clear();
        result.snapshot_after.clone_from(&result.snapshot_before);
    })?;
    let Some(id) = approval.workspace.filter(|_| forked) else { return Ok(()) };
    let untouched = tx.workspace(&id)?.is_some_and(|now| now.state.head == now.state.base);
    let is_needed = |other: &Approval| {
        other.id != approval.id && other.workspace == Some(id) && !other.state.is_final()
    };
    let needed = vault.approvals()?.iter().any(is_needed);
    if untouched && !needed && !tx.has_belongings(&id)? {
        tx.remove_workspace(&id)?;
    }
    Ok(())
}

/// Why a command does not run, for whoever asked for it.
pub(crate) fn refusal(approval: &Approval) -> String {
    let decision = approval.decision.as_ref();
    let reason = decision.and_then(|decision| decision.reason.as_deref());
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    match (approval.state, decision) {
        (ApprovalState::Denied, Some(decision)) => {
            format!("{} denied this command{reason}", decision.by.user)
        }
        (ApprovalState::Expired, Some(decision)) if decision.reason.is_some() => {
            format!("nobody approved this command while it waited{reason}")
        }
        _ => "nobody approved this command in time".to_owned(),
    }
}

/// A record as it reads now: a command that waits, and whose approval is gone, will never run.
pub(crate) fn as_it_is(vault: &Vault, record: ExecRecord) -> crate::error::Result<ExecRecord> {
    if record.state != PENDING {
        return Ok(record);
    }
    let Some((approval, why)) = super::gone(vault, &record.id)? else { return Ok(record) };
    Ok(changed(record, ExecState::Failed, |envelope| {
        let result = &mut envelope.result;
        let message = format!("this command cannot be approved any more: {why}");
        let hint = Hint::from("ask for it again: run the command once more");
        let error = ErrorBody::new(ExitCode::Conflict, message).with_hint(Some(&hint));
        (result.error, result.approval) = (Some(error), Some(wire::approval(&approval)));
        result.changed_files.clear();
    }))
}

fn update(
    tx: &mut Transaction<'_, '_>,
    record: ExecRecord,
    state: ExecState,
    change: impl FnOnce(&mut ExecEnvelopeDoc),
) -> Result<()> {
    tx.add_exec(&changed(record, state, change), b"", b"")
}

/// A record in another state.
fn changed(
    mut record: ExecRecord,
    state: ExecState,
    change: impl FnOnce(&mut ExecEnvelopeDoc),
) -> ExecRecord {
    let stored = record.envelope.as_deref().and_then(|text| serde_json::from_str(text).ok());
    if let Some(mut envelope) = stored {
        change(&mut envelope);
        let ExecEnvelopeDoc { request, mut result, .. } = envelope;
        result.state = state;
        let envelope = ExecEnvelopeDoc::new(request, result);
        record.envelope = serde_json::to_string(&envelope).ok();
    }
    record.state = state.as_str().to_owned();
    record
}
