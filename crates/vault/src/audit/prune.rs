//! Removing old events: only when somebody asks for it, and never unseen.

use offshoot_store::{Hash, Reader};
use serde::{Deserialize, Serialize};

use super::PRUNED;
use super::key::{PublicKey, hex, unhex};
use super::log::verify_on;
use super::verify::AuditVerifier;
use crate::actor::Actor;
use crate::error::{Result, VaultError};
use crate::transact::AUDIT_PRUNED;
use crate::vault::Vault;

/// How far the events of a log were removed. Verifying starts there, and an event of the log says the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrunedAudit {
    /// The number of the last event that was removed.
    pub seq: u64,
    /// The chain up to there, in hexadecimal digits.
    pub chain: String,
    /// The key that signed then; none in a log that nobody signed until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<PublicKey>,
}

impl PrunedAudit {
    /// The chain as bytes; nothing where it is none.
    pub(crate) fn hash(&self) -> Option<Hash> {
        unhex(&self.chain)
    }

    pub(crate) fn read(reader: &Reader<'_>) -> Result<Option<Self>> {
        let bytes = reader.meta(AUDIT_PRUNED)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }
}

impl Vault {
    /// How far events were removed; nothing where all are there.
    pub fn audit_pruned(&self) -> Result<Option<PrunedAudit>> {
        self.read(PrunedAudit::read)
    }

    /// How many events [`prune_audit`](Self::prune_audit) would remove.
    pub fn prunable_audit(&self, before_ms: u64) -> Result<u64> {
        self.read(|reader| Ok(reader.audit_until(before_ms)?.map_or(0, |until| until.count)))
    }

    /// Removes the events of before a time, and records that. The newest one stays. A log that is not what was recorded is left alone.
    /// Returns how many were removed.
    pub fn prune_audit(&self, before_ms: u64, actor: &Actor) -> Result<u64> {
        self.record_event("audit prune", actor, |tx| {
            let Some(until) = tx.reader().audit_until(before_ms)? else {
                tx.summary("remove no audit events: there are none of before then");
                return Ok(0);
            };
            let verified = verify_on(tx.reader(), AuditVerifier::new(self.id(), None))?;
            let report = verified.map_err(VaultError::Audit)?;
            let key = report.keys.iter().rfind(|known| known.since <= until.seq);
            let pruned = PrunedAudit {
                seq: until.seq,
                chain: hex(&until.chain),
                key: key.map(|known| known.key),
            };
            tx.writer().prune_audit(until.seq)?;
            let bytes = serde_json::to_vec(&pruned).expect("plain structs become JSON");
            tx.writer().set_meta(AUDIT_PRUNED, &bytes)?;
            tx.summary(format!("remove {} audit events", until.count));
            tx.detail("events", until.count);
            tx.detail(PRUNED, pruned);
            Ok(until.count)
        })
    }
}
