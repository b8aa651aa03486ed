//! Applies whose process died.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use offshoot_store::{Id, StoreError};

use super::ground::Ground;
use super::journal::{BACK, DONE, JOURNAL, Journal, PLACES};
use super::{APPLIES, Apply, FolderLock, Rewritten};
use crate::disk;
use crate::error::{Result, io_error};
use crate::hash::RootId;
use crate::layer::DirLock;
use crate::vault::Vault;

/// How long somebody may look at an apply without making it.
const PATIENCE: Duration = Duration::from_secs(1);

impl Vault {
    /// Applies that nobody is at, oldest first. Each must be settled before a folder is captured or changed: done and
    /// recorded, or taken back, and finished. What is only to be cleared up is cleared up here.
    pub fn unfinished_applies(&self, _lock: &FolderLock) -> Result<Vec<Apply<'_>>> {
        let mut found = Vec::new();
        for place in self.applies()? {
            let Some(lock) = take_over(&place)? else { continue };
            let journal = if is_hidden(&place) { None } else { Journal::read(&place)? };
            // One without did not come so far as to stage anything, or is cleared up already.
            let Some(journal) = journal else {
                disk::remove_tree(&place).map_err(io_error("remove", &place))?;
                continue;
            };
            let (back, done) = (place.join(BACK).exists(), place.join(DONE).exists());
            let back = back || journal.steps.is_none();
            let (fresh, rewritten) = (false, Rewritten::default());
            let apply = Apply { vault: self, journal, place, back, fresh, rewritten, _lock: lock };
            if back || done {
                // A folder that is away, on a disk that is not there now, is cleared up when it is back.
                if Ground::open(&apply.journal, false).is_ok() {
                    apply.clear()?;
                }
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
            let written = || [JOURNAL, PLACES].iter().any(|name| place.join(name).exists());
            let Some(id) = id.filter(|_| written()) else { continue };
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
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
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
    for place in vault.applies()?.into_iter().filter(|place| !is_hidden(place)) {
        if let Some(journal) = read_if_there(&place)? {
            roots.extend([journal.before, journal.after]);
            roots.extend(journal.noted_roots());
        }
    }
    Ok(roots)
}

/// Locks the directory of an apply; nothing where it is gone meanwhile. Who has the lock of the folders waits at most for somebody
/// who only looks, as [`Vault::interrupted_applies`] does.
fn take_over(place: &Path) -> Result<Option<DirLock>> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match DirLock::take(place) {
            Ok(lock) => return Ok(Some(lock)),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(io_error("lock", place)(error)),
        }
        if Instant::now() >= deadline {
            let (path, seconds) = (place.to_owned(), PATIENCE.as_secs());
            return Err(StoreError::Busy { path, seconds }.into());
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Whether it is just being made, or cleared up.
fn is_hidden(place: &Path) -> bool {
    place.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// The journal of an apply that may be finished in this moment.
fn read_if_there(place: &Path) -> Result<Option<Journal>> {
    match Journal::read(place) {
        Err(_) if !place.exists() => Ok(None),
        other => other,
    }
}
