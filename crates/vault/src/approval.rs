//! Requests that wait for a person to decide. They are refs, so that what they name is kept, and no part of what can be undone: no undo brings
//! back a grant that was used.

use std::collections::BTreeMap;

use offshoot_store::{Id, ProcessMark, Reader, RefKey, RefRow};
use offshoot_vocabulary::{ApprovalScope, ApprovalState};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::actor::Actor;
use crate::audit::key::{AuditKey, PublicKey, Signature};
use crate::error::{Result, VaultError};
use crate::refs::{APPROVAL, from_json, key, to_json};

/// What a signature of an approval starts with, so that it can be taken for nothing else.
const STATEMENT: &[u8] = b"offshoot v1 approval\0";

/// A request that a person decides about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// The id of the exec that was asked for.
    pub id: Id,
    /// The workspace that it is about; none where it would be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Id>,
    /// What that workspace was called, or what one that would be made would be; none where nobody named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<String>,
    /// How far it came.
    pub state: ApprovalState,
    /// When it was asked for.
    pub created_ms: u64,
    /// When it is too late to decide.
    pub expires_ms: u64,
    /// The command line, for people.
    pub command: String,
    /// Why a person has to decide.
    pub reason: String,
    /// Who asked.
    pub asked_by: Actor,
    /// What the request is recognised by.
    pub digest: String,
    /// What the same command of the same session is recognised by, for an approval that holds for all of that session.
    pub repeats: String,
    /// What a workspace that is not there yet would be made from, where somebody named that; otherwise the main line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The network that it was asked with, as `--net` has it; missing in approvals of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The snapshot that it starts from: that of its workspace, or what a workspace that is not there yet would be made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Id>,
    /// The snapshot that a trial left; the one before where it changed nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Id>,
    /// How many paths the trial would change; missing in approvals of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
    /// The states of files (root hashes) of these snapshots: a catalog in which one of them is another is refused.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roots: BTreeMap<Id, String>,
    /// Why it was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untried: Option<String>,
    /// Everything that is needed to run it later, as JSON that the vault does not look into; gone when it is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// The process that waits for the decision, and runs the command itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiter: Option<Waiter>,
    /// Who decided, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<ApprovalDecision>,
}

/// A process of one boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// The boot.
    pub boot: String,
    /// The process.
    pub process: ProcessMark,
}

impl Waiter {
    /// This process.
    pub fn own() -> Self {
        Self { boot: offshoot_store::boot_id().to_owned(), process: ProcessMark::own() }
    }

    /// Whether it is still there.
    pub fn is_there(&self) -> bool {
        self.boot == offshoot_store::boot_id() && self.process.is_alive()
    }
}

/// Who decided about an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalDecision {
    /// Who.
    pub by: Actor,
    /// When.
    pub time_ms: u64,
    /// What they said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it holds for.
    pub scope: ApprovalScope,
}

/// As it is stored: the text of the approval, and who vouches for it.
#[derive(Serialize, Deserialize)]
struct Signed {
    signature: Signature,
    approval: Box<RawValue>,
}

impl Approval {
    /// The snapshots that must be kept for it.
    pub(crate) fn snapshots(&self) -> Vec<Id> {
        match self.state.is_final() {
            true => Vec::new(),
            false => self.base.into_iter().chain(self.trial).collect(),
        }
    }

    /// Whether it can be carried out when nobody waits for it any more: it was tried, or all that it needs was kept.
    pub fn outlives_waiter(&self) -> bool {
        self.trial.is_some() || self.request.is_some()
    }

    /// Whether it holds for the same command of the same session at this time.
    pub fn holds_for_session(&self, now_ms: u64) -> bool {
        let scope = self.decision.as_ref().map(|decision| decision.scope);
        self.state == ApprovalState::Approved
            && scope == Some(ApprovalScope::Session)
            && now_ms < self.expires_ms
    }

    pub(crate) fn row(&self, vault: &Id, signs: &AuditKey) -> RefRow {
        let approval = to_raw_value(self).expect("plain structs with text keys become JSON");
        let signature = signs.sign(&statement(vault, approval.get()));
        let scope = self.workspace.map_or_else(String::new, |id| id.to_string());
        RefRow { scope, name: None, value: to_json(&Signed { signature, approval }) }
    }

    pub(crate) fn from_row(key: &RefKey, row: &RefRow) -> Result<Self> {
        let what = format!("approval {}", key.id);
        let signed: Signed = from_json(&what, &row.value)?;
        let approval: Self = from_json(&what, signed.approval.get())?;
        match approval.id.to_string() == key.id {
            true => Ok(approval),
            false => Err(VaultError::ForgedApproval(key.id.clone())),
        }
    }

    /// The same of a row that this key vouches for.
    pub(crate) fn genuine(
        key: &RefKey,
        row: &RefRow,
        vault: &Id,
        signer: &PublicKey,
    ) -> Result<Self> {
        let approval = Self::from_row(key, row)?;
        let signed: Signed = from_json(&format!("approval {}", key.id), &row.value)?;
        match signer.has_signed(&statement(vault, signed.approval.get()), &signed.signature) {
            true => Ok(approval),
            false => Err(VaultError::ForgedApproval(key.id.clone())),
        }
    }
}

fn statement(vault: &Id, text: &str) -> Vec<u8> {
    [STATEMENT, vault.as_bytes(), text.as_bytes()].concat()
}

/// All approvals, oldest first. Whether they are genuine is looked at by whoever decides about one.
pub(crate) fn approvals(reader: &Reader<'_>) -> Result<Vec<Approval>> {
    let rows = reader.refs(APPROVAL)?;
    let found: Result<Vec<Approval>> =
        rows.iter().map(|(key, row)| Approval::from_row(key, row)).collect();
    let mut found = found?;
    found.sort_by_key(|approval| (approval.created_ms, approval.id));
    Ok(found)
}

/// One approval.
pub(crate) fn approval(reader: &Reader<'_>, id: &Id) -> Result<Option<Approval>> {
    let key = key(APPROVAL, id);
    let row = reader.get_ref(&key)?;
    row.map(|row| Approval::from_row(&key, &row)).transpose()
}
