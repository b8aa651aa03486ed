//! Applies whose process died.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use offshoot_host::disk;
use offshoot_host::lock::DirLock;
use offshoot_store::{Id, StoreError};
use offshoot_tree::RootId;
use serde_json::Value;

use super::ground::Ground;
use super::journal::{APPLIES, BACK, DONE, JOURNAL, Journal, PLACES};
use super::rewritten::Rewritten;
use super::{Apply, FolderLock};
use crate::error::{Result, io_error};
use crate::refs::Binding;
use crate::vault::Vault;

/// How long somebody may look at an apply without making it.
const PATIENCE: Duration = Duration::from_secs(1);

/// What processes left when they died, oldest first.
#[derive(Debug, Default)]
pub struct UnfinishedApplies<'v> {
    /// Where only clearing up was left, which is done.
    pub cleared: Vec<ClearedApply>,
    /// Each must be settled before a folder is captured or changed: done and recorded, or taken back, and finished.
    pub open: Vec<Apply<'v>>,
}

/// An apply that was decided when its process died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClearedApply {
    /// Its id.
    pub id: Id,
    /// What the caller noted when it was staged.
    pub note: Value,
    /// How far it had come.
    pub came: Came,
}

/// How far an apply came that needs nothing but clearing up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// Not all was staged, and the folders were never changed.
    Staging,
    /// The folders have their new state, and the catalog has recorded it.
    Done,
    /// The folders have their old state again.
    Back,
}

impl Vault {
    /// Applies that nobody is at.
    pub fn unfinished_applies(&self, _lock: &FolderLock) -> Result<UnfinishedApplies<'_>> {
        let mut found = UnfinishedApplies::default();
        let bound: Vec<PathBuf> = self.bindings()?.iter().map(Binding::host_path).collect();
        for place in applies_in(self.dir())? {
            let Some(lock) = take_over(&place)? else { continue };
            let journal = if is_hidden(&place) { None } else { Journal::read(&place)? };
            // One without did not come so far as to stage anything, or is cleared up already.
            let Some(mut journal) = journal else {
                disk::remove_tree(&place).map_err(io_error("remove", &place))?;
                continue;
            };
            journal.follow(&bound);
            let came = match (&journal.steps, place.join(BACK).exists(), place.join(DONE).exists())
            {
                (None, ..) => Some(Came::Staging),
                (_, true, _) => Some(Came::Back),
                (_, _, true) => Some(Came::Done),
                _ => None,
            };
            let back = came.is_some_and(|came| came != Came::Done);
            let (fresh, rewritten) = (false, Rewritten::default());
            let apply = Apply { vault: self, journal, place, back, fresh, rewritten, _lock: lock };
            let Some(came) = came else {
                found.open.push(apply);
                continue;
            };
            // A folder that is away, on a disk that is not there now, is cleared up when it is back.
            if Ground::open(&apply.journal, false).is_ok() {
                let (id, note) = (apply.id(), apply.note().clone());
                apply.clear()?;
                found.cleared.push(ClearedApply { id, note, came });
            }
        }
        Ok(found)
    }

    /// The ids of applies that a process left when it died, oldest first. Nothing is locked: others may settle them meanwhile.
    pub fn interrupted_applies(&self) -> Result<Vec<Id>> {
        let mut ids = Vec::new();
        for place in applies_in(self.dir())? {
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
}

/// The directories of all applies of a vault, oldest first.
fn applies_in(vault: &Path) -> Result<Vec<PathBuf>> {
    let folder = vault.join(APPLIES);
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

/// A staging directory in a folder that is half changed, if there is one: what was in the folder lies in it. The vault need not be opened
/// for that.
pub(crate) fn half_changed(vault: &Path) -> Result<Option<PathBuf>> {
    for place in applies_in(vault)?.into_iter().filter(|place| !is_hidden(place)) {
        let is_decided = [BACK, DONE].iter().any(|mark| place.join(mark).exists());
        // What cannot be read tells nothing.
        let Ok(Some(journal)) = Journal::read(&place) else { continue };
        if is_decided || journal.steps.is_none() {
            continue;
        }
        if let Some(staging) = journal.staging_directories().find(|staging| staging.is_dir()) {
            return Ok(Some(staging));
        }
    }
    Ok(None)
}

/// The roots that applies begin and end with, and those that their notes list as `roots`, whether somebody is at them or not.
pub(crate) fn pinned_roots(vault: &Vault) -> Result<Vec<RootId>> {
    let mut roots = Vec::new();
    for place in applies_in(vault.dir())?.into_iter().filter(|place| !is_hidden(place)) {
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
