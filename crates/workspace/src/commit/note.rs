//! What a journal keeps for whoever settles it: everything that is needed to record the apply.

use offshoot_store::Id;
use offshoot_tree::RootId;
use offshoot_vault::{Actor, WorkspaceState};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::git::GitCommitRequest;

/// What an apply is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// Who asked for it.
    pub(super) actor: Actor,
    /// What to record.
    pub(super) record: Record,
    /// The states that must not be collected while this is to be recorded; the vault looks for them here.
    roots: Vec<Hex>,
}

impl Note {
    /// Of somebody who wants something recorded.
    pub(super) fn new(actor: &Actor, record: Record) -> Self {
        let roots = match &record {
            Record::Commit(commit) => vec![commit.offered, commit.merged, commit.kept],
            Record::Revert(revert) => vec![revert.root],
        };
        Self { actor: actor.clone(), record, roots }
    }

    /// What the folders become.
    pub(super) fn after(&self) -> RootId {
        match &self.record {
            Record::Commit(commit) => commit.merged.0,
            Record::Revert(revert) => revert.root.0,
        }
    }
}

/// What to record when the folders are changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "lowercase")]
pub(super) enum Record {
    /// A workspace's changes were committed.
    Commit(Box<CommitRecord>),
    /// A commit was taken back or brought back.
    Revert(RevertRecord),
}

/// A commit, ready to be recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CommitRecord {
    /// The workspace.
    pub(super) workspace: Id,
    /// Its name.
    pub(super) name: String,
    /// Where it is; otherwise nothing is recorded.
    pub(super) state: WorkspaceState,
    /// Where the main line is; otherwise nothing is recorded.
    pub(super) head: Id,
    /// The newest snapshots that both came from.
    pub(super) common: Vec<Id>,
    /// What the workspace offered.
    pub(super) offered: Hex,
    /// What the folders are now.
    pub(super) merged: Hex,
    /// What the workspace is now.
    pub(super) kept: Hex,
    /// What is said about it.
    pub(super) message: String,
    /// The same for the operation log.
    pub(super) summary: String,
    /// The commands whose work it is.
    pub(super) execs: Vec<Id>,
    /// The git commit that is to be made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) git: Option<GitCommitRequest>,
}

/// A commit that is taken back, or brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RevertRecord {
    /// Brought back, not taken back.
    pub(super) redo: bool,
    /// The operation that recorded the commit.
    pub(super) target: Id,
    /// Where the main line is; otherwise nothing is recorded.
    pub(super) head: Id,
    /// Where the workspace is; otherwise nothing is recorded.
    pub(super) workspace: WorkspaceState,
    /// What the folders are now.
    pub(super) root: Hex,
}

/// A root as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hex(pub(super) RootId);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: String = self.0.0.iter().map(|byte| format!("{byte:02x}")).collect();
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom("a root is 64 hexadecimal digits");
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong());
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * at..2 * at + 2).ok_or_else(wrong)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
        }
        Ok(Self(RootId(bytes)))
    }
}
