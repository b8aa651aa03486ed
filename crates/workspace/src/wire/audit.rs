//! The audit log as documents.

use offshoot_protocol::{
    AuditEventDoc, AuditHeadDoc, AuditSignerDoc, ExecState, TimelineEntryDoc, TimelineFileDoc,
};
use offshoot_store::Hash;
use offshoot_vault::{AuditHead, SignedHead, SigningKey, WorkspaceRecord};
use serde_json::Value;

use super::history::actor;
use super::time::time;
use super::workspace::workspace_name;
use crate::audit::{AuditEntry, STARTED};

/// An event; `all` gives the name of its workspace.
pub fn audit_event(entry: &AuditEntry, all: &[WorkspaceRecord]) -> AuditEventDoc {
    AuditEventDoc {
        seq: entry.event.seq,
        time: time(entry.event.time_ms),
        actor: actor(&entry.actor),
        uid: entry.uid,
        event: entry.kind.clone(),
        operation: entry.event.operation.to_string(),
        workspace: entry.workspace.map(|id| workspace_name(&id, all)),
        summary: entry.summary.clone(),
        details: match entry.details.is_empty() {
            true => Value::Null,
            false => entry.details.clone().into(),
        },
        chain: hex(&entry.event.chain),
    }
}

/// How far a log goes.
pub fn audit_head(head: &AuditHead, signed: Option<&SignedHead>) -> AuditHeadDoc {
    let signed = signed.filter(|signed| signed.seq == head.seq);
    AuditHeadDoc {
        vault: head.vault.to_string(),
        seq: head.seq,
        chain: hex(&head.chain),
        head: head.to_string(),
        key: signed.map(|signed| signed.key.to_string()),
        signature: signed.map(|signed| signed.signature.to_string()),
    }
}

/// A key that signed.
pub fn audit_signer(signer: &SigningKey) -> AuditSignerDoc {
    let SigningKey { key, since, handed_over, succession: _ } = *signer;
    AuditSignerDoc { key: key.to_string(), since, handed_over }
}

/// Something that happened, as a story tells it.
pub fn timeline_entry(entry: &AuditEntry) -> TimelineEntryDoc {
    let text = |name: &str| entry.text(name).map(str::to_owned);
    let is_command = entry.kind.starts_with("exec");
    let file = |(path, kind, _): (&str, &str, Option<&str>)| TimelineFileDoc {
        path: path.to_owned(),
        kind: kind.to_owned(),
    };
    TimelineEntryDoc {
        seq: entry.event.seq,
        time: time(entry.event.time_ms),
        actor: actor(&entry.actor),
        event: entry.kind.clone(),
        summary: entry.summary.clone(),
        command: text("command"),
        exec: text("exec"),
        decision: text("decision"),
        rule: text("rule"),
        state: text("state"),
        tried: entry.holds("tried"),
        approval: text("approval").or_else(|| text("approved_by")),
        merged: entry.holds("merged"),
        unapproved: entry.unapproved().map(str::to_owned).collect(),
        fallback: entry.holds("fallback"),
        scope: text("scope"),
        reason: text(if is_command { "why" } else { "reason" }),
        ended: ended(entry),
        duration_ms: entry.details.get("duration_ms").and_then(Value::as_u64),
        files: entry.files().map(file).collect(),
        tried_files: entry.tried_files().map(file).collect(),
    }
}

/// How a command ended; nothing of what is none.
fn ended(entry: &AuditEntry) -> Option<String> {
    if entry.cut_short {
        return Some("interrupted".to_owned());
    }
    if entry.kind == STARTED {
        return Some(ExecState::Running.as_str().to_owned());
    }
    if !entry.kind.starts_with("exec") {
        return None;
    }
    let number = |name: &str| entry.details.get(name).and_then(Value::as_i64);
    let holds = |name: &str| entry.holds(name);
    Some(match (number("exit_code"), number("signal")) {
        _ if holds("timed_out") => "timed out".to_owned(),
        _ if holds("interrupted") => "interrupted".to_owned(),
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => entry.text("state").unwrap_or("failed").to_owned(),
    })
}

fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
