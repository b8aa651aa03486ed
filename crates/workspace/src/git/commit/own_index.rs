//! An index beside the repository's own, in which the tree of a commit is made.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use offshoot_vault::Id;

use crate::git::error::{GitError, GitResult};

/// How the names of their directories start.
const START: &str = "offshoot-index-";

/// An index in a directory of its own, which goes at the end.
pub(super) struct OwnIndex {
    directory: PathBuf,
    /// Held for as long as somebody is at it: git replaces the index itself.
    _lock: File,
}

impl OwnIndex {
    /// Makes one in a repository.
    pub(super) fn new(git_dir: &Path) -> GitResult<Self> {
        let directory = git_dir.join(format!("{START}{}", Id::random()));
        let made = || -> io::Result<File> {
            fs::create_dir(&directory)?;
            let lock = File::open(&directory)?;
            lock.lock()?;
            Ok(lock)
        };
        let failed = |source| GitError::Run { what: "with an index of its own".to_owned(), source };
        let lock = made().map_err(failed)?;
        Ok(Self { directory, _lock: lock })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.directory.join("index")
    }
}

impl Drop for OwnIndex {
    fn drop(&mut self) {
        // The next one takes away what is left.
        drop(fs::remove_dir_all(&self.directory));
    }
}

/// Takes away those that somebody left who was killed.
pub(super) fn sweep(git_dir: &Path) {
    for entry in fs::read_dir(git_dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if !entry.file_name().as_encoded_bytes().starts_with(START.as_bytes()) {
            continue;
        }
        let is_left = File::open(&path).is_ok_and(|lock| lock.try_lock().is_ok());
        if is_left && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // What cannot go now goes the next time.
            drop(fs::remove_dir_all(&path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_is_at_goes() {
        let folder = tempfile::tempdir().unwrap();
        let index = OwnIndex::new(folder.path()).unwrap();
        let left = folder.path().join("offshoot-index-left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("index"), "x").unwrap();
        fs::create_dir(folder.path().join("other")).unwrap();
        sweep(folder.path());
        assert!(index.directory.exists() && !left.exists());
        assert!(folder.path().join("other").exists());
        let directory = index.directory.clone();
        drop(index);
        assert!(!directory.exists());
    }
}
