//! Room that is kept for freeing room: on a full disk, what is to be deleted has to be written down first.
//!
//! A file of the vault takes up some blocks. Whoever opens the vault to free space gives them back to the file system if that
//! is full, and whoever changes the vault later, when there is room, takes them again.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate, statvfs};

/// The file, in the directory of a vault.
const FILE: &str = "reserve";
/// How much is kept: enough for a few transactions.
const MOST: u64 = 4 << 20;
/// Of a small file system no more than one part in so many is kept,
const PART: u64 = 16;
/// and nothing where that would be less than a transaction needs.
const LEAST: u64 = 256 << 10;
/// It is taken where there is so many times as much room.
const ROOM: u64 = 4;

/// A file system as far as this matters.
struct Room {
    /// How much there should be in reserve.
    wanted: u64,
    /// How much this process may still write.
    free: u64,
}

impl Room {
    fn of(dir: &Path) -> Option<Self> {
        let found = statvfs(dir).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        let part = bytes(found.f_blocks) / PART;
        let wanted = if part < LEAST { 0 } else { part.min(MOST) };
        Some(Self { wanted, free: bytes(found.f_bavail) })
    }
}

/// Takes the reserve where there is none and enough room. Where that fails there is none.
pub(crate) fn keep(dir: &Path) {
    let path = dir.join(FILE);
    if fs::metadata(&path).is_ok_and(|data| data.len() > 0) {
        return;
    }
    let Some(room) = Room::of(dir) else { return };
    if room.wanted == 0 || room.free / ROOM < room.wanted {
        return;
    }
    let mut options = File::options();
    options.write(true).create(true).truncate(false).mode(0o600);
    let Ok(file) = options.open(&path) else { return };
    if fallocate(&file, FallocateFlags::empty(), 0, room.wanted).is_err() {
        // What was taken so far is no use to anybody.
        drop(file.set_len(0));
    }
}

/// Gives the reserve back if the disk is full; true where it is. The file stays, because removing and making it may take room.
pub(crate) fn release_if_full(dir: &Path) -> bool {
    let is_full = Room::of(dir).is_some_and(|room| room.free < room.wanted.max(LEAST));
    if is_full {
        release(dir);
    }
    is_full
}

/// Gives the reserve back.
pub(crate) fn release(dir: &Path) {
    // Where there is none, or it cannot be opened, there is nothing to give.
    if let Ok(file) = File::options().write(true).open(dir.join(FILE)) {
        drop(file.set_len(0));
    }
}

/// How many bytes are kept.
pub(crate) fn bytes(dir: &Path) -> u64 {
    fs::metadata(dir.join(FILE)).map_or(0, |data| data.len())
}
