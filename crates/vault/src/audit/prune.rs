//! Removing old events: only when somebody asks for it, and never unseen.

use super::key::hex;
use super::log::{pruned, verify_on};
use super::verify::{AuditVerifier, SigningKey};
use super::{HandedOver, PRUNED, PrunedAudit};
use crate::actor::Actor;
use crate::error::{Result, VaultError};
use crate::transact::AUDIT_PRUNED;
use crate::vault::Vault;

impl Vault {
    /// How far events were removed; nothing where all are there.
    pub fn audit_pruned(&self) -> Result<Option<PrunedAudit>> {
        self.read(pruned)
    }

    /// How many events [`prune_audit`](Self::prune_audit) would remove.
    pub fn prunable_audit(&self, before_ms: u64) -> Result<u64> {
        self.read(|reader| Ok(reader.audit_until(before_ms)?.map_or(0, |until| until.count)))
    }

    /// Removes the events of before a time, and records that. The newest one stays. A log that is not what was recorded is left alone.
    /// Returns how many were removed.
    pub fn prune_audit(&self, before_ms: u64, actor: &Actor) -> Result<u64> {
        actor.require_person("remove audit events")?;
        self.record_event("audit prune", actor, |tx| {
            let Some(until) = tx.reader().audit_until(before_ms)? else {
                tx.summary("remove no audit events: there are none of before then");
                return Ok(0);
            };
            let verified = verify_on(tx.reader(), AuditVerifier::new(self.id(), None))?;
            let report = verified.map_err(|flaw| VaultError::Audit(flaw.to_string()))?;
            let signed: Vec<&SigningKey> =
                report.keys.iter().filter(|known| known.since <= until.seq).collect();
            let pruned = PrunedAudit {
                seq: until.seq,
                chain: hex(&until.chain),
                key: signed.last().map(|known| known.key),
                former: handed_over(&signed),
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

/// The keys that lead to the last one, each by the word of the one before; oldest first.
fn handed_over(signed: &[&SigningKey]) -> Vec<HandedOver> {
    let Some((_, before)) = signed.split_last() else { return Vec::new() };
    let word = |known: &&SigningKey| {
        let SigningKey { key, since, succession, .. } = **known;
        succession.map(|succession| HandedOver { key, since, succession })
    };
    let mut former: Vec<HandedOver> = before.iter().rev().map_while(word).collect();
    former.reverse();
    former
}
