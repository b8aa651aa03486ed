//! Settings that an agent made where the user has none: they are lost with the run, like changes of those that there are.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use offshoot_host::disk;
use offshoot_profile::{HomePath, Preset};
use offshoot_protocol::HomeKeep;
use rustix::fs::{AtFlags, OFlags, statat};

use super::LARGEST_COPY;
use super::side::Side;
use crate::exec::envelope::DiscardedFiles;

/// What an editor is told about a file of settings, and no setting.
const SCHEMA: &str = "$schema";
/// How deep directories of settings are looked into.
const DEEPEST: usize = 8;

/// The settings in an agent's home that its user has not, by paths of the user's home, with how many files each is.
pub(super) fn made(preset: &Preset, home: &Path, host: &Path) -> Vec<DiscardedFiles> {
    let Ok(top) = disk::open_dir(home) else { return Vec::new() };
    let rows = preset.home.iter().filter(|row| row.keep == HomeKeep::Config);
    let paths = rows.flat_map(|row| &row.paths).map(|path| (path, host.join(path.to_string())));
    let new = paths.filter(|(_, own)| own.symlink_metadata().is_err());
    new.filter_map(|(path, own)| {
        let (files, bytes) = amount_at(&top, home, path)?;
        Some(DiscardedFiles::at(own, files, bytes))
    })
    .collect()
}

/// How many files were made at a path, and their bytes; none where that is nothing.
fn amount_at(top: &OwnedFd, home: &Path, path: &HomePath) -> Option<(u64, u64)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    if let Ok(directory) = disk::open_below(top.as_fd(), path.to_string().as_bytes(), flags) {
        return Some(amount_in(&directory, DEEPEST)).filter(|(files, _)| *files > 0);
    }
    let content = Side::agent(home).read(path, LARGEST_COPY).ok().flatten();
    content.filter(|content| says_something(content)).map(|content| (1, content.len() as u64))
}

/// The files somewhere in a directory; agents make some that stay empty. What lies too deep is not looked for.
fn amount_in(directory: &OwnedFd, depth: usize) -> (u64, u64) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let names = disk::names(directory.as_fd()).unwrap_or_default();
    let found = names.iter().map(|name| match disk::open_below(directory.as_fd(), name, flags) {
        Ok(below) if depth > 0 => amount_in(&below, depth - 1),
        Ok(_) => (0, 0),
        Err(_) => {
            let found = statat(directory, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW);
            (1, found.map_or(0, |found| u64::try_from(found.st_size).unwrap_or(0)))
        }
    });
    found.fold((0, 0), |(files, bytes), more| (files + more.0, bytes + more.1))
}

/// Agents also make files of settings that set nothing.
fn says_something(content: &[u8]) -> bool {
    let object: Option<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_slice(content).ok();
    let is_empty = content.trim_ascii().is_empty();
    !is_empty && object.is_none_or(|object| object.keys().any(|key| key != SCHEMA))
}
