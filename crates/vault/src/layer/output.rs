//! What a command prints, on disk while it runs.
//!
//! Frames one after the other: the number of the stream, the length as four bytes, the bytes. Who reads while it is
//! written takes whole frames and leaves the rest for later.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::exec::STDOUT;

/// What comes before the bytes of a frame.
const HEAD: usize = 5;

/// Writes what a command prints, each stream up to a limit. The file is made with the first byte.
#[derive(Debug)]
pub struct OutputWriter {
    path: PathBuf,
    file: Option<File>,
    /// How much each stream may still write.
    room: [usize; 2],
    failed: bool,
}

impl OutputWriter {
    /// Will write to a file that does not exist yet.
    pub fn new(path: PathBuf, limit: usize) -> Self {
        Self { path, file: None, room: [limit; 2], failed: false }
    }

    /// Adds what came on a stream. It is for those who look on: where it cannot be written, the command goes on without.
    pub fn write(&mut self, stream: u8, bytes: &[u8]) {
        let room = &mut self.room[usize::from(stream != STDOUT)];
        let kept = bytes.len().min(*room);
        *room -= kept;
        if kept > 0 && !self.failed {
            self.failed = self.append(stream, &bytes[..kept]).is_err();
        }
    }

    fn append(&mut self, stream: u8, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            let mut options = OpenOptions::new();
            self.file = Some(options.append(true).create_new(true).open(&self.path)?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?.to_le_bytes();
        let frame = [&[stream][..], &length, bytes].concat();
        file.write_all(&frame)
    }
}

/// Reads what was written so far, and later what came since.
#[derive(Debug)]
pub struct OutputReader {
    file: File,
    rest: Vec<u8>,
}

impl OutputReader {
    /// Opens the file; none where nothing was printed yet.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => Ok(Some(Self { file: file?, rest: Vec::new() })),
        }
    }

    /// The whole frames that are there and were not read yet: streams and bytes, in their order.
    pub fn read(&mut self) -> io::Result<Vec<(u8, Vec<u8>)>> {
        self.file.read_to_end(&mut self.rest)?;
        let (mut frames, mut at) = (Vec::new(), 0);
        while let Some(&[stream, a, b, c, d]) = self.rest[at..].first_chunk::<HEAD>() {
            let length = u32::from_le_bytes([a, b, c, d]) as usize;
            let start = at + HEAD;
            let Some(bytes) = self.rest.get(start..start.saturating_add(length)) else { break };
            frames.push((stream, bytes.to_vec()));
            at = start + length;
        }
        self.rest.drain(..at);
        Ok(frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_in_their_order_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        assert!(OutputReader::open(&path).unwrap().is_none());
        let mut writer = OutputWriter::new(path.clone(), 5);
        writer.write(1, b"");
        assert!(!path.exists(), "nothing was printed");
        writer.write(1, b"abc");
        let mut reader = OutputReader::open(&path).unwrap().unwrap();
        assert_eq!(reader.read().unwrap(), [(1, b"abc".to_vec())]);
        writer.write(2, b"error");
        writer.write(1, b"defg");
        writer.write(2, b"more");
        assert_eq!(reader.read().unwrap(), [(2, b"error".to_vec()), (1, b"de".to_vec())]);
        assert_eq!(reader.read().unwrap(), []);
    }

    #[test]
    fn a_frame_that_is_cut_short_waits_for_its_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        std::fs::write(&path, [1, 2, 0, 0]).unwrap();
        let mut reader = OutputReader::open(&path).unwrap().unwrap();
        assert_eq!(reader.read().unwrap(), []);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(&[0, b'o']).unwrap();
        assert_eq!(reader.read().unwrap(), []);
        file.write_all(b"k").unwrap();
        assert_eq!(reader.read().unwrap(), [(1, b"ok".to_vec())]);
    }
}
