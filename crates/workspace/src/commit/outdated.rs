//! What a folder no longer has as it was captured, among what would be committed.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use offshoot_host::Mtime;
use offshoot_host::disk::bytes_path;
use offshoot_tree::diff::Change;
use offshoot_tree::{Body, Entry, Tree, VaultPath};
use offshoot_vault::Binding;

use crate::binding::path_on_host;
use crate::error::Result;

/// The paths among those to be changed that a folder no longer has as they were captured in `main`. `captured` is asked for what that has
/// at a path, and told what the change says was there. With them come paths above that are no directories any more, and new ones
/// in directories that give way to something else: both keep a change from being committed.
pub(super) fn outdated(
    bindings: &[Binding],
    changes: &[Change],
    main: &Tree<'_>,
    captured: impl Fn(&VaultPath, Option<&Arc<Entry>>) -> Result<Option<Arc<Entry>>>,
) -> Result<Vec<VaultPath>> {
    let mut outdated = Vec::new();
    // Nothing was changed in a folder that is gone.
    let gone: Vec<bool> = bindings.iter().map(Binding::is_gone).collect();
    for change in changes {
        // What was moved was at its old path, and nothing at the new one.
        let (from, here) = match &change.moved {
            Some((from, _)) => (Some((from, change.before.as_ref())), None),
            None => (None, change.before.as_ref()),
        };
        for (path, before) in from.into_iter().chain([(&change.path, here)]) {
            let Some((binding, host_path)) = path_on_host(bindings, path) else { continue };
            if gone[binding] {
                continue;
            }
            let entry = captured(path, before)?;
            if !is_as_captured(&host_path, entry.as_deref()) {
                outdated.push(path.clone());
            } else if entry.is_none()
                && let Some(above) = changed_above(bindings, main, path)?
                && !outdated.contains(&above)
            {
                outdated.push(above);
            }
        }
        let is_directory = |entry: &Arc<Entry>| entry.directory().is_some();
        let is_replaced = here.is_some_and(is_directory)
            && change.after.as_ref().is_some_and(|after| !is_directory(after));
        if is_replaced {
            outdated.extend(new_below(bindings, main, &change.path)?);
        }
    }
    Ok(outdated)
}

/// The path above one where nothing is, if something else is there than was captured.
fn changed_above(
    bindings: &[Binding],
    main: &Tree<'_>,
    path: &VaultPath,
) -> Result<Option<VaultPath>> {
    let mut above = path.parent();
    while let Some(path) = above {
        let found =
            path_on_host(bindings, &path).map(|(_, host_path)| (look(&host_path), host_path));
        match found {
            Some((Ok(found), _)) if found.is_dir() => return Ok(None),
            Some((Ok(_), host_path)) => {
                let entry = main.get(&path)?;
                return Ok((!is_as_captured(&host_path, entry.as_ref())).then_some(path));
            }
            _ => above = path.parent(),
        }
    }
    Ok(None)
}

/// The first path below a directory of a folder that was not captured.
fn new_below(
    bindings: &[Binding],
    main: &Tree<'_>,
    directory: &VaultPath,
) -> Result<Option<VaultPath>> {
    let mut pending = vec![directory.clone()];
    while let Some(directory) = pending.pop() {
        let Some((_, host_path)) = path_on_host(bindings, &directory) else { continue };
        // What is gone, or cannot be read, is told by its own path.
        let Ok(names) = fs::read_dir(&host_path) else { continue };
        let mut names: Vec<_> = names.flatten().map(|entry| entry.file_name()).collect();
        names.sort_unstable();
        for name in names {
            let path = directory.join(name.as_bytes());
            let Some(entry) = main.get(&path)? else { return Ok(Some(path)) };
            if entry.directory().is_some() {
                pending.push(path);
            }
        }
    }
    Ok(None)
}

/// Whether a file looks as it was captured: its kind, and of files their length and time.
fn is_as_captured(host_path: &Path, entry: Option<&Entry>) -> bool {
    let found = match look(host_path) {
        Ok(found) => found,
        Err(error) => {
            use io::ErrorKind::{NotADirectory, NotFound};
            let is_gone = matches!(error.kind(), NotFound | NotADirectory);
            return !is_gone || entry.is_none();
        }
    };
    let Some(entry) = entry else { return false };
    match &entry.body {
        Body::File { size, .. } => {
            let time = Mtime { seconds: found.mtime(), nanoseconds: found.mtime_nsec() as u32 };
            found.is_file() && found.len() == *size && time == entry.meta.mtime
        }
        Body::Directory(_) => found.is_dir(),
        Body::Symlink { target } => {
            fs::read_link(host_path).is_ok_and(|found| found == bytes_path(target))
        }
        Body::Fifo => !found.is_file() && !found.is_dir(),
    }
}

fn look(host_path: &Path) -> io::Result<Metadata> {
    fs::symlink_metadata(host_path)
}
