//! Keeping the hard links of a copy apart from those of its original.

use offshoot_tree::{Batch, BlobId, Body, DirRef, Entry, VaultPath};
use offshoot_vault::Vault;

use crate::error::Result;

/// Gives every link group in a copied tree a new number that belongs to its new place. Inside the copy, names that were
/// linked stay linked; to the original they are not.
pub(super) fn regroup(vault: &Vault, mut entry: Entry, to: &VaultPath) -> Result<Entry> {
    let salt = to.to_bytes();
    if let Body::Directory(dir) = &entry.body {
        let mut batch = Batch::default();
        if let Some(dir) = directory(vault, dir, &salt, &mut batch)? {
            vault.store(&batch)?;
            entry.body = Body::Directory(dir.into());
        }
    }
    // A single name has nothing to be linked to.
    entry.group = None;
    Ok(entry)
}

/// The directory with new groups; `None` where it has none to renew.
fn directory(
    vault: &Vault,
    dir: &DirRef,
    salt: &[u8],
    batch: &mut Batch,
) -> Result<Option<DirRef>> {
    let mut entries = vault.objects()?.entries(dir)?;
    let mut renewed = false;
    for entry in &mut entries {
        if let Some(group) = &mut entry.group {
            *group = salted(*group, salt);
            renewed = true;
        }
        if let Body::Directory(below) = &entry.body
            && let Some(below) = directory(vault, below, salt, batch)?
        {
            entry.body = Body::Directory(below.into());
            renewed = true;
        }
    }
    Ok(renewed.then(|| batch.directory(&entries)))
}

fn salted(group: u64, salt: &[u8]) -> u64 {
    let hash = BlobId::of(&[&group.to_le_bytes(), salt].concat()).0;
    let (first, _) = hash.split_first_chunk::<8>().expect("a hash has 32 bytes");
    u64::from_le_bytes(*first)
}
