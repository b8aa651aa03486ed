//! An index beside the repository's own.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use offshoot_vault::Id;
use offshoot_vault::file_lock::{self, LockKind};

use super::error::{GitError, GitResult};
use super::folder::GitFolder;
use super::run::Git;

/// How the directories are called that such an index lies in.
const PREFIX: &str = "offshoot-index-";

/// An index in a directory of its own, which goes at the end.
#[derive(Debug)]
pub(super) struct OwnIndex {
    directory: PathBuf,
    /// Somebody is at it as long as this is locked.
    _lock: File,
}

impl OwnIndex {
    /// One that is not there yet. What others left who were killed goes.
    pub(super) fn new(folder: &GitFolder) -> GitResult<Self> {
        sweep(&folder.git_dir);
        loop {
            let directory = folder.git_dir.join(format!("{PREFIX}{}", Id::random()));
            if let Some(lock) = make(&directory).map_err(failed)? {
                return Ok(Self { directory, _lock: lock });
            }
        }
    }

    /// A copy of the repository's own; nothing where it has none.
    pub(super) fn copy_of(folder: &GitFolder) -> GitResult<Option<Self>> {
        let copy = Self::new(folder)?;
        match copy.fill(folder) {
            Ok(()) => Ok(Some(copy)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    fn fill(&self, folder: &GitFolder) -> io::Result<()> {
        let from = folder.git_dir.join("index");
        fs::copy(&from, self.path())?;
        // Git compares the content of files that are as new as the index: with a newer index it would take them for unchanged.
        let written = fs::metadata(&from)?.modified()?;
        File::options().write(true).open(self.path())?.set_modified(written)
    }

    fn path(&self) -> PathBuf {
        self.directory.join("index")
    }

    /// Git with this index.
    pub(super) fn git(&self, folder: &GitFolder) -> Git {
        folder.git.with_index(&self.path())
    }
}

impl Drop for OwnIndex {
    fn drop(&mut self) {
        // What is left is small, and the next one takes it away.
        drop(fs::remove_dir_all(&self.directory));
    }
}

/// Makes a directory and locks it; nothing where somebody took it for one that was left, which is possible in between.
fn make(directory: &Path) -> io::Result<Option<File>> {
    fs::create_dir(directory)?;
    let made = File::open(directory).and_then(|lock| {
        file_lock::lock(&lock, LockKind::Alone)?;
        Ok(lock)
    });
    match made {
        Ok(lock) if directory.is_dir() => Ok(Some(lock)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(None),
    }
}

/// Takes away what nobody is at any more.
fn sweep(git_dir: &Path) {
    for entry in fs::read_dir(git_dir).into_iter().flatten().flatten() {
        let is_one = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        let path = entry.path();
        if !is_one || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if let Ok(lock) = File::open(&path)
            && file_lock::try_lock(&lock, LockKind::Alone).is_ok_and(|free| free)
        {
            // Where it cannot go, the next one tries again.
            drop(fs::remove_dir_all(&path));
        }
    }
}

fn failed(source: io::Error) -> GitError {
    GitError::Run { what: "with an index of its own".to_owned(), source }
}
