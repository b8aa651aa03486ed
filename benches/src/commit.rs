//! The least that a durable commit costs here: a few pages at the end of a file, synced.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::Result;

/// Pages that a small transaction of the catalog adds to its write-ahead log.
const PAGES: usize = 4;
const PAGE: usize = 4096;

/// A file that commits are appended to.
#[derive(Debug)]
pub(crate) struct RawLog {
    file: File,
}

impl RawLog {
    /// Makes the file; it belongs onto the disk of what it is compared with.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        Ok(Self { file: File::create_new(path)? })
    }

    /// Appends pages and waits until they are on disk.
    pub(crate) fn commit(&mut self) -> Result<Duration> {
        let pages = [0x5a; PAGES * PAGE];
        let start = Instant::now();
        self.file.write_all(&pages)?;
        self.file.sync_data()?;
        Ok(start.elapsed())
    }
}
