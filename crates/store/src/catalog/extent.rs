//! Whether the catalog's files are as long as what is in them says.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;

use super::Catalog;
use super::connection::log_path;
use super::reader::Reader;
use crate::error::{StoreError, from_io, sqlite_error};

/// The bytes before the first frame of the log; the salts of its frames are at 16.
const LOG_HEADER: usize = 32;
/// The bytes before each page in the log: its number first, the salts at 8.
const FRAME_HEADER: usize = 24;
/// SQLite locks bytes here, and never writes the page that has them.
const LOCK_BYTES: u64 = 1 << 30;

impl Catalog {
    /// Fails where a page is in neither the file nor its log, as after the end of the file was lost. No page is read.
    pub fn check_extent(&self) -> Result<(), StoreError> {
        // What is read stays where it is for as long as somebody reads: no page leaves the log, and the file does not become shorter.
        self.read(|reader| reader.check_extent())
    }
}

impl Reader<'_> {
    fn check_extent(&self) -> Result<(), StoreError> {
        let pages = self.pragma("page_count")?;
        let page_size = self.pragma("page_size")?;
        let file = fs::metadata(self.path).map_err(|error| from_io(self.path, error))?;
        let whole = file.len() / page_size.max(1);
        if whole >= pages {
            return Ok(());
        }
        let logged = logged(self.path, page_size).map_err(|error| from_io(self.path, error))?;
        let is_lost = |page: &u64| !logged.contains(page) && *page != LOCK_BYTES / page_size + 1;
        match (whole + 1..=pages).filter(is_lost).count() {
            0 => Ok(()),
            lost => Err(StoreError::Damaged {
                path: self.path.to_owned(),
                detail: format!("the file is cut short and lacks {lost} of {pages} pages"),
            }),
        }
    }

    fn pragma(&self, name: &str) -> Result<u64, StoreError> {
        let value = self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        Ok(value.map_err(sqlite_error(self.path))?.unsigned_abs())
    }
}

/// The numbers of the pages that the log has. Its frames end where the salts are other ones: those are left of an earlier log.
fn logged(catalog: &Path, page_size: u64) -> io::Result<HashSet<u64>> {
    let mut found = HashSet::new();
    let mut log = match File::open(log_path(catalog)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        opened => BufReader::new(opened?),
    };
    let mut header = [0; LOG_HEADER];
    if !fill(&mut log, &mut header)? {
        return Ok(found);
    }
    let mut frame = [0; FRAME_HEADER];
    while fill(&mut log, &mut frame)? && frame[8..16] == header[16..24] {
        let page = u32::from_be_bytes([frame[0], frame[1], frame[2], frame[3]]);
        if io::copy(&mut log.by_ref().take(page_size), &mut io::sink())? < page_size {
            break;
        }
        found.insert(page.into());
    }
    Ok(found)
}

/// Fills a buffer; false where what is read ends before.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}
