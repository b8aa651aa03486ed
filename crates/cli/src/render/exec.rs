//! An exec for people.

use offshoot_protocol::{ApprovalState, ExecEnvelopeDoc, ExecResultDoc, ExecState};

use super::listing::{EXPAND, Listing};
use super::{BAD, DIM, NAME, count, fields, line, paint};

/// Everything about an exec but its output; `changes` is what it changed, where that is still known.
pub(crate) fn envelope(envelope: &ExecEnvelopeDoc, changes: Option<&Listing<'_>>) -> String {
    let result = &envelope.result;
    let row = |name: &str, value: String| vec![paint(DIM, name), value];
    let optional = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    let mut rows = vec![
        row("exec", result.exec.clone()),
        row("command", line(&result.command)),
        row("workspace", paint(NAME, &optional(&result.workspace))),
        row("ended", ending(envelope)),
        row("took", format!("{} ms, {} ms in all", result.duration_ms, result.total_ms)),
        row("before", optional(&result.snapshot_before)),
        row("after", optional(&result.snapshot_after)),
        row("checkpoint", optional(&result.checkpoint)),
        row("by", line(&envelope.request.actor.user)),
    ];
    if let Some(decision) = &result.decision {
        rows.push(row("decision", format!("{} ({})", decision.decision, decision.reason)));
    }
    if let Some(driver) = result.driver {
        rows.push(row("driver", driver.to_string()));
    }
    for warning in &result.warnings {
        rows.push(row("warning", line(warning)));
    }
    if let Some(error) = &result.error {
        rows.push(row("error", paint(BAD, &line(&error.message))));
    }
    let changed = match changes {
        Some(changes) => changes.heading(),
        None if result.changed_files.is_empty() => "nothing changed".to_owned(),
        None => count(result.changed_files.len() as u64, "path"),
    };
    rows.push(row("changed", changed));
    let lines = changes.map(|changes| changes.lines("  ", usize::MAX, EXPAND));
    format!("{}{}", fields(&rows), lines.unwrap_or_default())
}

fn ending(envelope: &ExecEnvelopeDoc) -> String {
    let result = &envelope.result;
    let mut parts = Vec::new();
    match (result.exit_code, result.signal) {
        // A trial ended in some way, and nothing came of it.
        _ if result.state.is_refusal() || is_gone(result) => parts.push(refused(result)),
        (Some(code), _) => parts.push(format!("exit code {code}")),
        (None, Some(signal)) => parts.push(format!("signal {signal}")),
        (None, None) => parts.push(result.state.to_string()),
    }
    if result.timed_out {
        parts.push("timed out".to_owned());
    }
    if let Some(limit) = result.limit_reached {
        parts.push(format!("reached the {} limit", limit.as_str().replace('_', " ")));
    }
    if result.interrupted {
        parts.push("interrupted".to_owned());
    }
    if let Some(state) = &result.failed_in {
        parts.push(format!("failed while {state}"));
    }
    let text = parts.join(", ");
    if envelope.is_success() { text } else { paint(BAD, &text) }
}

/// Whether it waited for an approval that nobody can give any more.
fn is_gone(result: &ExecResultDoc) -> bool {
    result.approval.as_ref().is_some_and(|approval| approval.state == ApprovalState::Gone)
}

/// That a command came to nothing so far, and how its trial ended where it was tried.
fn refused(result: &ExecResultDoc) -> String {
    let state = match result.state {
        ExecState::PendingApproval => "waits for an approval".to_owned(),
        state => state.to_string(),
    };
    match (result.exit_code, result.signal) {
        (Some(code), _) => format!("{state} (its trial: exit code {code})"),
        (None, Some(signal)) => format!("{state} (its trial: signal {signal})"),
        (None, None) => state,
    }
}
