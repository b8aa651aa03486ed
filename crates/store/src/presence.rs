//! Who has a vault open for writing, and whether the last one stopped cleanly.
//!
//! Each writing process keeps one locked file in `<vault>/open/` and removes it when it is done. The kernel
//! drops the lock when the process dies, however it dies; so a file there that nobody has locked is the mark of
//! an unclean stop. After a power cut such marks may be lost, so the first open after a boot counts as unclean.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::file_lock::{LockKind, try_lock};
use crate::id::Id;
use crate::process::boot_id;

/// A mark that another process removed as one of nobody's is made again, at most this often.
const TRIES: usize = 10;

/// This process's mark on a vault; removed when dropped.
#[derive(Debug)]
pub struct Presence {
    path: PathBuf,
    _locked: File,
}

impl Presence {
    /// Marks the vault as open for writing by this process.
    pub fn enter(vault: &Path) -> Result<Self, StoreError> {
        let folder = vault.join("open");
        for _ in 1..TRIES {
            match Self::try_enter(&folder) {
                // Taken for the mark of a dead process in the moment before it was locked, and perhaps removed.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::NotFound
                    ) => {}
                other => return other.map_err(|source| io_error(&folder, source)),
            }
        }
        Self::try_enter(&folder).map_err(|source| io_error(&folder, source))
    }

    fn try_enter(folder: &Path) -> io::Result<Self> {
        let path = folder.join(Id::random().to_string());
        // Made under a hidden name and locked before it gets its own, so that nobody finds it unlocked.
        let hidden = folder.join(format!(".{}", Id::random()));
        let file = create_in(folder, &hidden)?;
        let named = match try_lock(&file, LockKind::Alone) {
            Ok(true) => fs::rename(&hidden, &path),
            Ok(false) => Err(io::ErrorKind::WouldBlock.into()),
            Err(error) => Err(error),
        };
        match named {
            Ok(()) => Ok(Self { path, _locked: file }),
            Err(error) => {
                // The first error is the one to report; what is left is a mark of nobody.
                drop(fs::remove_file(&hidden));
                Err(error)
            }
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // A mark that cannot be removed only costs the next open a check.
        drop(fs::remove_file(&self.path));
    }
}

/// If the last writer did not stop cleanly, or the machine was booted since, runs `check` and clears the marks.
/// Returns whether the check ran. With `check` failing the marks stay, so that the next open checks again.
pub fn unclean_stop<E: From<StoreError>>(
    vault: &Path,
    check: impl FnOnce() -> Result<(), E>,
) -> Result<bool, E> {
    let abandoned = abandoned_marks(&vault.join("open"))?;
    let boot = boot_id();
    let seen_this_boot =
        fs::read_to_string(vault.join("checked")).is_ok_and(|text| text.trim() == boot);
    if abandoned.is_empty() && seen_this_boot {
        return Ok(false);
    }
    check()?;
    for path in &abandoned {
        // Another process may have cleared it first.
        drop(fs::remove_file(path));
    }
    mark_checked(vault);
    Ok(true)
}

/// Notes that the vault was found in order, or just made, under this boot. Where that cannot be noted, or is cut short, the
/// check simply runs again next time.
pub fn mark_checked(vault: &Path) {
    drop(fs::write(vault.join("checked"), boot_id()));
}

/// Asks the next open to check the vault, as after an unclean stop. Where that cannot be noted it is not checked.
pub fn mark_unclean(vault: &Path) {
    let folder = vault.join("open");
    drop(create_in(&folder, &folder.join(Id::random().to_string())));
}

fn abandoned_marks(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(io_error(folder, source)),
    };
    let mut abandoned = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| io_error(folder, source))?.path();
        // A file that vanished or may not be opened belongs to a process that is alive or to another user.
        let Ok(file) = File::open(&path) else {
            continue;
        };
        if try_lock(&file, LockKind::Alone).is_ok_and(|free| free) {
            abandoned.push(path);
        }
    }
    Ok(abandoned)
}

fn create_in(folder: &Path, path: &Path) -> io::Result<File> {
    let create = || OpenOptions::new().write(true).create_new(true).open(path);
    match create() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Not with its parents: a vault that somebody removed is not made again.
            make_dir(folder)?;
            create()
        }
        other => other,
    }
}

fn make_dir(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

fn io_error(path: &Path, source: io::Error) -> StoreError {
    crate::error::from_io(path, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_runs(vault: &Path) -> bool {
        unclean_stop::<StoreError>(vault, || Ok(())).unwrap()
    }

    #[test]
    fn first_open_after_a_boot_checks_and_the_next_does_not() {
        let vault = tempfile::tempdir().unwrap();
        assert!(check_runs(vault.path()));
        assert!(!check_runs(vault.path()));
        fs::write(vault.path().join("checked"), "another boot").unwrap();
        assert!(check_runs(vault.path()));
    }

    #[test]
    fn a_living_writer_is_no_unclean_stop_and_a_clean_one_leaves_nothing() {
        let vault = tempfile::tempdir().unwrap();
        check_runs(vault.path());
        let presence = Presence::enter(vault.path()).unwrap();
        assert!(!check_runs(vault.path()));
        drop(presence);
        assert!(!check_runs(vault.path()));
        assert_eq!(fs::read_dir(vault.path().join("open")).unwrap().count(), 0);
    }

    #[test]
    fn a_mark_without_an_owner_is_found_even_beside_a_living_writer() {
        let vault = tempfile::tempdir().unwrap();
        check_runs(vault.path());
        let _alive = Presence::enter(vault.path()).unwrap();
        fs::write(vault.path().join("open").join("dead"), "").unwrap();
        assert!(check_runs(vault.path()));
        assert!(!check_runs(vault.path()));
    }

    #[test]
    fn a_mark_that_was_never_finished_is_cleared() {
        let vault = tempfile::tempdir().unwrap();
        check_runs(vault.path());
        let _alive = Presence::enter(vault.path()).unwrap();
        fs::write(vault.path().join("open").join(".half-made"), "").unwrap();
        assert!(check_runs(vault.path()));
        assert_eq!(fs::read_dir(vault.path().join("open")).unwrap().count(), 1);
    }

    #[test]
    fn a_failing_check_runs_again() {
        let vault = tempfile::tempdir().unwrap();
        let failing = || Err(StoreError::Foreign(PathBuf::from("x")));
        assert!(unclean_stop(vault.path(), failing).is_err());
        assert!(check_runs(vault.path()));
    }
}
