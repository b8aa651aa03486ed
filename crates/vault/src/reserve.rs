//! Room that is kept for freeing room: on a full disk, what is to be deleted has to be written down first.
//!
//! A file of the vault takes up some blocks. Whoever opens the vault to free space gives them back to the file system if that
//! is full, and takes again what is left of them at the end. Whoever changes the vault later, when there is room, takes the rest.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

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

/// Takes the reserve, or what is missing of it, where there is enough room. Where that fails there is none.
pub(crate) fn keep(dir: &Path) {
    if bytes(dir) >= MOST {
        return;
    }
    let Some(room) = Room::of(dir) else { return };
    if room.free / ROOM >= room.wanted {
        take(dir, room.wanted);
    }
}

/// Makes the reserve so long, unless it is.
fn take(dir: &Path, wanted: u64) {
    if wanted <= bytes(dir) {
        return;
    }
    let mut options = File::options();
    options.write(true).create(true).truncate(false).mode(0o600);
    let Ok(file) = options.open(dir.join(FILE)) else { return };
    if fallocate(&file, FallocateFlags::empty(), 0, wanted).is_err() {
        // What was taken beyond its length belongs to nobody.
        let length = file.metadata().map_or(0, |data| data.len());
        drop(file.set_len(length));
    }
}

/// A reserve that was given back. What is left of it when this is dropped is taken again, before others come to it: who frees
/// space may have to do so more than once.
#[derive(Debug)]
pub(crate) struct Released(PathBuf);

impl Drop for Released {
    fn drop(&mut self) {
        if let Some(room) = Room::of(&self.0) {
            take(&self.0, room.wanted.min(room.free));
        }
    }
}

/// Gives the reserve back if the disk is full. The file stays, because removing and making it may take room.
pub(crate) fn release_if_full(dir: &Path) -> Option<Released> {
    let room = Room::of(dir)?;
    let wanted = room.wanted.max(LEAST);
    // What is free may be the reserve itself: given back by somebody who was killed before they took it again.
    let is_given = bytes(dir) < room.wanted && room.free < 2 * wanted;
    (room.free < wanted || is_given).then(|| {
        release(dir);
        Released(dir.to_owned())
    })
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
