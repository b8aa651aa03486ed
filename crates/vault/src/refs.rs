//! Typed refs: everything that an operation can change and undo.

use std::sync::LazyLock;

use offshoot_host::FolderIdentity;
use offshoot_store::{Id, Reader, RefKey, RefRow};
use offshoot_tree::VaultPath;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::approval::Approval;
use crate::error::{Result, VaultError};

/// A named, mutable line of snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceRecord {
    /// Its id, which stays when it is renamed.
    pub id: Id,
    /// Its name, unique in the vault.
    pub name: String,
    /// Where it is in its history.
    pub state: WorkspaceState,
}

/// What a workspace's ref holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceState {
    /// Its newest snapshot.
    pub head: Id,
    /// The snapshot it was forked from.
    pub base: Id,
    /// The workspace it was forked from, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Id>,
    /// When it was made.
    pub created_ms: u64,
    /// For an ephemeral one: when it may be cleaned up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
}

/// A ref to a snapshot of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its id.
    pub id: Id,
    /// The workspace it belongs to.
    pub workspace: Id,
    /// Its name, unique in the workspace.
    pub name: String,
    /// What it points at.
    pub state: CheckpointState,
}

/// What a checkpoint's ref holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointState {
    /// The snapshot.
    pub snapshot: Id,
    /// Made by Offshoot, not asked for.
    pub automatic: bool,
    /// When it was made.
    pub created_ms: u64,
    /// Why it was made.
    pub reason: String,
}

/// A host directory that the vault is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Its id.
    pub id: Id,
    /// Its name, unique in the vault; empty for the first folder, which is the top of the tree.
    pub name: String,
    /// The canonical host path, as bytes.
    pub path: Vec<u8>,
    /// When it was bound.
    pub created_ms: u64,
    /// The folder itself when it was last looked at: another one at its path is another folder.
    pub identity: Option<FolderIdentity>,
    /// The git directory of the first folder, which lies elsewhere. Several vaults may have the same, so none claims its path.
    pub git: bool,
}

#[derive(Serialize, Deserialize)]
struct BindingState {
    path: StoredPath,
    created_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inode: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    born_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    git: bool,
}

/// A path in JSON: text where it is UTF-8, else its bytes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredPath {
    Text(String),
    Bytes { bytes: Vec<u8> },
}

#[derive(Serialize, Deserialize)]
struct HeadState {
    snapshot: Id,
}

pub(crate) const HEAD: &str = "head";
pub(crate) const WORKSPACE: &str = "workspace";
pub(crate) const CHECKPOINT: &str = "checkpoint";
pub(crate) const BINDING: &str = "binding";
pub(crate) const APPROVAL: &str = "approval";

/// The directory in a vault's tree that holds all folders but the first, which it is no part of.
pub fn bound_path() -> VaultPath {
    static PATH: LazyLock<VaultPath> = LazyLock::new(|| VaultPath::top().join(OWN).join(BOUND));
    PATH.clone()
}

/// What belongs to Offshoot in the first folder's tree.
pub(crate) const OWN: &[u8] = b".offshoot";
pub(crate) const BOUND: &[u8] = b"bound";

pub(crate) fn head_key() -> RefKey {
    RefKey { kind: HEAD.to_owned(), id: HEAD.to_owned() }
}

pub(crate) fn key(kind: &str, id: &Id) -> RefKey {
    RefKey { kind: kind.to_owned(), id: id.to_string() }
}

pub(crate) fn head_row(snapshot: Id) -> RefRow {
    RefRow { scope: String::new(), name: None, value: to_json(&HeadState { snapshot }) }
}

pub(crate) fn head_snapshot(row: &RefRow) -> Result<Id> {
    Ok(from_json::<HeadState>("the head", &row.value)?.snapshot)
}

impl WorkspaceRecord {
    pub(crate) fn row(&self) -> RefRow {
        RefRow { scope: String::new(), name: Some(self.name.clone()), value: to_json(&self.state) }
    }

    pub(crate) fn from_row(key: &RefKey, row: RefRow) -> Result<Self> {
        let name = row.name.unwrap_or_default();
        let state = from_json(&format!("workspace {name}"), &row.value)?;
        Ok(Self { id: parse_id(key)?, name, state })
    }
}

impl Checkpoint {
    pub(crate) fn row(&self) -> RefRow {
        RefRow {
            scope: self.workspace.to_string(),
            name: Some(self.name.clone()),
            value: to_json(&self.state),
        }
    }

    pub(crate) fn from_row(key: &RefKey, row: RefRow) -> Result<Self> {
        let name = row.name.unwrap_or_default();
        let state = from_json(&format!("checkpoint {name}"), &row.value)?;
        let workspace = RefKey { kind: WORKSPACE.to_owned(), id: row.scope };
        Ok(Self { id: parse_id(key)?, workspace: parse_id(&workspace)?, name, state })
    }
}

impl Binding {
    /// Of a host directory, by its canonical path; the name is empty for the top of the tree.
    pub fn new(id: Id, name: &str, directory: &std::path::Path, created_ms: u64) -> Self {
        let path = directory.as_os_str().as_encoded_bytes().to_vec();
        let identity = FolderIdentity::of(directory);
        Self { id, name: name.to_owned(), path, created_ms, identity, git: false }
    }

    pub(crate) fn row(&self) -> RefRow {
        let path = match String::from_utf8(self.path.clone()) {
            Ok(text) => StoredPath::Text(text),
            Err(error) => StoredPath::Bytes { bytes: error.into_bytes() },
        };
        let (created_ms, git) = (self.created_ms, self.git);
        let inode = self.identity.map(|identity| identity.inode);
        let born_ns = self.identity.and_then(|identity| identity.born_ns);
        let value = to_json(&BindingState { path, created_ms, inode, born_ns, git });
        let name = Some(self.name.clone()).filter(|name| !name.is_empty());
        RefRow { scope: String::new(), name, value }
    }

    /// Whether it is the first folder, which is the top of the tree.
    pub fn is_first(&self) -> bool {
        self.name.is_empty()
    }

    /// Where the folder lies in the tree of the vault.
    pub fn at(&self) -> VaultPath {
        match self.is_first() {
            true => VaultPath::top(),
            false => bound_path().join(self.name.as_bytes()),
        }
    }

    /// Whether there is no folder at its path.
    pub fn is_gone(&self) -> bool {
        !self.host_path().is_dir()
    }

    /// The host directory.
    pub fn host_path(&self) -> std::path::PathBuf {
        offshoot_host::disk::bytes_path(&self.path).to_owned()
    }

    pub(crate) fn from_row(key: &RefKey, row: &RefRow) -> Result<Self> {
        let state: BindingState = from_json("a binding", &row.value)?;
        let path = match state.path {
            StoredPath::Text(text) => text.into_bytes(),
            StoredPath::Bytes { bytes } => bytes,
        };
        let name = row.name.clone().unwrap_or_default();
        let (created_ms, git) = (state.created_ms, state.git);
        let identity = state.inode.map(|inode| FolderIdentity { inode, born_ns: state.born_ns });
        Ok(Self { id: parse_id(key)?, name, path, created_ms, identity, git })
    }
}

fn parse_id(key: &RefKey) -> Result<Id> {
    key.id.parse().map_err(|error| VaultError::BadRecord {
        what: format!("the id of a {}", key.kind),
        source: serde::de::Error::custom(error),
    })
}

pub(crate) fn from_json<T: DeserializeOwned>(what: &str, text: &str) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|source| VaultError::BadRecord { what: what.to_owned(), source })
}

pub(crate) fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain structs with text keys always become JSON")
}

/// The bindings as they are, that of the top of the tree first.
pub(crate) fn bindings(reader: &Reader<'_>) -> Result<Vec<Binding>> {
    let rows = reader.refs(BINDING)?;
    let bindings: Result<Vec<Binding>> =
        rows.iter().map(|(key, row)| Binding::from_row(key, row)).collect();
    let mut bindings = bindings?;
    bindings.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(bindings)
}

/// The snapshots that refs point at.
pub(crate) fn reachable_heads(reader: &Reader<'_>) -> Result<Vec<Id>> {
    let mut heads = Vec::new();
    for (key, row) in reader.all_refs()? {
        heads.extend(snapshots_of(&key, row)?);
    }
    heads.sort_unstable();
    heads.dedup();
    Ok(heads)
}

/// The snapshots that commands start from: of the head, and of each workspace and what it was forked from.
pub(crate) fn working_heads(reader: &Reader<'_>) -> Result<Vec<Id>> {
    let mut heads = Vec::new();
    for kind in [HEAD, WORKSPACE] {
        for (key, row) in reader.refs(kind)? {
            heads.extend(snapshots_of(&key, row)?);
        }
    }
    Ok(heads)
}

/// The snapshots that one ref points at.
pub(crate) fn snapshots_of(key: &RefKey, row: RefRow) -> Result<Vec<Id>> {
    Ok(match key.kind.as_str() {
        HEAD => vec![head_snapshot(&row)?],
        WORKSPACE => {
            let state = WorkspaceRecord::from_row(key, row)?.state;
            vec![state.head, state.base]
        }
        CHECKPOINT => vec![Checkpoint::from_row(key, row)?.state.snapshot],
        BINDING => Binding::from_row(key, &row).map(|_| Vec::new())?,
        APPROVAL => Approval::from_row(key, &row)?.snapshots(),
        _ => Vec::new(),
    })
}
