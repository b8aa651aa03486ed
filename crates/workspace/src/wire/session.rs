//! Sessions as documents.

use offshoot_protocol::{SessionDoc, SessionEventDoc, SessionParentDoc};
use offshoot_store::{Hash, Id};
use offshoot_vault::{SessionEvent, WorkspaceRecord};
use serde_json::Value;

use super::history::actor;
use super::time::time;
use super::workspace::workspace_name;
use crate::session::ListedSession;

/// A session; `all` gives the name of its workspace, and `holder` is who has taken it up.
pub fn session(
    session: &ListedSession,
    all: &[WorkspaceRecord],
    holder: Option<String>,
) -> SessionDoc {
    let ListedSession { record, head } = session;
    let parent = record.origin.parent.map(|parent| SessionParentDoc {
        session: parent.session.to_string(),
        number: parent.number,
    });
    SessionDoc {
        id: record.id.to_string(),
        name: record.name.clone(),
        workspace: workspace_name(&record.workspace, all),
        state: head.state,
        created: time(record.origin.created_ms),
        created_by: actor(&record.origin.created_by),
        changed: time(head.changed_ms),
        provider: head.provider.clone(),
        model: head.model.clone(),
        parent,
        events: head.events,
        chain: hex(&head.chain),
        tokens_in: head.totals.tokens_in,
        tokens_out: head.totals.tokens_out,
        cost: head.totals.cost.clone(),
        holder,
    }
}

/// An event of a session.
pub fn session_event(event: &SessionEvent) -> SessionEventDoc {
    SessionEventDoc {
        number: event.number,
        time: time(event.time_ms),
        kind: event.kind.clone(),
        // It was JSON when it was appended.
        body: serde_json::from_str(&event.body).unwrap_or(Value::Null),
        snapshot: event.snapshot.as_ref().map(Id::to_string),
        chain: hex(&event.chain),
    }
}

fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
