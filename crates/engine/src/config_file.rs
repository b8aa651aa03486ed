//! Files of settings that people and programs write: read whole, and replaced whole.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};

use offshoot_host::read_regular;
use offshoot_store::file_lock::{self, LockKind, LockedFile};

/// More than any settings; agents keep much more than settings in theirs.
const LARGEST: u64 = 64 << 20;

/// The text of a file, or nothing if there is none.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use offshoot_engine::config_file;
///
/// let folder = tempfile::tempdir()?;
/// assert_eq!(config_file::read(&folder.path().join("settings.json"))?, None);
/// # Ok(())
/// # }
/// ```
pub fn read(path: &Path) -> io::Result<Option<String>> {
    match read_regular(path, LARGEST) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(io::Error::other),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Replaces a file as a whole; where it is a link, what it leads to. Its mode and owner stay, and folders that are missing are made.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use offshoot_engine::config_file;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("agent/settings.json");
/// config_file::replace(&path, "{}\n")?;
/// assert_eq!(config_file::read(&path)?.as_deref(), Some("{}\n"));
/// # Ok(())
/// # }
/// ```
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = match fs::canonicalize(path) {
        Ok(path) => path,
        Err(_) if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) => {
            return Err(io::Error::other("it is a link that leads nowhere"));
        }
        Err(_) => path.to_owned(),
    };
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut staged = path.clone().into_os_string();
    staged.push(format!(".{}.tmp", std::process::id()));
    let staged = PathBuf::from(staged);
    let placed =
        stage(&staged, text, fs::metadata(&path).ok()).and_then(|()| fs::rename(&staged, &path));
    if placed.is_err() {
        // The error that stopped it is the one to report.
        drop(fs::remove_file(&staged));
    }
    placed
}

/// Keeps others who lock the same file out until it is dropped: for who reads a file, and replaces it by what that says. The lock is on a file
/// beside it, which stays.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use offshoot_engine::config_file;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("settings.json");
/// let alone = config_file::lock(&path)?;
/// config_file::replace(&path, "{}\n")?;
/// drop(alone);
/// # Ok(())
/// # }
/// ```
pub fn lock(path: &Path) -> io::Result<ConfigLock> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let file = file_lock::open(&path.with_extension("lock"))?;
    file_lock::lock(&file, LockKind::Alone)?;
    Ok(ConfigLock { _held: LockedFile::new(file) })
}

/// A file that is locked until this is dropped.
///
/// ```
/// # fn example(alone: offshoot_engine::config_file::ConfigLock) {
/// drop(alone);
/// # }
/// ```
#[derive(Debug)]
pub struct ConfigLock {
    _held: LockedFile,
}

/// Writes the new file. What the old one keeps from others is never readable for them.
fn stage(staged: &Path, text: &str, before: Option<fs::Metadata>) -> io::Result<()> {
    let mode = if before.is_some() { 0o600 } else { 0o666 };
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(staged)?;
    file.write_all(text.as_bytes())?;
    if let Some(before) = before {
        let now = file.metadata()?;
        if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
            chown(staged, Some(before.uid()), Some(before.gid()))?;
        }
        file.set_permissions(before.permissions())?;
    }
    file.sync_all()
}
