//! Whether the catalog is where the log says that it is.

use std::collections::BTreeMap;

use offshoot_store::{Id, Reader, RefChange, RefKey, RefRow};
use offshoot_tree::RootId;
use serde::Deserialize;

use super::log::pruned;
use super::records::{self, Records};
use crate::error::Result;
use crate::refs::{CHECKPOINT, HEAD, WORKSPACE, snapshots_of};
use crate::vault::Vault;

/// What an event with records has in its text.
const RECORDS: &str = "\"records\":{";

/// What is read of an event.
#[derive(Deserialize)]
struct Event {
    time_ms: u64,
    changes: Vec<RefChange>,
    #[serde(default)]
    records: Records,
    #[serde(default)]
    roots: BTreeMap<Id, String>,
}

/// What the newest event about a ref says.
struct Said {
    row: Option<RefRow>,
    name: Option<String>,
    roots: BTreeMap<Id, String>,
}

impl Vault {
    /// What the main line, workspaces, checkpoints, approvals and records of commands in the catalog are, and the log does not say that they are. Whether the log
    /// is what was recorded is another question ([`verify_audit`](Self::verify_audit)).
    pub fn audit_differences(&self) -> Result<Vec<String>> {
        self.read(differences)
    }
}

fn differences(reader: &Reader<'_>) -> Result<Vec<String>> {
    let mut said: BTreeMap<RefKey, Said> = BTreeMap::new();
    let (mut recorded, mut since_ms) = (BTreeMap::new(), None);
    reader.each_audit_event(|seen| {
        let event = seen.event;
        // Most of a log is about commands that start, and changes neither a ref nor a record.
        if (event.contains("\"changes\":[{") || event.contains(RECORDS))
            && let Ok(Event { time_ms, changes, records, roots }) = serde_json::from_str(event)
        {
            if !records.is_empty() {
                since_ms.get_or_insert(time_ms);
            }
            recorded.extend(records.0);
            for change in changes.into_iter().filter(|change| is_compared(&change.key)) {
                let RefChange { key, before, after } = change;
                let name = after.as_ref().or(before.as_ref()).and_then(|row| row.name.clone());
                let named = after.as_ref().and_then(|row| snapshots_of(&key, row.clone()).ok());
                let named = named.unwrap_or_default();
                let roots = named.iter().filter_map(|id| Some((*id, roots.get(id)?.clone())));
                said.insert(key, Said { row: after, name, roots: roots.collect() });
            }
        }
        true
    })?;
    let mut found = Vec::new();
    for (name, said) in &recorded {
        found.extend(records::difference(reader, name, said.as_deref())?);
    }
    for (key, said) in &said {
        let row = reader.get_ref(key)?;
        let what = label(key, said.name.as_deref());
        match (&row, &said.row) {
            // Collecting garbage removes checkpoints that nobody asked for.
            (None, Some(_)) if key.kind == CHECKPOINT => {}
            (None, Some(_)) => found.push(format!("{what} is gone, and no event says so")),
            (Some(_), None) => found.push(format!("{what} is there, and the log says it is gone")),
            (Some(row), Some(last)) if row != last => {
                let at = |row: &RefRow| snapshots_of(key, row.clone()).unwrap_or_default();
                let place = |ids: Vec<Id>| ids.first().map(Id::to_string).unwrap_or_default();
                let (now, then) = (place(at(row)), place(at(last)));
                found.push(match now == then {
                    true => format!("{what} is not what the log says"),
                    false => format!("{what} is at snapshot {now}, and the log says {then}"),
                });
            }
            (Some(_), Some(_)) => found.extend(altered(reader, &what, said)?),
            (None, None) => {}
        }
    }
    // What happened before events were removed cannot be compared.
    if pruned(reader)?.is_none() {
        for (name, id) in records::present(reader)? {
            // Events of an older program say nothing about records.
            let is_covered = since_ms.is_some_and(|since_ms| id.time_ms() >= since_ms);
            if is_covered && !recorded.contains_key(&name) {
                found.push(format!("{} is there, and no event says so", records::label(&name)));
            }
        }
        for kind in [HEAD, WORKSPACE, CHECKPOINT] {
            let unsaid = reader.refs(kind)?.into_iter().filter(|(key, _)| !said.contains_key(key));
            found.extend(unsaid.map(|(key, row)| {
                format!("{} is there, and no event says so", label(&key, row.name.as_deref()))
            }));
        }
    }
    Ok(found)
}

/// A snapshot whose files are others than the log says.
fn altered(reader: &Reader<'_>, what: &str, said: &Said) -> Result<Option<String>> {
    for (id, root) in &said.roots {
        let now = reader.snapshot(id)?.map(|row| RootId(row.root).to_hex());
        if now.is_some_and(|now| now != *root) {
            return Ok(Some(format!("{what}: snapshot {id} has other files than the log says")));
        }
    }
    Ok(None)
}

fn is_compared(key: &RefKey) -> bool {
    [HEAD, WORKSPACE, CHECKPOINT].contains(&key.kind.as_str())
}

fn label(key: &RefKey, name: Option<&str>) -> String {
    match key.kind.as_str() {
        HEAD => "the main line".to_owned(),
        kind => format!("{kind} {}", name.unwrap_or(&key.id)),
    }
}
