//! Changed files as the audit log lists them: all of them.

use offshoot_protocol::Text;
use offshoot_tree::Entry;
use offshoot_tree::diff::Change;
use serde::Serialize;

use crate::wire::{checksum, path};

/// Changed files as an event has them.
#[derive(Debug, Serialize)]
pub(crate) struct AuditedFiles {
    count: usize,
    changed: Vec<AuditedFile>,
}

#[derive(Debug, Serialize)]
struct AuditedFile {
    path: Text,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Text>,
    before: Option<AuditedSide>,
    after: Option<AuditedSide>,
}

#[derive(Debug, Serialize)]
struct AuditedSide {
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
}

/// What the audit event says of changed files.
pub(crate) fn audited(changes: &[Change]) -> AuditedFiles {
    let file = |change: &Change| AuditedFile {
        path: path(&change.path),
        kind: change.kind().word(),
        from: change.moved.as_ref().map(|(from, _)| path(from)),
        before: change.before.as_deref().map(side),
        after: change.after.as_deref().map(side),
    };
    AuditedFiles { count: changes.len(), changed: changes.iter().map(file).collect() }
}

fn side(entry: &Entry) -> AuditedSide {
    AuditedSide { size: entry.size(), checksum: checksum(entry) }
}
