//! One user of a workspace at a time.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use offshoot_host::HostError;
use offshoot_store::Id;
use offshoot_store::file_lock::{LockKind, LockedFile};

use super::{open, try_lock, wait_for};
use crate::error::{Result, VaultError, io_error};
use crate::vault::Vault;

/// How long those may take who only share a workspace: they change its refs, and let go of it.
const BRIEF: Duration = Duration::from_secs(10);

/// Holds a workspace until dropped; the kernel lets go of it when the process dies.
#[derive(Debug)]
pub struct WorkspaceLock {
    held: LockedFile,
}

impl Drop for WorkspaceLock {
    fn drop(&mut self) {
        // What it says counts only while it is locked, so it does no harm to leave it.
        drop(self.held.set_len(0));
    }
}

impl Vault {
    /// Takes a workspace for oneself, waiting for others up to `wait`, or for as long as it takes without one. `holder` is a
    /// line, such as a process id and a command, that tells those who wait in vain whom they waited for.
    ///
    /// Only those who ask are kept out, for themselves or [to share](Self::share_workspace): refs can be changed without it. Those who share it
    /// are waited for in any case.
    pub fn lock_workspace(
        &self,
        workspace: &Id,
        wait: Option<Duration>,
        holder: &str,
    ) -> Result<WorkspaceLock> {
        let path = self.dir().join("locks").join(workspace.to_string());
        let mut held = open(&path)?;
        if !wait_for_all(&held, &path, wait, BRIEF)? {
            return Err(busy(workspace, &path));
        }
        let write = held.set_len(0).and_then(|()| held.write_all(holder.as_bytes()));
        write.map_err(io_error("write", &path))?;
        Ok(WorkspaceLock { held: LockedFile::new(held) })
    }

    /// Keeps those out who take a workspace for themselves, for as long as its refs are changed; nobody who shares it waits for others who do.
    pub fn share_workspace(&self, workspace: &Id) -> Result<WorkspaceShare> {
        let path = self.dir().join("locks").join(workspace.to_string());
        let held = match open(&path) {
            // Nobody takes it for himself in a vault that cannot be written, and who changes refs is told so.
            Err(VaultError::Host(HostError::Io { source, .. }))
                if source.kind() == std::io::ErrorKind::PermissionDenied =>
            {
                return Ok(WorkspaceShare { _held: None });
            }
            held => held?,
        };
        match try_lock(&held, &path, LockKind::Shared)? {
            true => Ok(WorkspaceShare { _held: Some(LockedFile::new(held)) }),
            false => Err(busy(workspace, &path)),
        }
    }
}

/// Shares a workspace with others who change its refs, until dropped.
#[derive(Debug)]
pub struct WorkspaceShare {
    _held: Option<LockedFile>,
}

/// LockedFile by the one process that merges layers of a vault, until dropped.
#[derive(Debug)]
pub struct CompactionLock {
    _held: LockedFile,
}

impl Vault {
    /// Takes the right to merge layers; nothing where another process is at it.
    pub fn lock_compaction(&self) -> Result<Option<CompactionLock>> {
        self.enter()?;
        let path = self.dir().join("locks").join("compaction");
        let held = open(&path)?;
        let free = try_lock(&held, &path, LockKind::Alone)?;
        Ok(free.then(|| CompactionLock { _held: LockedFile::new(held) }))
    }
}

/// Waits for a file to be free, up to `wait`, and locks it. Those who share it are waited for in any case, up to `brief`.
fn wait_for_all(held: &File, path: &Path, wait: Option<Duration>, brief: Duration) -> Result<bool> {
    let shared = || try_lock(held, path, LockKind::Shared);
    Ok(wait_for(held, path, LockKind::Alone, wait)?
        || (shared()? && wait_for(held, path, LockKind::Alone, Some(brief))?))
}

fn busy(workspace: &Id, path: &Path) -> VaultError {
    VaultError::WorkspaceBusy { workspace: *workspace, holder: holder(path) }
}

/// Who has taken a file, in their own words.
fn holder(path: &Path) -> String {
    let holder = fs::read_to_string(path).unwrap_or_default();
    holder.lines().next().unwrap_or_default().to_owned()
}

/// Who has taken a workspace for himself, of those whose locks lie in a directory.
pub(crate) fn holder_below(locks: &Path) -> Option<String> {
    let paths = fs::read_dir(locks).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut workspaces = paths.filter(|path| path.file_name().is_some_and(is_id));
    workspaces.find_map(|path| {
        let held = File::open(&path).ok()?;
        let free = try_lock(&held, &path, LockKind::Shared).ok()?;
        (!free).then(|| holder(&path))
    })
}

fn is_id(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.parse::<Id>().is_ok())
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Instant;

    use offshoot_store::file_lock;

    use super::*;

    const AT_ONCE: Option<Duration> = Some(Duration::ZERO);
    const BRIEFLY: Duration = Duration::from_millis(300);

    /// Those who share it let go of it soon, so they are waited for; but not for ever, should one hang.
    #[test]
    fn those_who_share_are_waited_for_for_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (mine, other) = (open(&path).unwrap(), open(&path).unwrap());
        assert!(try_lock(&other, &path, LockKind::Shared).unwrap());
        let started = Instant::now();
        assert!(!wait_for_all(&mine, &path, AT_ONCE, BRIEFLY).unwrap());
        assert!((BRIEFLY..10 * BRIEFLY).contains(&started.elapsed()), "{:?}", started.elapsed());
        file_lock::unlock(&mine).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(BRIEFLY / 3);
                drop(other);
            });
            assert!(wait_for_all(&mine, &path, AT_ONCE, 100 * BRIEFLY).unwrap());
        });
        // One who has it for himself is not.
        let other = open(&path).unwrap();
        let started = Instant::now();
        assert!(!wait_for_all(&other, &path, AT_ONCE, 100 * BRIEFLY).unwrap());
        assert!(started.elapsed() < 10 * BRIEFLY);
    }
}
