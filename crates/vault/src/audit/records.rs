//! Hashes over what events name and do not hold: operations, snapshots, the records of commands, what they printed, and approvals.

use std::collections::BTreeMap;

use offshoot_store::{Hash, Id, NewOperation, Reader, RefChange, RefKey, RefRow, SnapshotRow};
use serde::{Deserialize, Serialize};

use super::key::hex;
use crate::error::{Result, VaultError};
use crate::exec::{STDERR, STDOUT};
use crate::refs::{APPROVAL, to_json};

/// What is called so in an event, and its hash after the event; nothing where it is gone then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Records(pub(crate) BTreeMap<String, Option<String>>);

const EXEC: &str = "exec";
/// The value is no hash: it says how far the log of a session is.
const SESSION: &str = "session";
const OPERATION: &str = "operation";
const SNAPSHOT: &str = "snapshot";
const STREAMS: [(&str, u8); 2] = [("stdout", STDOUT), ("stderr", STDERR)];

impl Records {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The record of a command, with its envelope.
    pub(crate) fn exec(&mut self, exec: &offshoot_store::ExecRow) {
        self.0.insert(format!("{EXEC} {}", exec.id), Some(of(exec)));
    }

    /// What a command printed.
    pub(crate) fn output(&mut self, exec: &Id, stream: u8, bytes: &[u8]) {
        if let Some((name, _)) = STREAMS.iter().find(|(_, number)| *number == stream) {
            self.0.insert(format!("{name} {exec}"), Some(hash(bytes)));
        }
    }

    /// An operation.
    pub(crate) fn operation(&mut self, operation: &NewOperation) {
        self.0.insert(operation_name(&operation.id), Some(of(operation)));
    }

    /// A snapshot: its files, what it came from, who made it, when and why.
    pub(crate) fn snapshot(&mut self, snapshot: &SnapshotRow) {
        self.0.insert(format!("{SNAPSHOT} {}", snapshot.id), Some(of(snapshot)));
    }

    /// How far the log of a session is.
    pub(crate) fn session(&mut self, id: &Id, place: &str) {
        self.0.insert(format!("{SESSION} {id}"), Some(place.to_owned()));
    }

    /// Whether there is one of an operation.
    pub(crate) fn has_operations(&self) -> bool {
        self.0.keys().any(|name| is_operation(name))
    }

    /// A ref that is changed beside the operation: an approval, or a checkpoint that lapses.
    pub(crate) fn unlogged(&mut self, change: &RefChange) {
        let RefChange { key, after, .. } = change;
        self.0.insert(format!("{} {}", key.kind, key.id), after.as_ref().map(of::<RefRow>));
    }
}

/// The hash of what is called so now; nothing where there is none.
pub(crate) fn now(reader: &Reader<'_>, name: &str) -> Result<Option<String>> {
    let (kind, id) = name.split_once(' ').unwrap_or((name, ""));
    let parsed = |id: &str| id.parse::<Id>().ok();
    if kind == EXEC {
        let Some(id) = parsed(id) else { return Ok(None) };
        return Ok(reader.exec(&id)?.as_ref().map(of));
    }
    if kind == OPERATION {
        let Some(id) = parsed(id) else { return Ok(None) };
        return Ok(reader.operation(&id)?.map(|row| of(&row.operation)));
    }
    if let Some((_, stream)) = STREAMS.iter().find(|(name, _)| *name == kind) {
        let Some(id) = parsed(id) else { return Ok(None) };
        return Ok(reader.exec_output(&id, *stream)?.map(|bytes| hash(&bytes)));
    }
    if kind != APPROVAL {
        return Ok(None);
    }
    let key = RefKey { kind: kind.to_owned(), id: id.to_owned() };
    Ok(reader.get_ref(&key)?.as_ref().map(of))
}

/// What is wrong with what is called so, if anything is.
pub(crate) fn difference(
    reader: &Reader<'_>,
    name: &str,
    said: Option<&str>,
) -> Result<Option<String>> {
    let found = match now(reader, name) {
        Ok(found) => found,
        Err(VaultError::Store(damage @ offshoot_store::StoreError::Damaged { .. })) => {
            return Ok(Some(damage.to_string()));
        }
        Err(error) => return Err(error),
    };
    let what = label(name);
    Ok(match (found.as_deref(), said) {
        (None, Some(_)) if is_collected(reader, name)? => None,
        (None, Some(_)) => Some(format!("{what} is gone, and no event says so")),
        (Some(_), None) => Some(format!("{what} is there, and the log says it is gone")),
        (found, said) if found != said => Some(format!("{what} is not what the log says")),
        _ => None,
    })
}

/// What commands printed is collected as garbage in the end, and the catalog notes it.
fn is_collected(reader: &Reader<'_>, name: &str) -> Result<bool> {
    let stream = name.split_once(' ').filter(|(kind, _)| STREAMS.iter().any(|(s, _)| s == kind));
    let exec = stream.and_then(|(_, id)| id.parse::<Id>().ok());
    let Some(exec) = exec else { return Ok(false) };
    Ok(reader.collected(exec.as_bytes())?.is_some())
}

/// What is there of such things, by the names that events have for it.
pub(crate) fn present(reader: &Reader<'_>) -> Result<Vec<(String, Id)>> {
    let execs =
        reader.exec_ends()?.into_iter().map(|exec| (format!("{EXEC} {}", exec.id), exec.id));
    let approvals = reader
        .refs(APPROVAL)?
        .into_iter()
        .filter_map(|(key, _)| Some((format!("{APPROVAL} {}", key.id), key.id.parse().ok()?)));
    let named = |stream: u8| STREAMS.iter().find(|(_, number)| *number == stream);
    let outputs = reader
        .kept_streams()?
        .into_iter()
        .filter_map(|(exec, stream)| Some((format!("{} {exec}", named(stream)?.0), exec)));
    let operations = reader.operation_ids()?.into_iter().map(|id| (operation_name(&id), id));
    Ok(execs.chain(approvals).chain(outputs).chain(operations).collect())
}

/// What events call an operation.
pub(crate) fn operation_name(id: &Id) -> String {
    format!("{OPERATION} {id}")
}

pub(crate) fn is_operation(name: &str) -> bool {
    name.split_once(' ').is_some_and(|(kind, _)| kind == OPERATION)
}

/// The session that is called so in an event.
pub(crate) fn session_of(name: &str) -> Option<Id> {
    let (kind, id) = name.split_once(' ')?;
    id.parse().ok().filter(|_| kind == SESSION)
}

/// The snapshot that is called so in an event.
pub(crate) fn snapshot_of(name: &str) -> Option<Id> {
    let (kind, id) = name.split_once(' ')?;
    id.parse().ok().filter(|_| kind == SNAPSHOT)
}

pub(crate) fn is_approval(name: &str) -> bool {
    name.split_once(' ').is_some_and(|(kind, _)| kind == APPROVAL)
}

pub(crate) fn label(name: &str) -> String {
    match name.split_once(' ') {
        Some((EXEC, id)) => format!("the record of command {id}"),
        Some((kind, id)) if STREAMS.iter().any(|(stream, _)| *stream == kind) => {
            format!("{kind} of command {id}")
        }
        _ => name.to_owned(),
    }
}

pub(crate) fn of<T: Serialize>(record: &T) -> String {
    hash(to_json(record).as_bytes())
}

fn hash(bytes: &[u8]) -> String {
    let hash: Hash = blake3::derive_key("offshoot v1 audit record", bytes);
    hex(&hash)
}
