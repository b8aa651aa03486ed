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
    ///
    /// For whoever has the write lock of the catalog, which keeps all that make, move or remove keys of this vault apart.
    pub(crate) fn key(&self, recorded: Option<&PublicKey>) -> Result<Arc<AuditKey>> {
        self.settle_next(recorded)?;
        if let Some(key) = self.find(recorded)? {
            return Ok(key);
        }
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut builder = fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(folder);
        made.map_err(io_error("create", folder))?;
        Ok(self.remember(AuditKey::make(&self.path)?))
    }

    /// The key that signs, if there is one; nothing is made and no file is moved.
    pub(crate) fn find(&self, recorded: Option<&PublicKey>) -> Result<Option<Arc<AuditKey>>> {
        let fits = |key: &AuditKey| recorded.is_none_or(|recorded| key.public() == *recorded);
        let known = self.key.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(key) = known.filter(|key| fits(key)) {
            return Ok(Some(key));
        }
        // The next one first: it is moved in the place of the other, never back.
        let next = match recorded {
            Some(_) => AuditKey::load(&self.next_path())?.filter(fits),
            None => None,
        };
        let found = match next {
            Some(key) => Some(key),
            None => AuditKey::load(&self.path)?,
        };
        Ok(found.map(|key| self.remember(key)))
    }

    fn remember(&self, key: AuditKey) -> Arc<AuditKey> {
        let mut known = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(Arc::new(key)).clone()
    }

    /// Puts the next key in the place of the one before if the log has its signature: whoever made it got no further than that.
    fn settle_next(&self, recorded: Option<&PublicKey>) -> Result<()> {
        let Some(recorded) = recorded else { return Ok(()) };
        let known = self.key.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_settled = known.is_some_and(|key| key.public() == *recorded);
        let next = self.next_path();
        if is_settled && !next.exists() {
            return Ok(());
        }
        let signed = AuditKey::load(&next)?.filter(|key| key.public() == *recorded);
        match signed {
            Some(_) => fs::rename(&next, &self.path).map_err(io_error("rename", &next)),
            None => Ok(()),
        }
    }

    /// Removes the keys of a vault that is gone.
    pub(crate) fn forget(home: &Path, vault: &Id) -> Result<()> {
        let key = home.join("keys").join(format!("{vault}.key"));
        let next = key.with_extension("next");
        for path in [&AuditKey::unfinished(&next), &next, &AuditKey::unfinished(&key), &key] {
            remove_if_there(path)?;
        }
        Ok(())
    }

    /// Makes the key that is to sign from now on; it counts once the log has its signature. For whoever has the write lock and called
    /// [`Self::key`] under it: a next key that signed is then in its place, and one that is still there never signed.
    pub(crate) fn make_next(&self) -> Result<AuditKey> {
        let next = self.next_path();
        remove_if_there(&next)?;
        AuditKey::make(&next)
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

fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(io_error("remove", path)(error))
        }
        _ => Ok(()),
    }
}
