//! Changed files as the audit log lists them: all of them.

use offshoot_protocol::Text;
use offshoot_tree::Entry;
use offshoot_tree::diff::Change;
use offshoot_vault::measured;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::exec::summary::is_directory_time;
use crate::wire::{checksum, path};

/// What the audit event says of changed files: those that everybody is told of, so a directory whose time alone changed is none. It is written at once: as values, a hundred thousand of them would take more memory than
/// everything else.
pub(crate) fn audited(changes: &[Change]) -> Box<RawValue> {
    let changes = if measured::leaves_out_events() { &[] } else { changes };
    to_raw_value(&AuditedFiles(changes)).expect("paths, sizes and hashes are plain values")
}

struct AuditedFiles<'a>(&'a [Change]);

impl Serialize for AuditedFiles<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("count", &told(self.0).count())?;
        map.serialize_entry("changed", &AuditedList(self.0))?;
        map.end()
    }
}

struct AuditedList<'a>(&'a [Change]);

impl Serialize for AuditedList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(told(self.0).map(file))
    }
}

fn told(changes: &[Change]) -> impl Iterator<Item = &Change> {
    changes.iter().filter(|change| !is_directory_time(change))
}

#[derive(serde::Serialize)]
struct AuditedFile {
    path: Text,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Text>,
    before: Option<AuditedSide>,
    after: Option<AuditedSide>,
}

#[derive(serde::Serialize)]
struct AuditedSide {
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
}

fn file(change: &Change) -> AuditedFile {
    AuditedFile {
        path: path(&change.path),
        kind: change.kind().word(),
        from: change.moved.as_ref().map(|(from, _)| path(from)),
        before: change.before.as_deref().map(side),
        after: change.after.as_deref().map(side),
    }
}

fn side(entry: &Entry) -> AuditedSide {
    AuditedSide { size: entry.size(), checksum: checksum(entry) }
}
