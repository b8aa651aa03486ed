//! A home, on either side: the user's own, or the agent's, in which everything was written by commands.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use offshoot_host::{RegularFileError, disk, read_regular, read_regular_below};
use offshoot_profile::HomePath;
use offshoot_store::Id;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, statat};

/// How long a lock of the agent is waited for. One that is older was left behind.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);

/// What says that a file is another: its inode, size and times.
pub(super) type Mark = (u64, i64, i64, i64, i64);

/// A home.
#[derive(Clone, Debug)]
pub(super) struct Side {
    top: PathBuf,
    /// It is the user's own: their links are theirs to follow.
    is_own: bool,
}

/// The directory of a file, opened without following links below the home, and its name.
struct Opened {
    directory: OwnedFd,
    name: String,
}

impl Side {
    /// An agent's home.
    pub(super) fn agent(top: &Path) -> Self {
        Self { top: top.to_owned(), is_own: false }
    }

    /// The user's.
    pub(super) fn user(top: &Path) -> Self {
        Self { top: top.to_owned(), is_own: true }
    }

    /// Where a file lies.
    pub(super) fn place(&self, path: &HomePath) -> PathBuf {
        self.top.join(path.to_string())
    }

    /// What a file holds; none where there is none.
    pub(super) fn read(&self, path: &HomePath, limit: u64) -> Result<Option<Vec<u8>>, String> {
        let shown = || self.place(path).display().to_string();
        let found = match self.is_own {
            true => read_regular(&self.place(path), limit),
            false => {
                let top = disk::open_dir(&self.top);
                let top = top.map_err(|error| format!("{}: {error}", shown()))?;
                read_regular_below(top.as_fd(), path.to_string().as_bytes(), limit)
            }
        };
        match found {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_absent() => Ok(None),
            Err(error @ RegularFileError::Io(_)) => Err(format!("{}: {error}", shown())),
            Err(error) => Err(format!("{} is {error}", shown())),
        }
    }

    /// What a file is known by; none where there is none.
    pub(super) fn mark(&self, path: &HomePath) -> Option<Mark> {
        let Opened { directory, name } = self.open(path, false).ok()?;
        let found = statat(&directory, name.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((
            found.st_ino,
            found.st_size,
            found.st_mtime,
            found.st_mtime_nsec as i64,
            found.st_ctime_nsec as i64,
        ))
    }

    /// When a file was changed last.
    pub(super) fn modified(&self, path: &HomePath) -> Option<SystemTime> {
        fs::symlink_metadata(self.place(path)).ok()?.modified().ok()
    }

    /// Puts a file in the place of what is there, whole or not at all.
    pub(super) fn write(
        &self,
        path: &HomePath,
        lock: Option<&HomePath>,
        content: &[u8],
    ) -> io::Result<()> {
        let _held = lock.map(|lock| self.lock(lock));
        let Opened { directory, name } = self.open(path, true)?;
        let old = statat(&directory, name.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok();
        let old = old.filter(|old| FileType::from_raw_mode(old.st_mode) == FileType::RegularFile);
        let hidden = format!(".{name}.offshoot-{}", Id::random().short());
        // By the handle: whoever renames directories meanwhile leads nobody elsewhere.
        let place = through(&directory).join(&hidden);
        let written = (|| {
            let mut options = fs::File::options();
            let mut file = options.write(true).create_new(true).mode(0o600).open(&place)?;
            file.write_all(content)?;
            if let Some(old) = old {
                let mode = if self.is_own { old.st_mode & 0o777 } else { 0o600 };
                file.set_permissions(fs::Permissions::from_mode(mode))?;
                let own = file.metadata()?;
                if (own.uid(), own.gid()) != (old.st_uid, old.st_gid) {
                    // Whose it is matters more than that it is written now.
                    fchown(&file, Some(old.st_uid), Some(old.st_gid))?;
                }
            }
            file.sync_all()?;
            rustix::fs::renameat(&directory, hidden.as_str(), &directory, name.as_str())?;
            Ok(())
        })();
        if written.is_err() {
            let _none_left = fs::remove_file(&place).is_err();
        }
        written
    }

    /// Removes a file.
    pub(super) fn remove(&self, path: &HomePath) -> io::Result<()> {
        let Opened { directory, name } = self.open(path, false)?;
        Ok(rustix::fs::unlinkat(&directory, name.as_str(), AtFlags::empty())?)
    }

    /// Removes whatever is there, in an agent's home.
    pub(super) fn clear(&self, path: &HomePath) {
        if let Ok(Opened { directory, name }) = self.open(path, false) {
            let _stays = rustix::fs::unlinkat(&directory, name.as_str(), AtFlags::empty()).is_err()
                && disk::remove_tree(&through(&directory).join(name)).is_err();
        }
    }

    /// Removes what is in the way of a directory, in an agent's home.
    pub(super) fn make_way(&self, path: &HomePath) {
        let is_directory = self.open(path, false).is_ok_and(|Opened { directory, name }| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            disk::open_below(directory.as_fd(), name.as_bytes(), flags).is_ok()
        });
        if !is_directory {
            self.clear(path);
        }
    }

    /// Holds a lock as the agent takes it: a directory that is made. One that stays for too long was left behind.
    fn lock(&self, path: &HomePath) -> Option<HeldLock> {
        let Opened { directory, name } = self.open(path, false).ok()?;
        let started = Instant::now();
        loop {
            match mkdirat(&directory, name.as_str(), Mode::from_raw_mode(0o700)) {
                Ok(()) => return Some(HeldLock { directory, name }),
                Err(rustix::io::Errno::EXIST) if started.elapsed() < PATIENCE => {
                    thread::sleep(PAUSE)
                }
                Err(_) => return None,
            }
        }
    }

    /// Opens the directory of a file; makes those that are missing.
    fn open(&self, path: &HomePath, make: bool) -> io::Result<Opened> {
        if self.is_own {
            return self.open_own(path, make);
        }
        let mut directory = disk::open_dir(&self.top)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let (name, parents) = path.names().split_last().ok_or(io::ErrorKind::InvalidInput)?;
        for parent in parents {
            if make {
                match mkdirat(&directory, parent.as_str(), Mode::from_raw_mode(0o700)) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(errno) => return Err(errno.into()),
                }
            }
            directory = disk::open_below(directory.as_fd(), parent.as_bytes(), flags)?;
        }
        Ok(Opened { directory, name: name.clone() })
    }

    /// The same in the user's home, where a link leads to the file that is meant.
    fn open_own(&self, path: &HomePath, make: bool) -> io::Result<Opened> {
        let place = self.place(path);
        let place = if place.is_symlink() { place.canonicalize()? } else { place };
        let (Some(parent), Some(name)) =
            (place.parent(), place.file_name().and_then(OsStr::to_str))
        else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if make && !parent.exists() {
            fs::DirBuilder::new().mode(0o700).recursive(true).create(parent)?;
        }
        Ok(Opened { directory: disk::open_dir(parent)?, name: name.to_owned() })
    }
}

/// A path to an open directory, whatever it is called by now.
pub(super) fn through(directory: &OwnedFd) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()))
}

struct HeldLock {
    directory: OwnedFd,
    name: String,
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        let _gone =
            rustix::fs::unlinkat(&self.directory, self.name.as_str(), AtFlags::REMOVEDIR).is_err();
    }
}
