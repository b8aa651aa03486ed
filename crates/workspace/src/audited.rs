//! Changed files as the audit log lists them: all of them.

use std::sync::Arc;

use offshoot_tree::diff::Change;
use offshoot_tree::{BlobId, Entry};
use serde::Serialize;

/// Changed files as an event has them.
#[derive(Debug, Serialize)]
pub(crate) struct AuditedFiles {
    count: usize,
    changed: Vec<AuditedFile>,
}

#[derive(Debug, Serialize)]
struct AuditedFile {
    path: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    before: Option<AuditedSide>,
    after: Option<AuditedSide>,
}

#[derive(Debug, Serialize)]
struct AuditedSide {
    size: u64,
    checksum: String,
}

/// What the audit event says of changed files.
pub(crate) fn audited(changes: &[Change]) -> AuditedFiles {
    let file = |change: &Change| AuditedFile {
        path: change.path.to_string(),
        kind: change.kind().word(),
        from: change.moved.as_ref().map(|(from, _)| from.to_string()),
        before: side(change.before.as_ref()),
        after: side(change.after.as_ref()),
    };
    AuditedFiles { count: changes.len(), changed: changes.iter().map(file).collect() }
}

fn side(entry: Option<&Arc<Entry>>) -> Option<AuditedSide> {
    entry.map(|entry| AuditedSide {
        size: entry.size(),
        checksum: BlobId(entry.content_hash()).to_string(),
    })
}
