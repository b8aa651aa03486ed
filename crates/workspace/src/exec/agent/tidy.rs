//! Removing what no row of a preset keeps. Everything in the home was written by commands: no link is followed.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use offshoot_host::disk;
use offshoot_profile::Preset;
use offshoot_protocol::HomeKeep;
use rustix::fs::{AtFlags, FileType, OFlags, statat, unlinkat};

use super::side::through;

/// What a file system counts blocks in.
const BLOCK: u64 = 512;

/// Tidies a home that nobody uses. What cannot be removed is tried again by the next command.
pub(super) fn tidy(preset: &Preset, home: &Path, max_cache: u64) {
    let Ok(top) = disk::open_dir(home) else { return };
    let mut walk = Tidy { preset, cached: 0, drops_caches: false };
    walk.directory(&top, &mut Vec::new());
    if walk.cached > max_cache {
        walk.drops_caches = true;
        walk.directory(&top, &mut Vec::new());
    }
}

struct Tidy<'a> {
    preset: &'a Preset,
    /// How many bytes caches take.
    cached: u64,
    /// There is too much of them.
    drops_caches: bool,
}

impl Tidy<'_> {
    fn directory(&mut self, directory: &OwnedFd, path: &mut Vec<Vec<u8>>) {
        for name in disk::names(directory.as_fd()).unwrap_or_default() {
            path.push(name);
            self.entry(directory, path);
            path.pop();
        }
    }

    fn entry(&mut self, directory: &OwnedFd, path: &mut Vec<Vec<u8>>) {
        let names: Vec<&[u8]> = path.iter().map(Vec::as_slice).collect();
        let (row, leads) = (self.preset.row(&names), self.preset.leads(&names));
        let Some(name) = path.last().cloned() else { return };
        let keep = row.map_or(HomeKeep::Drop, |row| row.keep);
        let found = statat(directory, disk::bytes_path(&name), AtFlags::SYMLINK_NOFOLLOW);
        let Ok(found) = found else { return };
        let is_directory = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        // More is known of what lies below.
        if row.is_none() && leads && is_directory {
            if let Some(below) = open(directory, &name) {
                self.directory(&below, path);
                let _still_used =
                    unlinkat(directory, disk::bytes_path(&name), AtFlags::REMOVEDIR).is_err();
            }
            return;
        }
        match keep {
            HomeKeep::State | HomeKeep::Credential | HomeKeep::Values => {}
            HomeKeep::Cache if !self.drops_caches => {
                self.cached += bytes(directory, &name, found.st_blocks as u64)
            }
            HomeKeep::Cache | HomeKeep::Config | HomeKeep::Drop => remove(directory, &name),
        }
    }
}

/// Opens a directory, also one that a command closed to its own user.
fn open(directory: &OwnedFd, name: &[u8]) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let opened = disk::open_below(directory.as_fd(), name, flags);
    opened.ok().or_else(|| {
        let found =
            disk::open_below(directory.as_fd(), name, OFlags::PATH | OFlags::DIRECTORY).ok()?;
        let open = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(through(&found), open).ok()?;
        disk::open_below(directory.as_fd(), name, flags).ok()
    })
}

fn remove(directory: &OwnedFd, name: &[u8]) {
    let path = disk::bytes_path(name);
    // Again when the next command starts.
    let _stays = unlinkat(directory, path, AtFlags::empty()).is_err()
        && disk::remove_tree(&through(directory).join(path)).is_err();
}

/// The bytes on the disk of something and what is in it.
fn bytes(directory: &OwnedFd, name: &[u8], blocks: u64) -> u64 {
    let mut sum = blocks.saturating_mul(BLOCK);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let Ok(below) = disk::open_below(directory.as_fd(), name, flags) else { return sum };
    for name in disk::names(below.as_fd()).unwrap_or_default() {
        let found = statat(&below, disk::bytes_path(&name), AtFlags::SYMLINK_NOFOLLOW);
        let blocks = found.map_or(0, |found| found.st_blocks as u64);
        sum = sum.saturating_add(bytes(&below, &name, blocks));
    }
    sum
}
