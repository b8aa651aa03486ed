//! Directories for what is made to be looked at and forgotten, in the vault's own directory.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_host::disk;
use offshoot_host::lock::DirLock;
use offshoot_store::Id;

use crate::error::{Result, io_error};
use crate::vault::Vault;

/// How their names begin.
const PREFIX: &str = "scratch-";

/// A directory that goes when this is dropped. Whoever dies before that leaves it to `gc`.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _held: DirLock,
}

impl Scratch {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is collected like what was left.
        drop(disk::remove_tree(&self.path));
    }
}

impl Vault {
    /// Makes an empty directory that nobody else touches.
    pub fn scratch(&self) -> Result<Scratch> {
        let path = self.dir().join(format!("{PREFIX}{}", Id::random()));
        let held = DirLock::create(&path).map_err(io_error("create", &path))?;
        Ok(Scratch { path, _held: held })
    }
}

/// Those that somebody left who died.
pub(crate) fn abandoned(vault: &Vault) -> Vec<PathBuf> {
    let entries = fs::read_dir(vault.dir()).into_iter().flatten().flatten();
    let is_scratch = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // One that was just being made has a dot before its name.
        name.trim_start_matches('.').starts_with(PREFIX)
    };
    let scratch = entries.map(|entry| entry.path()).filter(is_scratch);
    scratch.filter(|path| DirLock::take(path).is_ok()).collect()
}
