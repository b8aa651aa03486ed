//! The refs that a commit moved, from where to where.

use offshoot_store::{Id, RefRow};
use offshoot_vault::{Operation, WorkspaceRecord, WorkspaceState};
use serde::Deserialize;
use serde_json::Value;

use crate::error::{Result, ServiceError};

/// Where the refs that a commit moves are at one time.
#[derive(Clone, Debug)]
pub(super) struct RefValues {
    /// The main line.
    pub(super) head: Id,
    /// The workspace.
    pub(super) workspace: WorkspaceRecord,
}

/// The refs that a commit moved.
#[derive(Clone, Debug)]
pub(super) struct CommitRefs {
    pub(super) before: RefValues,
    pub(super) after: RefValues,
}

impl CommitRefs {
    /// Reads them from the operation that recorded the commit.
    pub(super) fn of(operation: &Operation) -> Result<Self> {
        let side = |pick: fn(&offshoot_store::RefChange) -> Option<&RefRow>| -> Option<RefValues> {
            let rows = operation.changes.iter().filter_map(|c| Some((&c.key, pick(c)?)));
            let find = |kind: &str| rows.clone().find(|(key, _)| key.kind == kind);
            let head = parsed::<Value>(find("head")?.1)?;
            let head = Id::deserialize(head.get("snapshot")?).ok()?;
            let (key, row) = find("workspace")?;
            let state = parsed::<WorkspaceState>(row)?;
            let name = row.name.clone().unwrap_or_default();
            Some(RefValues {
                head,
                workspace: WorkspaceRecord { id: key.id.parse().ok()?, name, state },
            })
        };
        let before = side(|change| change.before.as_ref());
        let after = side(|change| change.after.as_ref());
        match (before, after) {
            (Some(before), Some(after)) => Ok(Self { before, after }),
            _ => Err(ServiceError::Internal(format!("commit {} has no sides", operation.id))),
        }
    }
}

fn parsed<T: serde::de::DeserializeOwned>(row: &RefRow) -> Option<T> {
    serde_json::from_str(&row.value).ok()
}
