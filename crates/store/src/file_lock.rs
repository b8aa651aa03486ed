//! Locks on files and directories: the only place that takes one.
//!
//! A lock belongs to an open file, not to a process: two descriptions of one file keep each other out in one process as they do in two.
//! The kernel lets go of it when the last copy of the descriptor is closed, however the process ends. Locks are advisory, so
//! everybody who must be kept out asks here, too.

use std::fs::{self, File, TryLockError};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The first pause between two tries; each is twice as long as the one before.
const SHORTEST_PAUSE: Duration = Duration::from_micros(200);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// With whom a file is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Nobody else has it.
    Alone,
    /// Others who share it have it too, and nobody has it alone.
    Shared,
}

/// Opens a file to lock, for its owner alone. It must stay for as long as somebody may lock it, so that all lock the same.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Locks an open file or directory, waiting for as long as it takes.
pub fn lock(file: &File, kind: LockKind) -> io::Result<()> {
    match kind {
        LockKind::Alone => file.lock(),
        LockKind::Shared => file.lock_shared(),
    }
}

/// Locks an open file or directory where that is possible at once; says whether it was.
pub fn try_lock(file: &File, kind: LockKind) -> io::Result<bool> {
    let tried = match kind {
        LockKind::Alone => file.try_lock(),
        LockKind::Shared => file.try_lock_shared(),
    };
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Locks an open file or directory, waiting up to `wait`, or for as long as it takes without one; false where it was not free in time.
pub fn lock_within(file: &File, kind: LockKind, wait: Option<Duration>) -> io::Result<bool> {
    let deadline = wait.map(|wait| Instant::now() + wait);
    let mut pause = SHORTEST_PAUSE;
    while !try_lock(file, kind)? {
        let left = deadline.map_or(LONGEST_PAUSE, |at| at.duration_since(Instant::now()));
        if left.is_zero() {
            return Ok(false);
        }
        thread::sleep(pause.min(left));
        pause = LONGEST_PAUSE.min(pause * 2);
    }
    Ok(true)
}

/// A file or directory that is locked until this is dropped. Closing it would not do: a program that another thread is just starting has a
/// copy of every descriptor for a moment, and with it the lock.
#[derive(Debug)]
pub struct LockedFile(File);

impl LockedFile {
    /// Of a file that was just locked.
    pub fn new(locked: File) -> Self {
        Self(locked)
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing it follows.
        let _stays = unlock(&self.0).is_err();
    }
}

/// Lets go of a file that stays open.
pub fn unlock(file: &File) -> io::Result<()> {
    file.unlock()
}

/// One process that has locked a file, with its command line. Nothing where the kernel does not tell.
pub fn holder(path: &Path) -> Option<String> {
    let inode = fs::metadata(path).ok()?.ino().to_string();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let pids = locks.lines().filter_map(|line| {
        // Such as `7: FLOCK  ADVISORY  READ 2313 fe:01:51210 0 EOF`. The device is not compared: some file systems have several.
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (kind, pid, place) = (fields.next()?, fields.nth(2)?, fields.next()?);
        (kind == "FLOCK" && place.rsplit(':').next()? == inode).then_some(pid)
    });
    let mut named = pids.filter_map(|pid| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<_> = words.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        Some(format!("process {pid}: {}", words.join(" ").trim()))
    });
    named.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRIEFLY: Duration = Duration::from_millis(50);

    #[test]
    fn a_lock_is_shared_or_held_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let [one, two, three] = [(); 3].map(|()| open(&path).unwrap());
        assert!(try_lock(&one, LockKind::Shared).unwrap());
        assert!(try_lock(&two, LockKind::Shared).unwrap());
        assert!(!try_lock(&three, LockKind::Alone).unwrap());
        unlock(&one).unwrap();
        unlock(&two).unwrap();
        assert!(try_lock(&three, LockKind::Alone).unwrap());
        assert!(!try_lock(&one, LockKind::Shared).unwrap());
        assert!(!try_lock(&one, LockKind::Alone).unwrap());
    }

    #[test]
    fn what_is_dropped_is_free_though_somebody_has_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let [one, other] = [(); 2].map(|()| open(&path).unwrap());
        assert!(try_lock(&one, LockKind::Alone).unwrap());
        let held = LockedFile::new(one);
        let _copy = held.try_clone().unwrap();
        assert!(!try_lock(&other, LockKind::Alone).unwrap());
        drop(held);
        assert!(try_lock(&other, LockKind::Alone).unwrap());
    }

    #[test]
    fn a_lock_is_waited_for_and_not_for_longer_than_asked() {
        let folder = tempfile::tempdir().unwrap();
        let [held, asking] = [(); 2].map(|()| File::open(folder.path()).unwrap());
        lock(&held, LockKind::Alone).unwrap();
        let started = Instant::now();
        assert!(!lock_within(&asking, LockKind::Shared, Some(BRIEFLY)).unwrap());
        assert!(started.elapsed() >= BRIEFLY);
        assert!(!lock_within(&asking, LockKind::Alone, Some(Duration::ZERO)).unwrap());
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(BRIEFLY);
                unlock(&held).unwrap();
            });
            assert!(lock_within(&asking, LockKind::Alone, None).unwrap());
        });
    }

    #[test]
    fn whoever_has_locked_a_file_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(holder(file.path()), None);
        lock(file.as_file(), LockKind::Shared).unwrap();
        let holder = holder(file.path()).unwrap();
        assert!(holder.starts_with(&format!("process {}: ", std::process::id())), "{holder}");
    }
}
