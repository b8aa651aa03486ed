//! Room that is kept for freeing room: on a full disk, what is to be deleted has to be written down first.
//!
//! A file of the vault takes up some blocks, and empty files take up some inodes. Whoever opens the vault to free space gives back to the file
//! system what that has run out of, and takes again what is left of it at the end. Whoever changes the vault later, when there is room, takes
//! the rest.

use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
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

/// The directory of empty files, in that of a vault. They are called `0`, `1` and so on: made in this order, removed in the other.
const SPARES: &str = "spare";
/// How many are kept: a process that frees space makes a mark, locks, and the files of the catalog's log.
const MOST_SPARES: u64 = 16;
/// None are kept where there would be fewer than that takes.
const LEAST_SPARES: u64 = 8;

/// A file system as far as this matters.
struct Room {
    /// How much there should be in reserve.
    wanted: u64,
    /// How much this process may still write.
    free: u64,
    /// How many spare files there should be; none where the file system makes inodes as it needs them.
    wanted_spares: u64,
    /// How many files this process may still make.
    free_inodes: u64,
}

impl Room {
    fn of(dir: &Path) -> Option<Self> {
        let found = statvfs(dir).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Some(Self {
            wanted: part(bytes(found.f_blocks), LEAST, MOST),
            free: bytes(found.f_bavail),
            wanted_spares: part(found.f_files, LEAST_SPARES, MOST_SPARES),
            free_inodes: found.f_favail,
        })
    }
}

/// What is kept of so much.
fn part(all: u64, least: u64, most: u64) -> u64 {
    let part = all / PART;
    if part < least { 0 } else { part.min(most) }
}

/// Takes the reserve, or what is missing of it, where there is enough room. Where that fails there is none.
pub(crate) fn keep(dir: &Path) {
    if bytes(dir) >= MOST && has_spare(dir, MOST_SPARES - 1) {
        return;
    }
    let Some(room) = Room::of(dir) else { return };
    if room.free / ROOM >= room.wanted {
        take(dir, room.wanted);
    }
    if room.free_inodes / ROOM >= room.wanted_spares {
        take_spares(dir, room.wanted_spares);
    }
}

/// Makes the reserve so long, unless it is.
fn take(dir: &Path, wanted: u64) {
    if wanted <= bytes(dir) {
        return;
    }
    let Ok(file) = make(&dir.join(FILE)) else { return };
    if fallocate(&file, FallocateFlags::empty(), 0, wanted).is_err() {
        // What was taken beyond its length belongs to nobody.
        let length = file.metadata().map_or(0, |data| data.len());
        drop(file.set_len(length));
    }
}

/// Makes so many spare files, as far as they are not there and can be made.
fn take_spares(dir: &Path, wanted: u64) {
    if wanted == 0 || has_spare(dir, wanted - 1) {
        return;
    }
    // Where it is there, or cannot be made, the files say so.
    drop(fs::DirBuilder::new().mode(0o700).create(dir.join(SPARES)));
    for number in 0..wanted {
        if make(&spare(dir, number)).is_err() {
            return;
        }
    }
}

fn make(path: &Path) -> std::io::Result<File> {
    File::options().write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn spare(dir: &Path, number: u64) -> PathBuf {
    dir.join(SPARES).join(number.to_string())
}

/// Whether a spare file is there, and so are those before it.
fn has_spare(dir: &Path, number: u64) -> bool {
    fs::symlink_metadata(spare(dir, number)).is_ok()
}

/// A reserve that was given back. What is left of it when this is dropped is taken again, before others come to it: who frees
/// space may have to do so more than once.
#[derive(Debug)]
pub(crate) struct Released(PathBuf);

impl Drop for Released {
    fn drop(&mut self) {
        if let Some(room) = Room::of(&self.0) {
            take(&self.0, room.wanted.min(room.free));
            // Those that are there take no room.
            take_spares(&self.0, room.wanted_spares);
        }
    }
}

/// Gives back what the disk has run out of. The file and the directory stay, because removing and making them may take room.
pub(crate) fn release_if_full(dir: &Path) -> Option<Released> {
    let room = Room::of(dir)?;
    let wanted = room.wanted.max(LEAST);
    // What is free may be the reserve itself: given back by somebody who was killed before they took it again.
    let is_given = bytes(dir) < room.wanted && room.free < 2 * wanted;
    let no_room = room.free < wanted || is_given;
    let spares = room.wanted_spares;
    let is_given = spares > 0 && !has_spare(dir, spares - 1) && room.free_inodes < 2 * spares;
    let no_inodes = room.free_inodes < spares || is_given;
    if no_room {
        release_bytes(dir);
    }
    if no_inodes {
        release_spares(dir);
    }
    (no_room || no_inodes).then(|| Released(dir.to_owned()))
}

/// Gives the reserve back.
pub(crate) fn release(dir: &Path) {
    release_bytes(dir);
    release_spares(dir);
}

fn release_bytes(dir: &Path) {
    // Where there is none, or it cannot be opened, there is nothing to give.
    if let Ok(file) = File::options().write(true).open(dir.join(FILE)) {
        drop(file.set_len(0));
    }
}

fn release_spares(dir: &Path) {
    for number in (0..MOST_SPARES).rev() {
        // What is not there takes nothing.
        drop(fs::remove_file(spare(dir, number)));
    }
}

/// How many bytes are kept.
pub(crate) fn bytes(dir: &Path) -> u64 {
    fs::metadata(dir.join(FILE)).map_or(0, |data| data.len())
}
