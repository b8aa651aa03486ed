//! What refs may come to be: whoever reads one must find what it names.

use std::collections::HashSet;

use offshoot_store::{Id, ObjectKind, RefChange, RefKey, RefRow, Writer};
use offshoot_tree::TreeError;

use crate::error::{Result, VaultError};
use crate::refs::snapshots_of;
use crate::refs::{CHECKPOINT, WORKSPACE, key};
use crate::session::SESSION;
use crate::session::error::SessionError;
use crate::snapshot::Snapshot;

/// The kinds of refs that belong to a workspace.
const IN_WORKSPACES: [&str; 2] = [CHECKPOINT, SESSION];

/// Fails where a ref would name a snapshot whose files are gone, or a checkpoint or session be left without its workspace. What refs
/// named before, and what the transaction itself makes, is there and is not looked up.
pub(super) fn verify(writer: &Writer<'_>, changes: &[RefChange], made: &HashSet<Id>) -> Result<()> {
    let mut known: HashSet<Id> = HashSet::new();
    for change in changes {
        if let Some(before) = &change.before {
            known.extend(snapshots_of(&change.key, before.clone())?);
        }
    }
    for change in changes {
        let Some(after) = &change.after else {
            leaves_nothing(writer, changes, change)?;
            continue;
        };
        for id in snapshots_of(&change.key, after.clone())? {
            if !made.contains(&id) && known.insert(id) {
                is_there(writer, &id)?;
            }
        }
        if change.key.kind == SESSION {
            has_row(writer, &change.key)?;
        }
        if IN_WORKSPACES.contains(&change.key.kind.as_str()) {
            has_workspace(writer, changes, change)?;
        }
    }
    Ok(())
}

fn is_there(writer: &Writer<'_>, id: &Id) -> Result<()> {
    let root = Snapshot::load(writer, id)?.root;
    if writer.has_object(ObjectKind::Root, &root.0)? {
        return Ok(());
    }
    Err(match writer.collected(&root.0)? {
        Some(time_ms) => VaultError::Collected { snapshot: *id, time_ms },
        None => VaultError::Tree(TreeError::MissingObject(format!("root {root}"))),
    })
}

/// A workspace that goes takes along what belongs to it.
fn leaves_nothing(writer: &Writer<'_>, changes: &[RefChange], gone: &RefChange) -> Result<()> {
    if gone.key.kind != WORKSPACE {
        return Ok(());
    }
    for kind in IN_WORKSPACES {
        for (key, row) in writer.refs(kind)? {
            let changed = changes.iter().any(|change| change.key == key);
            if row.scope == gone.key.id && !changed {
                return Err(orphaned(key, row));
            }
        }
    }
    Ok(())
}

fn has_workspace(writer: &Writer<'_>, changes: &[RefChange], change: &RefChange) -> Result<()> {
    let Some(after) = &change.after else { return Ok(()) };
    let changed =
        changes.iter().find(|other| other.key.kind == WORKSPACE && other.key.id == after.scope);
    let there = match (changed, after.scope.parse()) {
        (Some(workspace), _) => workspace.after.is_some(),
        (None, Ok(id)) => writer.get_ref(&key(WORKSPACE, &id))?.is_some(),
        (None, Err(_)) => false,
    };
    if there {
        return Ok(());
    }
    Err(orphaned(change.key.clone(), after.clone()))
}

/// A session whose log was collected does not come back.
fn has_row(writer: &Writer<'_>, key: &RefKey) -> Result<()> {
    let Ok(id) = key.id.parse::<Id>() else { return Ok(()) };
    match (writer.session(&id)?, writer.collected(id.as_bytes())?) {
        (Some(_), _) => Ok(()),
        (None, Some(time_ms)) => Err(SessionError::Collected { session: id, time_ms }.into()),
        (None, None) => Err(SessionError::Unknown(id).into()),
    }
}

fn orphaned(key: RefKey, row: RefRow) -> VaultError {
    VaultError::Orphaned { kind: key.kind, name: row.name.unwrap_or(key.id) }
}
