//! What was looked at on the host while a launch is prepared: everything once.

use std::collections::HashMap;
use std::fs::{self, FileType};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Paths that were looked at.
#[derive(Default)]
pub(crate) struct Looked(HashMap<PathBuf, Option<(FileType, u32)>>);

impl Looked {
    /// What is at a path, itself a link or not.
    pub(crate) fn kind(&mut self, path: &Path) -> Option<FileType> {
        self.look(path).map(|(kind, _)| kind)
    }

    /// The outermost directory on the way to a path, and it, that is closed to others. None where the path leads nowhere.
    pub(crate) fn closed_above<'p>(&mut self, path: &'p Path) -> Option<Option<&'p Path>> {
        const OTHERS_ENTER: u32 = 0o001;
        let mut above: Vec<&Path> =
            path.ancestors().filter(|above| above.parent().is_some()).collect();
        above.reverse();
        for directory in above {
            let (kind, mode) = match self.look(directory)? {
                (kind, _) if kind.is_symlink() => {
                    let found = fs::metadata(directory).ok()?;
                    (found.file_type(), found.mode())
                }
                found => found,
            };
            if kind.is_dir() && mode & OTHERS_ENTER == 0 {
                return Some(Some(directory));
            }
        }
        Some(None)
    }

    fn look(&mut self, path: &Path) -> Option<(FileType, u32)> {
        if let Some(known) = self.0.get(path) {
            return *known;
        }
        let found = fs::symlink_metadata(path).ok().map(|it| (it.file_type(), it.mode()));
        self.0.insert(path.to_owned(), found);
        found
    }
}
