//! Which files git tracks, whatever its ignore rules say.

use std::cell::OnceCell;
use std::collections::HashSet;

use offshoot_vault::VaultPath;

use super::error::GitResult;
use super::folder::GitFolder;

/// The files of a folder that git tracks; git is asked once, and only when the first question comes.
#[derive(Debug, Default)]
pub struct TrackedPaths {
    folder: Option<GitFolder>,
    paths: OnceCell<HashSet<Vec<u8>>>,
}

impl TrackedPaths {
    /// Of a folder; where it is in no repository nothing is tracked.
    pub fn of(folder: Option<GitFolder>) -> Self {
        Self { folder, paths: OnceCell::new() }
    }

    /// Whether git tracks the file at a path of the folder.
    pub fn has(&self, path: &VaultPath) -> GitResult<bool> {
        let Some(folder) = &self.folder else { return Ok(false) };
        let paths = match self.paths.get() {
            Some(paths) => paths,
            None => {
                let read = tracked(folder)?;
                self.paths.get_or_init(|| read)
            }
        };
        Ok(paths.contains(&path.relative()))
    }
}

fn tracked(folder: &GitFolder) -> GitResult<HashSet<Vec<u8>>> {
    let git = folder.git.in_directory(&folder.folder);
    let listed = git.output(&["ls-files", "-z", "--cached"])?;
    Ok(listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(<[u8]>::to_vec)
        .collect())
}
