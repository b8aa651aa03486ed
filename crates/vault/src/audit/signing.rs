//! Who signs for the log of an open vault.
//!
//! The key lies beside all vaults, not in this one: a copy of a vault cannot sign, and whoever writes to its files alone can forge nothing.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use offshoot_store::{Hash, Id};

use super::key::{AuditKey, PublicKey};
use super::{AuditHead, FormerKey, KeyChange, SignedHead, succession};
use crate::error::{Result, io_error};

/// The key of one vault, looked for when something is first signed.
#[derive(Debug)]
pub(crate) struct Signing {
    vault: Id,
    path: PathBuf,
    key: Mutex<Option<Arc<AuditKey>>>,
}

impl Signing {
    /// For a vault in a directory of a home's `vaults`.
    pub(crate) fn new(dir: &Path, vault: Id) -> Self {
        let home = dir.parent().and_then(Path::parent).unwrap_or(dir);
        let path = home.join("keys").join(format!("{vault}.key"));
        Self { vault, path, key: Mutex::new(None) }
    }

    /// The vault whose log it signs.
    pub(crate) fn vault(&self) -> Id {
        self.vault
    }

    /// Where a new one waits while the old one hands over.
    fn next_path(&self) -> PathBuf {
        self.path.with_extension("next")
    }

    /// The key that signs, made where there is none. Somebody may have handed over meanwhile: `recorded` is whose signature the log has.
    pub(crate) fn key(&self, recorded: Option<&PublicKey>) -> Result<Arc<AuditKey>> {
        let mut known = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |key: &AuditKey| recorded.is_none_or(|recorded| key.public() == *recorded);
        if let Some(key) = known.as_ref().filter(|key| fits(key)) {
            return Ok(key.clone());
        }
        let next = self.next_path();
        if let Some(key) = AuditKey::load(&next)?.filter(|key| recorded == Some(&key.public())) {
            // It signed, and whoever made it got no further.
            fs::rename(&next, &self.path).map_err(io_error("rename", &next))?;
            return Ok(known.insert(Arc::new(key)).clone());
        }
        let key = match AuditKey::load(&self.path)? {
            Some(key) => key,
            None => {
                let folder = self.path.parent().unwrap_or(Path::new("."));
                let mut builder = fs::DirBuilder::new();
                let made = builder.recursive(true).mode(0o700).create(folder);
                made.map_err(io_error("create", folder))?;
                AuditKey::make(&self.path)?
            }
        };
        Ok(known.insert(Arc::new(key)).clone())
    }

    /// The key that would sign, if there is one.
    pub(crate) fn public(&self) -> Result<Option<PublicKey>> {
        Ok(AuditKey::load(&self.path)?.map(|key| key.public()))
    }

    /// Removes the keys of a vault that is gone.
    pub(crate) fn forget(home: &Path, vault: &Id) -> Result<()> {
        let key = home.join("keys").join(format!("{vault}.key"));
        for path in [key.with_extension("next"), key] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(io_error("remove", &path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes the key that is to sign from now on; it counts once the log has its signature.
    pub(crate) fn make_next(&self) -> Result<AuditKey> {
        let next = self.next_path();
        match fs::remove_file(&next) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io_error("remove", &next)(error));
            }
            _ => {}
        }
        AuditKey::make(&next)
    }

    /// Puts the next key in the place of the one before.
    pub(crate) fn settle_next(&self) -> Result<()> {
        let next = self.next_path();
        *self.key.lock().unwrap_or_else(PoisonError::into_inner) = None;
        fs::rename(&next, &self.path).map_err(io_error("rename", &next))
    }

    /// What the event says where a key signs that the log does not have the signature of.
    pub(crate) fn change(
        &self,
        key: &AuditKey,
        recorded: Option<&SignedHead>,
        handed_over_by: Option<&AuditKey>,
    ) -> Option<KeyChange> {
        let new = key.public();
        if recorded.is_some_and(|signed| signed.key == new) {
            return None;
        }
        let former = recorded.map(|signed| FormerKey {
            key: signed.key,
            seq: signed.seq,
            signature: signed.signature,
            succession: handed_over_by
                .filter(|old| old.public() == signed.key)
                .map(|old| old.sign(&succession(&self.vault, &new))),
        });
        Some(KeyChange { key: new, former })
    }

    /// A key's signature for a head.
    pub(crate) fn sign(&self, key: &AuditKey, seq: u64, chain: Hash) -> SignedHead {
        let head = AuditHead { vault: self.vault, seq, chain };
        SignedHead { seq, key: key.public(), signature: key.sign(&head.statement()) }
    }
}
