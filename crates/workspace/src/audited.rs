//! Changed files as the audit log lists them: all of them.

use offshoot_protocol::Text;
use offshoot_tree::Entry;
use offshoot_tree::diff::Change;
use offshoot_vault::{MovedRef, measured};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::exec::summary::is_directory_time;
use crate::wire::{checksum, path};

/// What the audit event says of changed files: those that everybody is told of, so a directory whose time alone changed is none. It is written at once: as values, a hundred thousand of them would take more memory than
/// everything else.
pub(crate) fn audited(changes: &[Change]) -> Box<RawValue> {
    written(&[(None, changes)])
}

/// The same of several refs that are moved at once: each file says in which.
pub(crate) fn audited_moves(lists: &[(MovedRef, Vec<Change>)]) -> Box<RawValue> {
    let is_one = lists.len() == 1;
    let names: Vec<Option<String>> =
        lists.iter().map(|(of, _)| (!is_one).then(|| of.to_string())).collect();
    let named = names.iter().zip(lists).map(|(name, (_, changes))| (name.as_deref(), &**changes));
    written(&named.collect::<Vec<_>>())
}

fn written(lists: &[List<'_>]) -> Box<RawValue> {
    let lists = if measured::leaves_out_events() { &[] } else { lists };
    to_raw_value(&AuditedFiles(lists)).expect("paths, sizes and hashes are plain values")
}

/// The ref that is moved, where it has to be named, and what changes in it.
type List<'a> = (Option<&'a str>, &'a [Change]);

struct AuditedFiles<'a>(&'a [List<'a>]);

impl Serialize for AuditedFiles<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("count", &told(self.0).count())?;
        map.serialize_entry("changed", &AuditedList(self.0))?;
        map.end()
    }
}

struct AuditedList<'a>(&'a [List<'a>]);

impl Serialize for AuditedList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(told(self.0).map(|(of, change)| file(of, change)))
    }
}

fn told<'a>(lists: &'a [List<'a>]) -> impl Iterator<Item = (Option<&'a str>, &'a Change)> {
    let all = lists.iter().flat_map(|(of, changes)| changes.iter().map(|change| (*of, change)));
    all.filter(|(_, change)| !is_directory_time(change))
}

#[derive(serde::Serialize)]
struct AuditedFile<'a> {
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    of: Option<&'a str>,
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

fn file<'a>(of: Option<&'a str>, change: &Change) -> AuditedFile<'a> {
    AuditedFile {
        of,
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
