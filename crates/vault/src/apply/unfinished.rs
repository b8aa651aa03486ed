//! Applies whose process died.

use std::fs;
use std::path::{Path, PathBuf};

use super::journal::{BACK, DONE, JOURNAL, Journal};
use super::{APPLIES, Apply, FolderLock};
use crate::error::{Result, io_error};
use crate::hash::RootId;
use crate::layer::{DirLock, clear_abandoned};
use crate::vault::Vault;
use offshoot_store::Id;

impl Vault {
    /// Applies that nobody is at, oldest first. Each must be settled before a folder is captured or changed: done and
    /// recorded, or taken back, and finished. What is only to be cleared up is cleared up here.
    pub fn unfinished_applies(&self, _lock: &FolderLock) -> Result<Vec<Apply<'_>>> {
        let mut found = Vec::new();
        for place in self.applies()? {
            let Ok(lock) = DirLock::take(&place) else { continue };
            // One without a journal did not come so far as to stage anything.
            let Some(journal) = Journal::read(&place)? else {
                drop(lock);
                clear_abandoned(&place).map_err(io_error("remove", &place))?;
                continue;
            };
            let (back, done) = (place.join(BACK).exists(), place.join(DONE).exists());
            let back = back || journal.steps.is_none();
            let apply = Apply { vault: self, journal, place, back, fresh: false, _lock: lock };
            if back || done {
                apply.clear()?;
            } else {
                found.push(apply);
            }
        }
        Ok(found)
    }

    /// The ids of applies that a process left when it died, oldest first. Nothing is locked: others may settle them meanwhile.
    pub fn interrupted_applies(&self) -> Result<Vec<Id>> {
        let mut ids = Vec::new();
        for place in self.applies()? {
            let name = place.file_name().and_then(|name| name.to_str());
            let id = name.and_then(|name| name.parse::<Id>().ok());
            let Some(id) = id.filter(|_| place.join(JOURNAL).exists()) else { continue };
            if DirLock::take(&place).is_ok() {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// The directories of all applies, oldest first.
    fn applies(&self) -> Result<Vec<PathBuf>> {
        let folder = self.dir().join(APPLIES);
        let listed = match fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(io_error("read", &folder))?,
        };
        let paths: std::io::Result<Vec<PathBuf>> =
            listed.map(|entry| entry.map(|entry| entry.path())).collect();
        let mut paths = paths.map_err(io_error("read", &folder))?;
        paths.sort_unstable();
        Ok(paths)
    }
}

/// The roots that applies begin and end with, and those that their notes list as `roots`, whether somebody is at them or not.
pub(crate) fn pinned_roots(vault: &Vault) -> Result<Vec<RootId>> {
    let mut roots = Vec::new();
    for place in vault.applies()? {
        if let Some(journal) = read_if_there(&place)? {
            roots.extend([journal.before, journal.after]);
            roots.extend(journal.noted_roots());
        }
    }
    Ok(roots)
}

/// The journal of an apply that may be finished in this moment.
fn read_if_there(place: &Path) -> Result<Option<Journal>> {
    match Journal::read(place) {
        Err(_) if !place.exists() => Ok(None),
        other => other,
    }
}
