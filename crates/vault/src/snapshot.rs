//! Snapshots: the nodes of history.

use std::collections::{BTreeSet, BinaryHeap};

use offshoot_store::{Id, Reader, SnapshotRow};
use offshoot_tree::{ContentId, RootId};

use crate::actor::Actor;
use crate::error::{Result, VaultError};
use crate::refs::{from_json, to_json};

/// A root with its place in history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Its id.
    pub id: Id,
    /// The state of files.
    pub root: RootId,
    /// The content of that state.
    pub content: ContentId,
    /// What it came from.
    pub parents: Vec<Id>,
    /// When it was made.
    pub time_ms: u64,
    /// Who made it.
    pub actor: Actor,
    /// Why it was made: import, write, restore and so on.
    pub reason: String,
    /// What its maker said about it.
    pub message: Option<String>,
    /// The operation that made it.
    pub operation: Id,
}

impl Snapshot {
    pub(crate) fn row(&self) -> SnapshotRow {
        SnapshotRow {
            id: self.id,
            root: self.root.0,
            content: self.content.0,
            parents: self.parents.clone(),
            time_ms: self.time_ms,
            actor: to_json(&self.actor),
            reason: self.reason.clone(),
            message: self.message.clone(),
            operation: self.operation,
        }
    }

    pub(crate) fn from_row(row: SnapshotRow) -> Result<Self> {
        let actor = from_json(&format!("the actor of snapshot {}", row.id), &row.actor)?;
        Ok(Self {
            id: row.id,
            root: RootId(row.root),
            content: ContentId(row.content),
            parents: row.parents,
            time_ms: row.time_ms,
            actor,
            reason: row.reason,
            message: row.message,
            operation: row.operation,
        })
    }

    /// Reads one snapshot.
    pub(crate) fn load(reader: &Reader<'_>, id: &Id) -> Result<Self> {
        let row = reader.snapshot(id)?.ok_or(VaultError::NoSnapshot(*id))?;
        Self::from_row(row)
    }
}

/// A snapshot and its ancestors, newest first; ids sort by time, so a heap of ids is all it takes.
pub(crate) fn ancestry(reader: &Reader<'_>, from: Id, limit: usize) -> Result<Vec<Snapshot>> {
    let mut pending = BinaryHeap::from([from]);
    let mut seen = BTreeSet::from([from]);
    let mut found = Vec::new();
    while let Some(id) = pending.pop() {
        if found.len() == limit {
            break;
        }
        let snapshot = Snapshot::load(reader, &id)?;
        pending.extend(snapshot.parents.iter().filter(|parent| seen.insert(**parent)));
        found.push(snapshot);
    }
    Ok(found)
}
