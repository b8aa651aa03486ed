//! How much a command may add to its workspace: looked at while it runs, and once more when it is over.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use offshoot_host::disk::{self, join};
use offshoot_sandbox::Cancel;
use rustix::fs::{AtFlags, FileType, OFlags, statat};

/// How often is looked, at most.
const OFTEN: Duration = Duration::from_millis(250);
/// Looking takes no more than one part in so many of the time.
const SPARING: u32 = 20;
/// What a file system counts blocks in.
const BLOCK: u64 = 512;

/// Watches how much a command writes, and kills it where that is too much.
#[derive(Debug)]
pub(super) struct DiskWatch {
    looks: Arc<Looks>,
    /// Dropped when the command is over.
    over: Option<Sender<()>>,
    /// None where the system lets no thread be started: then it is only looked at in the end.
    thread: Option<JoinHandle<()>>,
}

/// A directory that is watched, and what was in it before the command started.
#[derive(Debug)]
pub(super) struct DiskBefore {
    place: PathBuf,
    bytes: u64,
}

impl DiskBefore {
    /// What is there now.
    pub(super) fn of(place: &Path) -> Self {
        Self { place: place.to_owned(), bytes: allocated(place) }
    }
}

/// What is looked at, and what was found.
#[derive(Debug)]
struct Looks {
    before: DiskBefore,
    limit: u64,
    /// The most that was found to be too much.
    exceeded: RwLock<Option<u64>>,
}

impl DiskWatch {
    /// Watches everything beside the upper. Whoever writes too much is ended by `cancel`, at once.
    pub(super) fn start(before: DiskBefore, limit: u64, cancel: Option<Arc<Cancel>>) -> Self {
        let looks = Arc::new(Looks { before, limit, exceeded: RwLock::default() });
        let (over, ended) = mpsc::channel::<()>();
        let watched = Arc::clone(&looks);
        let watch = |cancel: Arc<Cancel>| {
            move || {
                let mut pause = OFTEN;
                while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    let started = Instant::now();
                    if watched.look() {
                        // Who asks once more means at once: what it writes in its grace is too much as well.
                        cancel.cancel();
                        cancel.cancel();
                        return;
                    }
                    pause = OFTEN.max(started.elapsed() * SPARING);
                }
            }
        };
        let thread = cancel.and_then(|cancel| {
            let named = std::thread::Builder::new().name("offshoot-disk".to_owned());
            named.spawn(watch(cancel)).ok()
        });
        Self { looks, over: Some(over), thread }
    }

    /// The command is over. How much it added, where that is too much.
    pub(super) fn end(mut self) -> Option<u64> {
        drop(self.over.take());
        // A panic there says nothing about the command.
        let _panicked = self.thread.take().is_some_and(|thread| thread.join().is_err());
        self.looks.look();
        *self.looks.exceeded.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Looks {
    /// Whether it is too much.
    fn look(&self) -> bool {
        let added = allocated(&self.before.place).saturating_sub(self.before.bytes);
        let exceeds = added > self.limit;
        if exceeds {
            *self.exceeded.write().unwrap_or_else(PoisonError::into_inner) = Some(added);
        }
        exceeds
    }
}

/// The bytes on the disk below a directory: holes take none, and a file with several names counts once. What cannot be read counts as
/// nothing, and neither does what goes while it is looked at.
fn allocated(place: &Path) -> u64 {
    let Ok(top) = disk::open_dir_path(place) else { return 0 };
    let (mut bytes, mut seen) = (0u64, HashSet::new());
    let mut pending = vec![Vec::new()];
    while let Some(path) = pending.pop() {
        let Ok(dir) = disk::open_below(top.as_fd(), &path, OFlags::RDONLY | OFlags::DIRECTORY)
        else {
            continue;
        };
        for name in disk::names_as_opened(dir.as_fd()).unwrap_or_default() {
            let found = statat(&dir, disk::bytes_path(&name), AtFlags::SYMLINK_NOFOLLOW);
            let Ok(stat) = found else { continue };
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                pending.push(join(&path, &name));
            } else if stat.st_nlink > 1 && !seen.insert((stat.st_dev, stat.st_ino)) {
                continue;
            }
            bytes = bytes.saturating_add((stat.st_blocks as u64).saturating_mul(BLOCK));
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_written_counts_and_holes_do_not() {
        let scratch = tempfile::tempdir().unwrap();
        let deep = scratch.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        let before = allocated(scratch.path());
        fs::write(deep.join("file"), vec![1; 1 << 20]).unwrap();
        let with_file = allocated(scratch.path());
        assert!(with_file - before >= 1 << 20, "{before} {with_file}");
        fs::hard_link(deep.join("file"), deep.join("again")).unwrap();
        let hole = fs::File::create(deep.join("hole")).unwrap();
        hole.set_len(1 << 40).unwrap();
        assert!(allocated(scratch.path()) - with_file < 1 << 16);
        std::os::unix::fs::symlink("/", deep.join("link")).unwrap();
        assert!(allocated(scratch.path()) - with_file < 1 << 16);
    }

    #[test]
    fn too_much_is_noticed_while_it_is_written() {
        let scratch = tempfile::tempdir().unwrap();
        let cancel = Arc::new(Cancel::new().unwrap());
        let watch =
            DiskWatch::start(DiskBefore::of(scratch.path()), 1 << 20, Some(Arc::clone(&cancel)));
        fs::write(scratch.path().join("little"), vec![1; 1 << 10]).unwrap();
        std::thread::sleep(OFTEN * 3);
        assert!(!cancel.is_cancelled());
        fs::write(scratch.path().join("much"), vec![1; 2 << 20]).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while !cancel.is_cancelled() {
            assert!(Instant::now() < deadline);
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(watch.end().is_some_and(|added| added > 1 << 20));
    }

    #[test]
    fn too_much_is_noticed_in_the_end() {
        let scratch = tempfile::tempdir().unwrap();
        let cancel = Arc::new(Cancel::new().unwrap());
        let watch =
            DiskWatch::start(DiskBefore::of(scratch.path()), 1 << 20, Some(Arc::clone(&cancel)));
        fs::write(scratch.path().join("much"), vec![1; 2 << 20]).unwrap();
        assert!(watch.end().is_some());
        let watch = DiskWatch::start(DiskBefore::of(scratch.path()), 1 << 20, Some(cancel));
        assert_eq!(watch.end(), None, "what was there before counts for nothing");
    }
}
