//! Writing a tree out of the vault, exactly as it was recorded.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use offshoot_host::{disk, workers};
use offshoot_store::Id;
use offshoot_tree::{Entry, RootId, VaultPath};

use crate::error::{Result, VaultError, io_error};
use crate::materialize::{Materializer, Purpose};
use crate::vault::Vault;

/// How to export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// Give files their recorded owners; only root can.
    pub owners: bool,
    /// Worker threads; 0 for one per core.
    pub threads: usize,
}

impl Vault {
    /// Writes what is at `path` of a root to `destination`, which must not exist or be an empty directory. It appears
    /// whole or not at all.
    pub fn export(
        &self,
        root: &RootId,
        path: &VaultPath,
        destination: &Path,
        options: &ExportOptions,
    ) -> Result<Entry> {
        let entry = self.tree(root)?.find(path)?;
        let replaces_empty = check_destination(destination)?;
        let (parent, name) = split(destination)?;
        let staged_name = format!(".offshoot-export-{}", Id::random());
        let staged = parent.join(&staged_name);
        let written = self.write_out(&entry, &parent, &staged_name, options);
        let moved = written.and_then(|()| {
            if replaces_empty {
                fs::remove_dir(destination).map_err(io_error("replace", destination))?;
            }
            fs::rename(&staged, parent.join(&name)).map_err(io_error("create", destination))
        });
        if moved.is_err() {
            // The first error is the one to report.
            drop(disk::remove_tree(&staged).or_else(|_| fs::remove_file(&staged)));
        }
        moved.map(|()| entry)
    }

    fn write_out(
        &self,
        entry: &Entry,
        parent: &Path,
        name: &str,
        options: &ExportOptions,
    ) -> Result<()> {
        let purpose = Purpose::Export { owners: options.owners };
        let writer = Materializer::new(self.objects()?, parent, purpose)?;
        let named = Entry { name: name.as_bytes().to_vec(), ..entry.clone() };
        workers::with_own(options.threads, || writer.entry(&named))?
    }
}

/// Whether the destination is an empty directory; an error where it is anything else that exists.
fn check_destination(destination: &Path) -> Result<bool> {
    match fs::symlink_metadata(destination) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(io_error("open", destination)(error)),
        Ok(metadata) => {
            let empty = metadata.is_dir()
                && fs::read_dir(destination).is_ok_and(|mut entries| entries.next().is_none());
            if empty {
                Ok(true)
            } else {
                Err(VaultError::DestinationExists(destination.to_owned()))
            }
        }
    }
}

fn split(destination: &Path) -> Result<(PathBuf, std::ffi::OsString)> {
    let absolute = std::path::absolute(destination).map_err(io_error("open", destination))?;
    let parent = absolute.parent().filter(|parent| parent.is_dir());
    match (parent, absolute.file_name()) {
        (Some(parent), Some(name)) => Ok((parent.to_owned(), name.to_owned())),
        _ => {
            let missing = std::io::Error::from(ErrorKind::NotFound);
            Err(io_error("create", destination)(missing))
        }
    }
}
