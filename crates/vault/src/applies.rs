//! Changes of folders that somebody is at, or was when its process died: each has a directory with its journal.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use offshoot_host::lock::DirLock;
use offshoot_store::Id;
use offshoot_tree::RootId;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::error::{Result, io_error};
use crate::journal::{JOURNAL, Journal, PLACES};
use crate::vault::Vault;

/// The directory of a vault with one directory for each apply.
pub(crate) const APPLIES: &str = "applies";

/// A journal as far as it matters here.
type AnyJournal = Journal<IgnoredAny>;

impl Vault {
    /// The directory with one directory for each apply.
    pub fn applies_dir(&self) -> PathBuf {
        self.dir().join(APPLIES)
    }

    /// The directories of all applies, oldest first.
    pub fn applies(&self) -> Result<Vec<PathBuf>> {
        applies_in(self.dir())
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

    /// What the callers noted of applies that a process left when it died, and that are neither done nor taken back: their folders may be
    /// half changed. Nothing where a note cannot be read. Nothing is locked, as above.
    pub fn half_done_applies(&self) -> Result<Vec<(Id, Option<Value>)>> {
        let mut found = Vec::new();
        for id in self.interrupted_applies()? {
            let place = self.applies_dir().join(id.to_string());
            let note = match AnyJournal::read(&place) {
                Ok(None) => continue,
                Ok(Some(journal)) if journal.came(&place).is_some() => continue,
                Ok(Some(journal)) => Some(journal.note),
                Err(_) => None,
            };
            // Where the catalog cannot be read, that is found by whoever reads it.
            if !self.is_recorded(&id).unwrap_or(false) {
                found.push((id, note));
            }
        }
        Ok(found)
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
    for place in applies_in(vault)? {
        // What cannot be read tells nothing.
        let Ok(Some(journal)) = AnyJournal::read(&place) else { continue };
        if journal.came(&place).is_some() {
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
    for place in vault.applies()? {
        if let Some(journal) = read_if_there(&place)? {
            roots.extend([journal.before, journal.after]);
            roots.extend(journal.noted_roots());
        }
    }
    Ok(roots)
}

/// The journal of an apply that may be finished in this moment.
fn read_if_there(place: &Path) -> Result<Option<AnyJournal>> {
    match AnyJournal::read(place) {
        Err(_) if !place.exists() => Ok(None),
        other => other,
    }
}
