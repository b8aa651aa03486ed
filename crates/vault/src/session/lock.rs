//! One process at a time that takes up a session.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use offshoot_store::Id;
use offshoot_store::file_lock::{LockKind, LockedFile};

use super::error::SessionError;
use crate::error::{Result, io_error};
use crate::lock::{open, try_lock, wait_for};
use crate::vault::Vault;

/// Those who only ask who has it keep it for a moment.
const BRIEF: Duration = Duration::from_millis(200);

/// Holds a session until dropped; the kernel lets go of it when the process dies.
#[derive(Debug)]
pub struct SessionLock {
    held: LockedFile,
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // What it says counts only while it is locked, so it does no harm to leave it.
        drop(self.held.set_len(0));
    }
}

impl Vault {
    /// Takes up a session, where nobody else has. `holder` is a line, such as a process id and a command, that tells others who has it.
    pub fn lock_session(&self, session: &Id, holder: &str) -> Result<SessionLock> {
        self.enter()?;
        let path = self.session_lock_path(session);
        let mut held = open(&path)?;
        if !wait_for(&held, &path, LockKind::Alone, Some(BRIEF))? {
            return Err(SessionError::Busy { session: *session, holder: holder_in(&path) }.into());
        }
        let write = held.set_len(0).and_then(|()| held.write_all(holder.as_bytes()));
        write.map_err(io_error("write", &path))?;
        Ok(SessionLock { held: LockedFile::new(held) })
    }

    /// Who has taken up a session, in their own words.
    pub fn session_holder(&self, session: &Id) -> Result<Option<String>> {
        let path = self.session_lock_path(session);
        if !path.exists() {
            return Ok(None);
        }
        let Ok(held) = fs::File::open(&path) else { return Ok(None) };
        let free = try_lock(&held, &path, LockKind::Shared)?;
        Ok((!free).then(|| holder_in(&path)))
    }

    fn session_lock_path(&self, session: &Id) -> std::path::PathBuf {
        self.dir().join("locks").join(session.to_string())
    }
}

fn holder_in(path: &Path) -> String {
    let holder = fs::read_to_string(path).unwrap_or_default();
    holder.lines().next().unwrap_or_default().to_owned()
}
