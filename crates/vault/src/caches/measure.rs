//! How much room a tree takes.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The bytes that everything below a directory takes on disk; a file with several names counts for each. What cannot be
/// looked at, such as in a directory that its own mode closes, counts for nothing.
pub(super) fn bytes_on_disk(top: &Path) -> io::Result<u64> {
    let mut folders = vec![top.to_owned()];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if folder == top => return Err(error),
            Err(_) => continue,
            Ok(entries) => entries,
        };
        for entry in entries.flatten() {
            let Ok(found) = entry.metadata() else { continue };
            bytes += found.blocks() * 512;
            if found.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(bytes)
}
