//! What waits, and how it is shown in a word.

use offshoot_engine::approval::{Approval, ApprovalService, ApprovalState};
use offshoot_engine::workspace::WorkspaceRecord;

use crate::context::{Context, OpenVault};
use crate::error::Result;
use crate::render::{BAD, DIM, GOOD, NAME, WARN, changes, paint};

/// Those that still wait, of the workspace that was named.
pub(super) fn pending(
    context: &Context,
    opened: &OpenVault,
    service: &ApprovalService<'_>,
) -> Result<Vec<Approval>> {
    let mut found = all(context, opened, service)?;
    found.retain(|approval| approval.state.is_pending());
    Ok(found)
}

/// All of them, of the workspace that was named.
pub(super) fn all(
    context: &Context,
    opened: &OpenVault,
    service: &ApprovalService<'_>,
) -> Result<Vec<Approval>> {
    let mut found = service.list()?;
    if let Some(name) = context.workspace_name() {
        let there = opened.vault.workspace_named(name)?.map(|workspace| workspace.id);
        // One that was asked for before there was such a workspace has its name alone.
        found.retain(|approval| match &approval.workspace {
            Some(_) => approval.workspace == there,
            None => approval.named.as_deref() == Some(name),
        });
    }
    Ok(found)
}

/// Has what is shown be what approving would find. Where that fails, approving says so.
pub(super) fn catch_up(context: &Context, opened: &OpenVault, approvals: &[Approval]) {
    let place = (&opened.vault, opened.name.as_str());
    if let Err(error) = context.engine.ready_to_approve(place, approvals) {
        context.output.note(error.message);
    }
}

/// Where it runs, or would.
pub(super) fn place(
    approval: &Approval,
    workspace: Option<&str>,
    there: &[WorkspaceRecord],
) -> String {
    let name = paint(NAME, workspace.unwrap_or_default());
    let is_there = there.iter().any(|one| workspace == Some(one.name.as_str()));
    let is_new = approval.workspace.is_none() && !is_there && !approval.state.is_final();
    match (workspace, is_new) {
        (Some(_), true) => format!("{name} {}", paint(DIM, "(new)")),
        (None, true) => paint(DIM, "(new)"),
        _ => name,
    }
}

pub(super) fn trial(approval: &Approval) -> String {
    match (approval.trial, approval.changed) {
        (None, _) => paint(WARN, "not tried"),
        (_, Some(changed)) => changes(changed),
        // One that an older program tried.
        (trial, None) if trial == approval.base => changes(0),
        _ => "changes".to_owned(),
    }
}

pub(super) fn state(state: ApprovalState) -> String {
    let style = match state {
        ApprovalState::Pending | ApprovalState::Granted | ApprovalState::Running => WARN,
        ApprovalState::Approved => GOOD,
        ApprovalState::Denied | ApprovalState::Expired | ApprovalState::Gone => BAD,
    };
    paint(style, state.as_str())
}
