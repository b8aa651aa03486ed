//! Reading packs.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use offshoot_store::{Hash, Id};

use crate::codec::{Decoder, FormatError};
use crate::pack::place::PackPlace;
use crate::pack::record::{Head, LONGEST_HEAD, LONGEST_RECORD, MAGIC, PackRecord};

/// An open pack.
#[derive(Debug)]
pub struct PackFile {
    file: File,
}

impl PackFile {
    /// Opens a pack of a vault's `packs` directory.
    pub fn open(packs: &Path, id: &Id) -> io::Result<Self> {
        Ok(Self { file: File::open(packs.join(id.to_string()))? })
    }

    /// A record as it is in the file.
    pub fn record(&self, place: &PackPlace) -> io::Result<Vec<u8>> {
        if place.length > LONGEST_RECORD + LONGEST_HEAD as u64 {
            return Err(damaged("its length is too large"));
        }
        let mut bytes = vec![0; place.length as usize];
        self.file.read_exact_at(&mut bytes, place.offset)?;
        Ok(bytes)
    }

    /// The verified bytes of the record of that id.
    pub fn read(&self, place: &PackPlace, id: &Hash) -> io::Result<Vec<u8>> {
        let encoded = self.record(place)?;
        let record = PackRecord::decode(&encoded).map_err(|FormatError(text)| damaged(text))?;
        if record.id != *id {
            return Err(damaged("there is another record at that place"));
        }
        record.bytes().map_err(|FormatError(text)| damaged(text))
    }

    /// How many bytes the record of that id holds.
    pub fn length(&self, place: &PackPlace, id: &Hash) -> io::Result<u64> {
        let mut head = vec![0; LONGEST_HEAD.min(place.length as usize)];
        self.file.read_exact_at(&mut head, place.offset)?;
        let head = Head::read(&mut Decoder::new(&head)).map_err(|error| damaged(error.0))?;
        if head.id == *id { Ok(head.length) } else { Err(damaged("there is another record there")) }
    }

    /// All records, in the order in which they were written.
    pub fn records(&self) -> io::Result<Records<'_>> {
        let mut magic = [0; MAGIC.len()];
        self.file.read_exact_at(&mut magic, 0)?;
        if magic != *MAGIC {
            return Err(damaged("it is no pack"));
        }
        let end = self.file.metadata()?.len();
        Ok(Records { pack: self, at: MAGIC.len() as u64, end })
    }
}

/// Goes through the records of a pack without its catalog.
#[derive(Debug)]
pub struct Records<'p> {
    pack: &'p PackFile,
    at: u64,
    end: u64,
}

impl Iterator for Records<'_> {
    /// Where a record starts and how long it is, and its id.
    type Item = io::Result<(u64, u64, Hash)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let found = self.head();
        match &found {
            Ok((_, length, _)) => self.at += length,
            // Where the next record starts cannot be known any more.
            Err(_) => self.at = self.end,
        }
        Some(found)
    }
}

impl Records<'_> {
    fn head(&self) -> io::Result<(u64, u64, Hash)> {
        let mut bytes = vec![0; LONGEST_HEAD.min((self.end - self.at) as usize)];
        self.pack.file.read_exact_at(&mut bytes, self.at)?;
        let mut input = Decoder::new(&bytes);
        let head = Head::read(&mut input).map_err(|error| damaged(error.0))?;
        let length = (bytes.len() - input.left()) as u64 + head.stored;
        if self.at + length > self.end {
            return Err(damaged("its last record is cut short"));
        }
        Ok((self.at, length, head.id))
    }
}

fn damaged(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}
