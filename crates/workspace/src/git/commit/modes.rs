//! Modes of files, where the repository says that those of the file system do not count.

use std::collections::BTreeMap;

use crate::git::error::GitResult;
use crate::git::folder::GitFolder;
use crate::git::moved::staged;

/// The mode of a file that nobody can run.
const PLAIN: u32 = 0o100_644;
/// The mode of one that can be run.
const RUNNABLE: u32 = 0o100_755;

/// What is known of them.
pub(super) enum Modes {
    /// They are what the files have.
    OfFiles,
    /// `core.fileMode` is off: they stay what the index has.
    OfIndex(BTreeMap<Vec<u8>, u32>),
}

impl Modes {
    pub(super) fn of(folder: &GitFolder) -> GitResult<Self> {
        let asked = ["config", "--type=bool", "--get", "core.fileMode"];
        if folder.git.try_output(&asked, &[])?.stdout.trim_ascii() != b"false" {
            return Ok(Self::OfFiles);
        }
        let listed = staged(&folder.git.output(&["ls-files", "--stage", "-z"])?);
        let parsed = listed.into_iter().filter_map(|(path, (mode, _))| {
            Some((path, u32::from_str_radix(std::str::from_utf8(&mode).ok()?, 8).ok()?))
        });
        Ok(Self::OfIndex(parsed.collect()))
    }

    /// The mode that git gives a file that has one.
    pub(super) fn of_file(&self, path: &[u8], mode: u32) -> u32 {
        let is_file = |mode: u32| mode == PLAIN || mode == RUNNABLE;
        match self {
            Self::OfIndex(modes) if is_file(mode) => {
                modes.get(path).copied().filter(|mode| is_file(*mode)).unwrap_or(PLAIN)
            }
            _ => mode,
        }
    }
}
