//! Which states of files a change of refs leads from and to.

use std::fmt;

use offshoot_store::{Id, RefChange, RefKey, RefRow};

use super::Transaction;
use crate::error::Result;
use crate::refs::{WORKSPACE, WorkspaceRecord, head_key, head_snapshot};

/// What is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MovedRef {
    /// The main line.
    Head,
    /// A workspace.
    Workspace(Id),
}

impl fmt::Display for MovedRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head => f.write_str("head"),
            Self::Workspace(id) => write!(f, "workspace {id}"),
        }
    }
}

/// The main line or a workspace, moved from one snapshot to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefMove {
    /// What is moved.
    pub moved: MovedRef,
    /// Where it was.
    pub before: Id,
    /// Where it is.
    pub after: Id,
}

impl RefMove {
    /// What a change moves. One that makes or removes a workspace moves nothing, and neither does one of another ref.
    pub fn of(change: &RefChange) -> Result<Option<Self>> {
        Self::between(&change.key, change.before.as_ref(), change.after.as_ref())
    }

    fn between(
        key: &RefKey,
        before: Option<&RefRow>,
        after: Option<&RefRow>,
    ) -> Result<Option<Self>> {
        let (Some(before), Some(after)) = (before, after) else { return Ok(None) };
        let (moved, before, after) = if *key == head_key() {
            (MovedRef::Head, head_snapshot(before)?, head_snapshot(after)?)
        } else if key.kind == WORKSPACE {
            let read = |row: &RefRow| WorkspaceRecord::from_row(key, row.clone());
            let (before, after) = (read(before)?, read(after)?);
            (MovedRef::Workspace(after.id), before.state.head, after.state.head)
        } else {
            return Ok(None);
        };
        Ok((before != after).then_some(Self { moved, before, after }))
    }
}

impl Transaction<'_, '_> {
    /// What this transaction moves so far.
    pub fn moves(&self) -> Result<Vec<RefMove>> {
        let touched = self.touched.iter();
        let moves = touched
            .map(|(key, (before, after))| RefMove::between(key, before.as_ref(), after.as_ref()));
        moves.filter_map(Result::transpose).collect()
    }
}
