//! Applies whose process died.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use offshoot_host::disk;
use offshoot_host::lock::DirLock;
use offshoot_store::{Id, StoreError};
use offshoot_vault::{Binding, Came, FolderLock, Result, Vault};
use serde_json::Value;

use crate::apply::Apply;
use crate::error::io_error;
use crate::ground::Ground;
use crate::rewritten::Rewritten;
use crate::step::Journal;

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

impl<'v> UnfinishedApplies<'v> {
    /// Finds applies that nobody is at.
    pub fn find(vault: &'v Vault, _lock: &FolderLock) -> Result<Self> {
        let mut found = Self::default();
        let bound: Vec<PathBuf> = vault.bindings()?.iter().map(Binding::host_path).collect();
        for place in vault.applies()? {
            let Some(lock) = take_over(&place)? else { continue };
            // One without a journal did not come so far as to stage anything, or is cleared up already.
            let Some(mut journal) = Journal::read(&place)? else {
                disk::remove_tree(&place).map_err(io_error("remove", &place))?;
                continue;
            };
            journal.follow(&bound);
            let came = journal.came(&place);
            let back = came.is_some_and(|came| came != Came::Done);
            let (fresh, rewritten) = (false, Rewritten::default());
            let apply = Apply { vault, journal, place, back, fresh, rewritten, _lock: lock };
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
