//! Directories of the host that several vaults of one home have, such as the git directory of several checkouts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_store::Id;
use offshoot_store::file_lock::LockedFile;

use super::take_for;
use crate::applies::APPLIES;
use crate::error::Result;
use crate::journal::STAGING;
use crate::vault::{Vault, VaultOptions};

/// The directory of a home with one file for each directory that several vaults may have.
const LOCKS: &str = "locks";

/// Keeps the other vaults of the same home from capturing or changing directories that they have as well, until dropped.
#[derive(Debug)]
pub struct SharedLock {
    _held: Vec<LockedFile>,
}

impl Vault {
    /// Waits up to `wait` until no other vault of this home captures or changes these directories. Taken after
    /// [`lock_folders`](Self::lock_folders), and always in the same order.
    pub fn lock_shared(&self, directories: &[PathBuf], wait: Duration) -> Result<SharedLock> {
        self.enter()?;
        let directories: BTreeSet<&PathBuf> = directories.iter().collect();
        let locks = self.home_dir().join(LOCKS);
        let mut held = Vec::new();
        for directory in directories {
            let key = blake3::hash(directory.as_os_str().as_encoded_bytes()).to_hex();
            held.push(take_for(&locks.join(key.as_str()), Some(wait), directory)?);
        }
        Ok(SharedLock { _held: held })
    }

    /// The other vaults of this home that are at work in these directories, or were interrupted there: what they staged is in them.
    pub fn others_at_work(&self, directories: &[PathBuf]) -> Result<Vec<Vault>> {
        let mut found = Vec::new();
        for apply in directories.iter().flat_map(|directory| staged_in(directory)) {
            for (id, dir) in self.other_vaults() {
                if dir.join(APPLIES).join(apply.to_string()).is_dir() {
                    let busy_timeout = self.catalog().options().busy_timeout;
                    found.push(Vault::open(
                        &dir,
                        id,
                        &VaultOptions { busy_timeout, frees_space: false },
                    )?);
                }
            }
        }
        Ok(found)
    }

    fn other_vaults(&self) -> Vec<(Id, PathBuf)> {
        let listed = fs::read_dir(self.home_dir().join("vaults")).into_iter().flatten().flatten();
        let vaults = listed.filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse::<Id>().ok()?;
            Some((id, entry.path()))
        });
        vaults.filter(|(id, _)| *id != self.id()).collect()
    }

    /// The home that this vault is in: it lies there as `vaults/<id>`.
    fn home_dir(&self) -> &Path {
        self.dir().ancestors().nth(2).unwrap_or(self.dir())
    }
}

/// The applies that have staged something in a directory.
fn staged_in(directory: &Path) -> Vec<Id> {
    let listed = fs::read_dir(directory).into_iter().flatten().flatten();
    let ids = listed.filter_map(|entry| {
        let name = entry.file_name();
        let id = name.as_encoded_bytes().strip_prefix(STAGING)?;
        std::str::from_utf8(id).ok()?.parse::<Id>().ok()
    });
    ids.collect()
}
