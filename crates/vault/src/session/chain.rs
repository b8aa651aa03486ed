//! Hashes and signatures over the log of a session.

use offshoot_store::{Hash, Id, SessionEventRow, SessionRow, Writer};

use super::SESSION;
use crate::audit::SignedHead;
use crate::audit::key::{AuditKey, PublicKey, Signature, hex};
use crate::audit::signing::Signing;
use crate::error::Result;
use crate::refs::{key, to_json};
use crate::transact::AUDIT_SIGNATURE;

/// What a signature of a session starts with, so that it can be taken for nothing else.
const STATEMENT: &[u8] = b"offshoot v1 session\0";

/// The chain after an event: its own column is not read.
pub(crate) fn chain(before: &Hash, event: &SessionEventRow) -> Hash {
    let mut hasher = blake3::Hasher::new_derive_key("offshoot v1 session");
    hasher.update(before);
    hasher.update(&event.number.to_le_bytes()).update(&event.time_ms.to_le_bytes());
    let snapshot = event.snapshot.as_ref().map_or(&[][..], |id| id.as_bytes());
    for part in [event.kind.as_bytes(), &event.content, snapshot] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    *hasher.finalize().as_bytes()
}

/// Has a key vouch for a row.
pub(crate) fn sign(row: &mut SessionRow, vault: &Id, signs: &AuditKey) {
    let signature = signs.sign(&statement(vault, row));
    row.signature = [signs.public().as_bytes().as_slice(), signature.as_bytes()].concat();
}

/// The key that vouches for a row; nothing where what it signed is something else.
pub(crate) fn signer(row: &SessionRow, vault: &Id) -> Option<PublicKey> {
    let (public, signature) = row.signature.split_at_checked(32)?;
    let public = PublicKey::new(public.try_into().ok()?);
    let signature = Signature::new(signature.try_into().ok()?);
    public.has_signed(&statement(vault, row), &signature).then_some(public)
}

fn statement(vault: &Id, row: &SessionRow) -> Vec<u8> {
    [STATEMENT, vault.as_bytes(), to_json(row).as_bytes()].concat()
}

/// How far a log is, as the audit log says it.
pub(crate) fn place(events: u64, chain: &Hash) -> String {
    format!("{events}:{}", hex(chain))
}

/// Signs all sessions anew that one key vouches for, with the next.
pub(crate) fn sign_anew(
    writer: &mut Writer<'_>,
    vault: &Id,
    (old, new): (&PublicKey, &AuditKey),
) -> Result<()> {
    for mut row in writer.sessions()? {
        if signer(&row, vault).as_ref() == Some(old) {
            sign(&mut row, vault, new);
            writer.set_session(&row)?;
        }
    }
    Ok(())
}

/// The key whose signature the audit log has.
pub(crate) fn recorded(writer: &Writer<'_>) -> Result<Option<PublicKey>> {
    let recorded = writer.meta(AUDIT_SIGNATURE)?;
    Ok(recorded.and_then(|bytes| SignedHead::from_bytes(&bytes)).map(|signed| signed.key))
}

/// Says how a session stands, signed by the key of this vault.
pub(crate) fn put(writer: &mut Writer<'_>, signing: &Signing, row: &mut SessionRow) -> Result<()> {
    let key = signing.key(recorded(writer)?.as_ref())?;
    sign(row, &signing.vault(), &key);
    Ok(writer.set_session(row)?)
}

/// Whether the ref of a session is there.
pub(crate) fn is_there(writer: &Writer<'_>, id: &Id) -> Result<bool> {
    Ok(writer.get_ref(&key(SESSION, id))?.is_some())
}
