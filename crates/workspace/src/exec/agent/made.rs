//! Settings that an agent made where the user has none: they are lost with the run, like changes of those that there are.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use offshoot_host::disk;
use offshoot_profile::{HomePath, Preset};
use offshoot_protocol::HomeKeep;
use rustix::fs::OFlags;

use super::LARGEST_COPY;
use super::side::Side;

/// What an editor is told about a file of settings, and no setting.
const SCHEMA: &str = "$schema";
/// How deep directories of settings are looked into.
const DEEPEST: usize = 8;

/// The settings in an agent's home that its user has not, as paths of the user's home.
pub(super) fn made(preset: &Preset, home: &Path, host: &Path) -> Vec<PathBuf> {
    let Ok(top) = disk::open_dir(home) else { return Vec::new() };
    let rows = preset.home.iter().filter(|row| row.keep == HomeKeep::Config);
    let paths = rows.flat_map(|row| &row.paths).map(|path| (path, host.join(path.to_string())));
    let new = paths.filter(|(_, own)| own.symlink_metadata().is_err());
    new.filter(|(path, _)| is_made(&top, home, path)).map(|(_, own)| own).collect()
}

fn is_made(top: &OwnedFd, home: &Path, path: &HomePath) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    if let Ok(directory) = disk::open_below(top.as_fd(), path.to_string().as_bytes(), flags) {
        return has_files(&directory, DEEPEST);
    }
    let found = Side::agent(home).read(path, LARGEST_COPY);
    found.is_ok_and(|content| content.is_some_and(|content| says_something(&content)))
}

/// Whether there is a file somewhere in a directory; agents make some that stay empty.
fn has_files(directory: &OwnedFd, depth: usize) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let names = disk::names(directory.as_fd()).unwrap_or_default();
    names.iter().any(|name| match disk::open_below(directory.as_fd(), name, flags) {
        Ok(below) => depth > 0 && has_files(&below, depth - 1),
        Err(_) => true,
    })
}

/// Agents also make files of settings that set nothing.
fn says_something(content: &[u8]) -> bool {
    let object: Option<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_slice(content).ok();
    let is_empty = content.trim_ascii().is_empty();
    !is_empty && object.is_none_or(|object| object.keys().any(|key| key != SCHEMA))
}
