//! Whether a log is what was written: read from its start, with nothing but a public key.

use std::collections::BTreeMap;
use std::fmt;

use offshoot_store::{Hash, Id};
use serde::Deserialize;

use super::key::{PublicKey, Signature};
use super::{AuditHead, HandedOver, KeyChange, PrunedAudit, SignedHead, audit_chain, succession};

/// What is wrong with a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditFlaw {
    /// An event is not the one that was written there.
    #[error("event {0} is not what was recorded")]
    Altered(u64),
    /// An event is missing, or is not in its place.
    #[error("event {expected} is missing; event {found} comes in its place")]
    Missing {
        /// The event that should come.
        expected: u64,
        /// The one that does.
        found: u64,
    },
    /// Another key signs from an event on, and what it says about the one before is not true.
    #[error(
        "event {0} brings another key, and the one before did not sign for what came until then"
    )]
    KeyChange(u64),
    /// Nobody signed for the end.
    #[error("the events from {0} on are not signed")]
    Unsigned(u64),
    /// Nobody ever signed for it: it is from before there were signatures.
    #[error("none of the {0} events is signed")]
    NeverSigned(u64),
    /// The signature is not that of the key.
    #[error("the signature for event {0} is not one of the key that signs for the log")]
    Signature(u64),
    /// The log is not signed by the key that is trusted, nor by one that it handed over to.
    #[error(
        "the log is signed by {0}, which is neither the key that is trusted nor one that it handed over to"
    )]
    AnotherKey(PublicKey),
    /// Somebody saw the log go further.
    #[error("the log ends at event {found}, and it went on to event {saved}")]
    CutShort {
        /// How far it goes.
        found: u64,
        /// How far it went.
        saved: u64,
    },
    /// Somebody saw another event there.
    #[error("event {0} is another one than it was")]
    Replaced(u64),
    /// It does not begin at the start, and does not say why.
    #[error("the log begins after event {0}, and no event says that those before were removed")]
    Beheaded(u64),
}

/// A log that is what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// How far it goes.
    pub head: AuditHead,
    /// How many events there are.
    pub events: u64,
    /// The keys that signed, oldest first.
    pub keys: Vec<SigningKey>,
    /// Saved heads that lie before the first event: what was there was removed, and cannot be compared.
    pub uncompared: Vec<u64>,
}

/// A key that signed for a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SigningKey {
    /// The key.
    pub key: PublicKey,
    /// The event that brought it.
    pub since: u64,
    /// Whether the one before gave its word for it.
    pub handed_over: bool,
    /// The word of this one for the next, if it gave it.
    pub succession: Option<Signature>,
}

/// Goes through a log event by event.
#[derive(Clone, Debug)]
pub struct AuditVerifier {
    head: AuditHead,
    /// Where it begins.
    start: AuditHead,
    events: u64,
    keys: Vec<SigningKey>,
    trusted: Option<PublicKey>,
    /// Whether the key that signs now is the trusted one, or was handed over to by it.
    is_trusted: bool,
    saved: BTreeMap<u64, Hash>,
    /// Where it begins, if events were removed, until an event says so.
    unsaid: Option<PrunedAudit>,
}

/// What is read of an event.
#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    details: Details,
}

#[derive(Default, Deserialize)]
struct Details {
    #[serde(default)]
    audit_key: Option<KeyChange>,
    #[serde(default)]
    audit_pruned: Option<PrunedAudit>,
}

impl AuditVerifier {
    /// For the log of a vault. Whoever trusts no key learns which ones signed.
    pub fn new(vault: Id, trusted: Option<PublicKey>) -> Self {
        let head = AuditHead { vault, seq: 0, chain: Hash::default() };
        let (events, keys, is_trusted) = (0, Vec::new(), false);
        let (saved, start) = (BTreeMap::new(), head);
        Self { head, start, events, keys, trusted, is_trusted, saved, unsaid: None }
    }

    /// The events until there were removed. It counts if an event of the log says the same.
    pub fn start_after(&mut self, pruned: PrunedAudit) -> Result<(), AuditFlaw> {
        let Some(chain) = pruned.hash() else { return Err(AuditFlaw::Beheaded(pruned.seq)) };
        self.head = AuditHead { seq: pruned.seq, chain, ..self.head };
        self.start = self.head;
        for (at, former) in pruned.former.iter().enumerate() {
            let HandedOver { key, since, succession: word } = *former;
            let next = pruned.former.get(at + 1).map(|next| next.key).or(pruned.key);
            let gave = |next| key.has_signed(&succession(&self.head.vault, &next), &word);
            if !next.is_some_and(gave) {
                return Err(AuditFlaw::KeyChange(since));
            }
            self.is_trusted |= self.trusted == Some(key);
            let handed_over = at > 0;
            self.keys.push(SigningKey { key, since, handed_over, succession: Some(word) });
        }
        if let Some(key) = pruned.key {
            self.is_trusted |= self.trusted == Some(key);
            let (since, handed_over) = (pruned.seq, !pruned.former.is_empty());
            self.keys.push(SigningKey { key, since, handed_over, succession: None });
        }
        self.unsaid = Some(pruned);
        Ok(())
    }

    /// How far it is.
    pub fn head(&self) -> &AuditHead {
        &self.head
    }

    /// Somebody saw this event with this chain.
    pub fn expect(&mut self, seq: u64, chain: Hash) {
        self.saved.insert(seq, chain);
    }

    /// The next event, and what is recorded as its chain.
    pub fn add(&mut self, seq: u64, event: &str, chain: &Hash) -> Result<(), AuditFlaw> {
        let before = self.head;
        let expected = before.seq + 1;
        if seq != expected {
            return Err(AuditFlaw::Missing { expected, found: seq });
        }
        let found = audit_chain(&before.chain, event.as_bytes());
        if found != *chain {
            return Err(AuditFlaw::Altered(seq));
        }
        if self.saved.get(&seq).is_some_and(|saved| *saved != found) {
            return Err(AuditFlaw::Replaced(seq));
        }
        // Reading every event costs more than its hash; most say nothing about the log itself.
        if event.contains(super::ABOUT_THE_LOG) {
            let read: Event = serde_json::from_str(event).map_err(|_| AuditFlaw::Altered(seq))?;
            if let Some(change) = read.details.audit_key {
                self.change_key(&change, before, seq)?;
            }
            if read.details.audit_pruned == self.unsaid {
                self.unsaid = None;
            }
        }
        self.head = AuditHead { seq, chain: found, ..before };
        self.events += 1;
        Ok(())
    }

    fn change_key(
        &mut self,
        change: &KeyChange,
        before: AuditHead,
        seq: u64,
    ) -> Result<(), AuditFlaw> {
        let last = self.keys.last().map(|known| known.key);
        let former = change.former.as_ref();
        if former.map(|former| former.key) != last {
            return Err(AuditFlaw::KeyChange(seq));
        }
        let mut handed_over = false;
        if let Some(former) = former {
            if former.seq != before.seq || !before.is_signed(&former.key, &former.signature) {
                return Err(AuditFlaw::KeyChange(seq));
            }
            if let Some(word) = &former.succession {
                handed_over = former.key.has_signed(&succession(&before.vault, &change.key), word);
                if !handed_over {
                    return Err(AuditFlaw::KeyChange(seq));
                }
            }
        }
        self.is_trusted = self.trusted == Some(change.key) || (self.is_trusted && handed_over);
        if let Some(last) = self.keys.last_mut() {
            last.succession = former.and_then(|former| former.succession);
        }
        let key = change.key;
        self.keys.push(SigningKey { key, since: seq, handed_over, succession: None });
        Ok(())
    }

    /// The end, with the signature that the log has.
    pub fn finish(self, signed: Option<&SignedHead>) -> Result<AuditReport, AuditFlaw> {
        let Self { head, start, events, keys, trusted, is_trusted, saved, unsaid } = self;
        if let Some(pruned) = unsaid {
            return Err(AuditFlaw::Beheaded(pruned.seq));
        }
        if let Some((&saved, _)) = saved.last_key_value().filter(|(saved, _)| **saved > head.seq) {
            return Err(AuditFlaw::CutShort { found: head.seq, saved });
        }
        if saved.get(&start.seq).is_some_and(|saved| *saved != start.chain) {
            return Err(AuditFlaw::Replaced(start.seq));
        }
        let uncompared = saved.into_keys().take_while(|saved| *saved < start.seq).collect();
        let last = keys.last().map(|known| known.key);
        if last.is_none() && signed.is_none() {
            return Err(AuditFlaw::NeverSigned(events));
        }
        let signed = signed.filter(|signed| Some(signed.key) == last);
        let Some(signed) = signed else { return Err(AuditFlaw::Unsigned(1)) };
        if signed.seq != head.seq {
            return Err(AuditFlaw::Unsigned(signed.seq.min(head.seq) + 1));
        }
        if !head.is_signed(&signed.key, &signed.signature) {
            return Err(AuditFlaw::Signature(head.seq));
        }
        match trusted {
            Some(_) if !is_trusted => Err(AuditFlaw::AnotherKey(signed.key)),
            _ => Ok(AuditReport { head, events, keys, uncompared }),
        }
    }
}

impl fmt::Display for AuditHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.seq)?;
        self.chain.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
