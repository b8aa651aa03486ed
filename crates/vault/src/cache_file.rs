//! The files of the `cache` directory. Most belong to a root.
//!
//! Such a file may vanish or be wrong in any way without harm: it ends in its own hash, and failing to write one is no error.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use offshoot_store::Id;
use offshoot_tree::RootId;

/// What a cache file starts with: what it is, with a version, and a root.
const HEAD: usize = 4 + 32;

/// What a cache file remembers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CacheKind {
    /// Files of a directory on the host.
    Stat,
    /// The symbolic links of a root.
    Symlinks,
}

impl CacheKind {
    const ALL: [Self; 2] = [Self::Stat, Self::Symlinks];

    fn magic(self) -> &'static [u8; 4] {
        match self {
            Self::Stat => b"OSC\x03",
            Self::Symlinks => b"OSL\x01",
        }
    }
}

/// The bytes of a cache file without its hash; empty where there is none that is whole.
pub(crate) fn load(file: &Path) -> Vec<u8> {
    let mut bytes = fs::read(file).unwrap_or_default();
    let Some(end) = bytes.len().checked_sub(32) else { return Vec::new() };
    if blake3::hash(&bytes[..end]).as_bytes() != &bytes[end..] {
        return Vec::new();
    }
    bytes.truncate(end);
    bytes
}

/// The root that the bytes of a cache file were written with, and what they hold; nothing where they are of another kind.
pub(crate) fn split(bytes: &[u8], kind: CacheKind) -> Option<(RootId, &[u8])> {
    let (root, body) = bytes.strip_prefix(kind.magic())?.split_first_chunk()?;
    Some((RootId(*root), body))
}

/// The root that a cache file was written with; none where the file is no cache.
pub(crate) fn root_of(file: &Path) -> Option<RootId> {
    let mut head = [0u8; HEAD];
    fs::File::open(file).and_then(|mut file| file.read_exact(&mut head)).ok()?;
    CacheKind::ALL.into_iter().find_map(|kind| Some(split(&head, kind)?.0))
}

/// Writes a cache file in the place of the one that is there. Where that fails, what it would have said is found out again.
pub(crate) fn save(file: &Path, kind: CacheKind, root: &RootId, body: &[u8]) {
    write(file, [kind.magic().as_slice(), &root.0, body].concat());
}

/// The same of one that belongs to no root.
pub(crate) fn write(file: &Path, mut bytes: Vec<u8>) {
    let hash = blake3::hash(&bytes);
    bytes.extend_from_slice(hash.as_bytes());
    drop(replace(file, &bytes));
}

/// Removes caches that were being written when their writer stopped. One that is being written now is lost too, without
/// harm.
pub(crate) fn clear(vault: &Path) {
    for entry in fs::read_dir(vault.join("cache")).into_iter().flatten().flatten() {
        if entry.file_name().as_bytes().starts_with(b".") {
            drop(fs::remove_file(entry.path()));
        }
    }
}

fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let hidden = folder.join(format!(".{}", Id::random()));
    let written = fs::File::create(&hidden).and_then(|mut out| out.write_all(bytes));
    match written.and_then(|()| fs::rename(&hidden, file)) {
        Ok(()) => Ok(()),
        Err(error) => {
            drop(fs::remove_file(&hidden));
            Err(error)
        }
    }
}
