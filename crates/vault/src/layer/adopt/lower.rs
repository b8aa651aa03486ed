//! What lies below what was written, as it is on disk: to tell damage from a change.
//!
//! A file that is copied up takes the bytes of the layer below, whatever they are. Where they were damaged, the copy differs from
//! what is recorded although nobody wrote to it; it equals what lies below, though, which no real change does.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::PathBuf;

use offshoot_host::disk;
use rustix::fs::OFlags;

use crate::materialize::bytes_elsewhere;

/// Files are compared in pieces of this many bytes.
const PIECE: usize = 1 << 16;

/// The layers below, topmost first, and after them those that only hold bytes.
#[derive(Debug, Default)]
pub(crate) struct Lower {
    pub(super) layers: Vec<PathBuf>,
}

impl Lower {
    /// Whether a file has the very bytes that lie below at its path. What cannot be looked at is not known to have them.
    ///
    /// For a file that was changed this costs finding what lies below, and reading both up to the first difference where they
    /// are equally long.
    pub(super) fn has_same(&self, path: &[u8], written: &File, size: u64) -> bool {
        let Some(below) = self.open(path) else { return false };
        let length = below.metadata().map(|metadata| metadata.len());
        length.is_ok_and(|length| length == size) && same_bytes(written, &below).unwrap_or(false)
    }

    /// The file that is seen at a path when nothing is written over it.
    fn open(&self, path: &[u8]) -> Option<File> {
        let (at, file) = self.find(0, path)?;
        match bytes_elsewhere(&file).ok()? {
            Some(other) => self.find(at + 1, &other).map(|(_, file)| file),
            None => Some(file),
        }
    }

    fn find(&self, from: usize, path: &[u8]) -> Option<(usize, File)> {
        let layers = self.layers.iter().enumerate().skip(from);
        layers.into_iter().find_map(|(at, layer)| {
            let top = disk::open_dir_path(layer).ok()?;
            let found = disk::open_below(top.as_fd(), path, OFlags::PATH).ok()?;
            let stat = rustix::fs::fstat(&found).ok()?;
            let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
            let regular = kind == rustix::fs::FileType::RegularFile;
            let file =
                disk::open_below(top.as_fd(), path, OFlags::RDONLY).ok().filter(|_| regular)?;
            Some((at, File::from(file)))
        })
    }
}

fn same_bytes(mut one: &File, mut other: &File) -> std::io::Result<bool> {
    let (mut left, mut right) = (vec![0; PIECE], vec![0; PIECE]);
    loop {
        let got = one.read(&mut left)?;
        if got == 0 {
            return Ok(other.read(&mut right[..1])? == 0);
        }
        other.read_exact(&mut right[..got])?;
        if left[..got] != right[..got] {
            return Ok(false);
        }
    }
}
