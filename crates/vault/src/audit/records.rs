//! Hashes over what events name and do not hold: the records of commands, what they printed, and approvals.

use std::collections::BTreeMap;

use offshoot_store::{Hash, Id, Reader, RefChange, RefKey, RefRow};
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

    /// An approval, among refs that are changed beside the operation. Checkpoints that lapse are the others.
    pub(crate) fn approval(&mut self, change: &RefChange) {
        let RefChange { key, after, .. } = change;
        if key.kind != APPROVAL {
            return;
        }
        self.0.insert(format!("{} {}", key.kind, key.id), after.as_ref().map(of::<RefRow>));
    }
}

/// The hash of what is called so now; nothing where there is none.
pub(crate) fn now(reader: &Reader<'_>, name: &str) -> Result<Option<String>> {
    let (kind, id) = name.split_once(' ').unwrap_or((name, ""));
    let of_exec = |id: &str| id.parse::<Id>().ok();
    if kind == EXEC {
        let Some(id) = of_exec(id) else { return Ok(None) };
        return Ok(reader.exec(&id)?.as_ref().map(of));
    }
    if let Some((_, stream)) = STREAMS.iter().find(|(name, _)| *name == kind) {
        let Some(id) = of_exec(id) else { return Ok(None) };
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
    Ok(execs.chain(approvals).collect())
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

fn of<T: Serialize>(record: &T) -> String {
    hash(to_json(record).as_bytes())
}

fn hash(bytes: &[u8]) -> String {
    let hash: Hash = blake3::derive_key("offshoot v1 audit record", bytes);
    hex(&hash)
}
