//! The log of events: its chain, and who signs for it.

pub(crate) mod key;
pub(crate) mod lines;
pub(crate) mod log;
pub(crate) mod prune;
pub(crate) mod records;
pub(crate) mod signing;
pub(crate) mod state;
pub(crate) mod verify;

use std::sync::LazyLock;

use offshoot_store::{Hash, Id};
use serde::{Deserialize, Serialize};

use key::{PublicKey, Signature, unhex};

/// What a signature of a head starts with, so that it can be taken for nothing else.
const HEAD: &[u8] = b"offshoot v1 audit head\0";
/// The same for the word of a key for its successor.
const SUCCESSOR: &[u8] = b"offshoot v1 audit key\0";

/// What an event has in it that says something about the log itself: the two names below begin so.
pub(crate) const ABOUT_THE_LOG: &str = "\"audit_";
/// What an event calls a change of the key that signs.
pub(crate) const AUDIT_KEY: &str = "audit_key";
/// What an event calls the removal of those before.
pub(crate) const PRUNED: &str = "audit_pruned";

/// What every chain begins with: deriving it for each of a million events takes a noticeable time.
static CHAIN: LazyLock<blake3::Hasher> =
    LazyLock::new(|| blake3::Hasher::new_derive_key("offshoot v1 audit"));

/// The chain of an audit event: over the chain before it and its own bytes.
pub(crate) fn audit_chain(before: &Hash, event: &[u8]) -> Hash {
    let mut hasher = CHAIN.clone();
    hasher.update(before).update(event);
    *hasher.finalize().as_bytes()
}

/// How far the log of a vault goes: the number of its last event, and the chain up to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditHead {
    /// The vault.
    pub vault: Id,
    /// The number of the last event; 0 where there is none.
    pub seq: u64,
    /// The chain after it.
    pub chain: Hash,
}

impl AuditHead {
    /// What is signed.
    pub(crate) fn statement(&self) -> Vec<u8> {
        [HEAD, self.vault.as_bytes(), &self.seq.to_le_bytes(), &self.chain].concat()
    }

    /// Whether a key signed for it.
    pub fn is_signed(&self, key: &PublicKey, signature: &Signature) -> bool {
        key.has_signed(&self.statement(), signature)
    }
}

/// What a key signs in order to hand over to another.
pub(crate) fn succession(vault: &Id, new: &PublicKey) -> Vec<u8> {
    [SUCCESSOR, vault.as_bytes(), new.as_bytes()].concat()
}

/// A signature for a head, as it is kept with the log. It may be for an older one: what was added since is not signed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedHead {
    /// The number of the last event that it covers.
    pub seq: u64,
    /// Whose signature it is.
    pub key: PublicKey,
    /// The signature.
    pub signature: Signature,
}

impl SignedHead {
    const LENGTH: usize = 8 + 32 + 64;

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        [&self.seq.to_le_bytes()[..], self.key.as_bytes(), self.signature.as_bytes()].concat()
    }

    /// Nothing where the bytes are no such record.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LENGTH] = bytes.try_into().ok()?;
        let (seq, rest) = bytes.split_first_chunk::<8>()?;
        let (key, signature) = rest.split_first_chunk::<32>()?;
        Some(Self {
            seq: u64::from_le_bytes(*seq),
            key: PublicKey::new(*key),
            signature: Signature::new(signature.try_into().ok()?),
        })
    }
}

/// What an event says where another key signs from there on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyChange {
    /// The new key, which signs for this event.
    pub key: PublicKey,
    /// The one before, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former: Option<FormerKey>,
}

/// A key that does not sign any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerKey {
    /// The key.
    pub key: PublicKey,
    /// The last event that it signed for.
    pub seq: u64,
    /// Its signature for that head.
    pub signature: Signature,
    /// Its word for the new key; nothing where it was lost, or belongs to the machine that the vault came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succession: Option<Signature>,
}

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
    /// The keys before it, oldest first, each with its word for the next: whoever trusts one of them can still verify.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<HandedOver>,
}

/// A key that handed over to the next, in an event that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandedOver {
    /// The key.
    pub key: PublicKey,
    /// The event that brought it.
    pub since: u64,
    /// Its word for the next.
    pub succession: Signature,
}

impl PrunedAudit {
    /// The chain as bytes; nothing where it is none.
    pub(crate) fn hash(&self) -> Option<Hash> {
        unhex(&self.chain)
    }
}
