//! Points in history and operations as documents.

use offshoot_protocol::{ActorDoc, LogEntryDoc, OperationDoc, SnapshotDoc};
use offshoot_store::Id;
use offshoot_vault::{Actor, Operation, Snapshot, WorkspaceRecord};

use super::time::time;
use super::workspace::workspace_name;
use crate::history::LogEntry;

/// Who did something.
pub fn actor(actor: &Actor) -> ActorDoc {
    let Actor { user, agent, session } = actor.clone();
    ActorDoc { user, agent, session }
}

/// A point in history.
pub fn snapshot(snapshot: &Snapshot) -> SnapshotDoc {
    SnapshotDoc {
        id: snapshot.id.to_string(),
        root: snapshot.root.to_hex(),
        content: snapshot.content.to_hex(),
        parents: snapshot.parents.iter().map(Id::to_string).collect(),
        time: time(snapshot.time_ms),
        actor: actor(&snapshot.actor),
        reason: snapshot.reason.clone(),
        message: snapshot.message.clone(),
        operation: snapshot.operation.to_string(),
    }
}

/// A snapshot of a log.
pub fn log_entry(entry: &LogEntry) -> LogEntryDoc {
    LogEntryDoc { snapshot: snapshot(&entry.snapshot), names: entry.names.clone() }
}

/// An entry of the operation log; `all` gives the name of its workspace.
pub fn operation(operation: &Operation, all: &[WorkspaceRecord]) -> OperationDoc {
    let named = |change: &offshoot_store::RefChange| {
        let row = change.after.as_ref().or(change.before.as_ref());
        let name = row.and_then(|row| row.name.clone()).unwrap_or_else(|| change.key.id.clone());
        if change.key.kind == name { name } else { format!("{} {name}", change.key.kind) }
    };
    OperationDoc {
        id: operation.id.to_string(),
        time: time(operation.time_ms),
        actor: actor(&operation.actor),
        kind: operation.kind.clone(),
        summary: operation.summary.clone(),
        workspace: operation.workspace.map(|id| workspace_name(&id, all)),
        reverts: operation.reverts.map(|id| id.to_string()),
        refs: operation.changes.iter().map(named).collect(),
    }
}
