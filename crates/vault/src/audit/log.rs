//! The log of a vault, as others read it.

use std::fmt::Write as _;

use offshoot_store::{AuditRow, Hash, Id, Reader};

use super::key::PublicKey;
use super::verify::{AuditFlaw, AuditReport, AuditVerifier};
use super::{AuditHead, PrunedAudit, SignedHead};
use crate::actor::Actor;
use crate::error::Result;
use crate::transact::{AUDIT_PRUNED, AUDIT_SIGNATURE};
use crate::vault::Vault;

/// Events are read in pages of this many.
const PAGE: u32 = 1000;

/// An event of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    /// Its number, from 1.
    pub seq: u64,
    /// When.
    pub time_ms: u64,
    /// The operation that it belongs to.
    pub operation: Id,
    /// What happened, as JSON: the bytes that the chain covers.
    pub text: String,
    /// The chain up to and with it.
    pub chain: Hash,
}

impl From<AuditRow> for AuditEvent {
    fn from(row: AuditRow) -> Self {
        let AuditRow { seq, time_ms, operation, event, chain } = row;
        Self { seq: seq.unsigned_abs(), time_ms, operation, text: event, chain }
    }
}

impl Vault {
    /// Events after a number, oldest first: a page of them. Events are only ever added, so whoever reads up to a head has read one moment.
    pub fn audit_events(&self, after: u64) -> Result<Vec<AuditEvent>> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let rows = self.read(|reader| Ok(reader.audit(after, PAGE)?))?;
        Ok(rows.into_iter().map(AuditEvent::from).collect())
    }

    /// How far the log goes, and the signature that it has.
    pub fn audit_head(&self) -> Result<(AuditHead, Option<SignedHead>)> {
        self.read(|reader| head(reader, self.id()))
    }

    /// Events before a number, newest first: a page of them.
    pub fn audit_events_before(&self, before: u64) -> Result<Vec<AuditEvent>> {
        let before = i64::try_from(before).unwrap_or(i64::MAX);
        let rows = self.read(|reader| Ok(reader.audit_before(before, PAGE)?))?;
        Ok(rows.into_iter().map(AuditEvent::from).collect())
    }

    /// The key that signs for the vault on this machine; nothing where it has not signed for it yet.
    pub fn audit_key(&self) -> Result<Option<PublicKey>> {
        let recorded = self.read(|reader| Ok(head(reader, self.id())?.1))?;
        let key = self.signing().find(recorded.as_ref().map(|signed| &signed.key))?;
        Ok(key.map(|key| key.public()))
    }

    /// Goes through the whole log, as it is at one moment.
    pub fn verify_audit(&self, verifier: AuditVerifier) -> Result<Result<AuditReport, AuditFlaw>> {
        self.read(|reader| verify_on(reader, verifier))
    }

    /// Has a new key sign from now on, which the old one gives its word for.
    pub fn rotate_audit_key(&self, actor: &Actor) -> Result<PublicKey> {
        actor.require_person("replace the key of the audit log")?;
        // All under the write lock of the catalog: two at once would hand over to the key of one and keep that of the other.
        let public = self.transact("audit rotate", actor, |tx| tx.hand_over())?.value;
        self.settle_key()?;
        Ok(public)
    }
}

/// How far the log that a reader sees goes, and its signature.
pub(crate) fn head(reader: &Reader<'_>, vault: Id) -> Result<(AuditHead, Option<SignedHead>)> {
    let chain = reader.audit_head()?.unwrap_or_default();
    let signed = reader.meta(AUDIT_SIGNATURE)?;
    let signed = signed.and_then(|bytes| SignedHead::from_bytes(&bytes));
    let seq = reader.last_audit_seq()?;
    Ok((AuditHead { vault, seq, chain }, signed))
}

/// How far events were removed from the log that a reader sees.
pub(crate) fn pruned(reader: &Reader<'_>) -> Result<Option<PrunedAudit>> {
    let bytes = reader.meta(AUDIT_PRUNED)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Goes through the log that a reader sees.
pub(crate) fn verify_on(
    reader: &Reader<'_>,
    mut verifier: AuditVerifier,
) -> Result<Result<AuditReport, AuditFlaw>> {
    if let Some(start) = pruned(reader)?
        && let Err(flaw) = verifier.start_after(start)
    {
        return Ok(Err(flaw));
    }
    let mut added = Ok(());
    let mut start = String::new();
    reader.each_audit_event(|seen| {
        added = verifier.add(seen.seq, seen.event, &seen.chain);
        // Lists and retention go by the columns, which the chain does not cover: they repeat what the event says.
        start.clear();
        let written =
            write!(start, "{{\"operation\":\"{}\",\"time_ms\":{},", seen.operation, seen.time_ms);
        if added.is_ok() && (written.is_err() || !seen.is_intact || !seen.event.starts_with(&start))
        {
            added = Err(AuditFlaw::Altered(seen.seq));
        }
        added.is_ok()
    })?;
    if let Err(flaw) = added {
        return Ok(Err(flaw));
    }
    let (kept, signed) = head(reader, verifier.head().vault)?;
    // The chain is kept beside the events too: without it nobody would miss the last of them.
    match kept.chain == verifier.head().chain {
        true => Ok(verifier.finish(signed.as_ref())),
        false => Ok(Err(AuditFlaw::Signature(kept.seq))),
    }
}
