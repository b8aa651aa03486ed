//! The chain of audit events.

use offshoot_store::Hash;

/// The chain of an audit event: over the chain before it and its own bytes.
pub(crate) fn audit_chain(before: &Hash, event: &[u8]) -> Hash {
    let mut hasher = blake3::Hasher::new_derive_key("offshoot v1 audit");
    hasher.update(before).update(event);
    *hasher.finalize().as_bytes()
}
