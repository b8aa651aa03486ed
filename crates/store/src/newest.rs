//! The newest operation that was acknowledged, noted beside the catalog.
//!
//! SQLite reads its log up to the first frame that is damaged and takes what comes after for never written. So the id of the
//! newest operation is noted in a file of its own, once the operation is durable. The note may be older than the catalog, because
//! nobody waits for it; it is never newer, unless the catalog lost something.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use crate::id::Id;

/// The name of the file.
pub(crate) const FILE: &str = "newest";

/// The id and the start of its hash.
const LENGTH: usize = 26 + 1 + DIGITS + 1;
const DIGITS: usize = 16;

/// What a catalog lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutShort {
    /// Its newest operation; none where it has none.
    pub ends: Option<Id>,
    /// The operation that was acknowledged and is not there.
    pub acknowledged: Id,
}

/// The operation that is noted; none where there is no note or it is not legible.
pub(crate) fn read(path: &Path) -> Option<Id> {
    read_from(&File::open(path).ok()?)
}

/// Notes an operation, unless a newer one is noted. Failing to is no harm: an older note only notices less.
pub(crate) fn note(path: &Path, operation: &Id) {
    drop(open(path).and_then(|file| match read_from(&file) {
        Some(noted) if noted >= *operation => Ok(()),
        _ => file.write_all_at(&line(operation), 0),
    }));
}

/// Notes an operation in place of whatever is noted, durably.
pub(crate) fn replace(path: &Path, operation: &Id) -> io::Result<()> {
    let file = open(path)?;
    file.write_all_at(&line(operation), 0)?;
    file.sync_all()
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn read_from(file: &File) -> Option<Id> {
    let mut bytes = [0; LENGTH];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let id: Id = std::str::from_utf8(&bytes[..26]).ok()?.parse().ok()?;
    (bytes == line(&id)).then_some(id)
}

fn line(id: &Id) -> [u8; LENGTH] {
    let id = id.to_string();
    let hash = blake3::hash(id.as_bytes()).to_hex();
    let mut bytes = [0; LENGTH];
    let parts = [id.as_bytes(), b" ", &hash.as_bytes()[..DIGITS], b"\n"].concat();
    bytes.copy_from_slice(&parts);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_goes_forward_only_and_one_that_is_cut_short_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        assert_eq!(read(&path), None);
        let (first, second) = (Id::at(1), Id::at(2));
        note(&path, &second);
        note(&path, &first);
        assert_eq!(read(&path), Some(second));
        replace(&path, &first).unwrap();
        assert_eq!(read(&path), Some(first));
        for length in 0..LENGTH as u64 {
            File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
            assert_eq!(read(&path), None, "{length}");
            replace(&path, &first).unwrap();
        }
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[3] = if bytes[3] == b'0' { b'1' } else { b'0' };
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(read(&path), None, "another id than was noted");
    }
}
