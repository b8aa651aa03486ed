//! Reading content, wherever its bytes are.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_host::says_damage;
use offshoot_store::Id;

use crate::error::{Result, TreeError, io_error, unreadable};
use crate::hash::BlobId;
use crate::objects::Objects;
use crate::objects::location::ObjectLocation;
use crate::pack::place::{ChunkRef, PackPlace};
use crate::pack::read::PackFile;
use crate::path::display_bytes;

/// Content may be moved between being looked up and being opened; it is looked up again, at most this often.
const TRIES: usize = 3;

impl Objects {
    /// The bytes of a blob, verified.
    pub fn blob(&self, id: &BlobId) -> Result<Vec<u8>> {
        self.reader(id)?.into_bytes()
    }

    /// The bytes of a blob as a stream that verifies them when it ends.
    pub fn reader(&self, id: &BlobId) -> Result<BlobReader> {
        let (source, place) = self.look_again(id, |place| self.open(id, place))?;
        Ok(BlobReader { source, hasher: blake3::Hasher::new(), id: *id, place })
    }

    /// The file of a layer that holds a blob's bytes, and where it is; none where they are somewhere else. The caller
    /// verifies what it reads.
    pub fn file(&self, id: &BlobId) -> Result<Option<(File, PathBuf)>> {
        self.look_again(id, |place| match place {
            ObjectLocation::Layer { layer, path } => {
                let file = self.open_in_layer(id, layer, path)?;
                Ok(Some((file, self.layer_file(layer, path))))
            }
            _ => Ok(None),
        })
    }

    /// How many bytes a blob has, as far as that can be told without reading them.
    pub fn length(&self, id: &BlobId) -> Result<u64> {
        self.look_again(id, |place| match place {
            ObjectLocation::Inline(bytes) => Ok(bytes.len() as u64),
            ObjectLocation::Layer { layer, path } => {
                let file = self.open_in_layer(id, layer, path)?;
                let host = self.layer_file(layer, path);
                Ok(file.metadata().map_err(io_error("stat", &host))?.len())
            }
            ObjectLocation::Pack(place) => self.record_length(place, &id.0),
            ObjectLocation::Chunks(chunks) => {
                for chunk in chunks {
                    let found = self.record_length(&self.chunk(chunk)?, &chunk.id)?;
                    if found != chunk.length {
                        let object = format!("chunk {} of content {id}", BlobId(chunk.id));
                        return Err(self.damaged(object, "it has another length"));
                    }
                }
                Ok(chunks.iter().map(|chunk| chunk.length).sum())
            }
        })
    }

    /// Runs `work` with the place of a blob, again with its new place where it was moved meanwhile.
    fn look_again<T>(&self, id: &BlobId, work: impl Fn(&ObjectLocation) -> Result<T>) -> Result<T> {
        for _ in 1..TRIES {
            match work(&self.place(id)?) {
                Err(TreeError::Damaged { .. } | TreeError::MissingObject(_)) => {}
                other => return other,
            }
        }
        work(&self.place(id)?)
    }

    fn open(&self, id: &BlobId, place: &ObjectLocation) -> Result<(Source, PathBuf)> {
        Ok(match place {
            ObjectLocation::Inline(bytes) => {
                (Source::Memory(io::Cursor::new(bytes.clone())), self.catalog_place())
            }
            ObjectLocation::Layer { layer, path } => {
                let file = self.open_in_layer(id, layer, path)?;
                (Source::File(file), self.layer_file(layer, path))
            }
            ObjectLocation::Pack(place) => {
                let bytes = self.read_record(place, &id.0)?;
                (Source::Memory(io::Cursor::new(bytes)), self.pack_path(&place.pack))
            }
            ObjectLocation::Chunks(chunks) => {
                (Source::Chunks(self.open_chunks(chunks)?), self.packs_dir())
            }
        })
    }

    /// Opens every pack that holds one of the chunks, so that none can go while they are read.
    fn open_chunks(&self, chunks: &[ChunkRef]) -> Result<Chunks> {
        let mut packs: HashMap<Id, Arc<PackFile>> = HashMap::new();
        let mut parts = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let place = self.chunk(chunk)?;
            let pack = match packs.get(&place.pack) {
                Some(pack) => Arc::clone(pack),
                None => {
                    let pack = Arc::new(self.open_pack(&place.pack, &chunk.id)?);
                    packs.insert(place.pack, Arc::clone(&pack));
                    pack
                }
            };
            parts.push(Part { pack, place, chunk: *chunk });
        }
        parts.reverse();
        Ok(Chunks { parts, current: io::Cursor::new(Vec::new()) })
    }

    /// The verified bytes of a record.
    pub fn read_record(&self, place: &PackPlace, id: &[u8; 32]) -> Result<Vec<u8>> {
        let pack = self.open_pack(&place.pack, id)?;
        pack.read(place, id).map_err(|error| self.bad_record(place, id, error))
    }

    fn record_length(&self, place: &PackPlace, id: &[u8; 32]) -> Result<u64> {
        let pack = self.open_pack(&place.pack, id)?;
        pack.length(place, id).map_err(|error| self.bad_record(place, id, error))
    }

    fn open_pack(&self, pack: &Id, id: &[u8; 32]) -> Result<PackFile> {
        let place = PackPlace { pack: *pack, offset: 0, length: 0 };
        PackFile::open(&self.packs_dir(), pack).map_err(|error| self.bad_record(&place, id, error))
    }

    fn bad_record(&self, place: &PackPlace, id: &[u8; 32], error: io::Error) -> TreeError {
        unreadable(format!("content {}", BlobId(*id)), &self.pack_path(&place.pack), error)
    }
}

/// Streams the bytes of a blob and verifies them at the end.
#[derive(Debug)]
pub struct BlobReader {
    source: Source,
    hasher: blake3::Hasher,
    id: BlobId,
    place: PathBuf,
}

#[derive(Debug)]
enum Source {
    Memory(io::Cursor<Vec<u8>>),
    File(File),
    Chunks(Chunks),
}

/// The chunks that are left.
#[derive(Debug)]
struct Chunks {
    /// The next one last.
    parts: Vec<Part>,
    current: io::Cursor<Vec<u8>>,
}

#[derive(Debug)]
struct Part {
    pack: Arc<PackFile>,
    place: PackPlace,
    chunk: ChunkRef,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let got = self.current.read(buffer)?;
            if got > 0 || buffer.is_empty() {
                return Ok(got);
            }
            let Some(part) = self.parts.pop() else { return Ok(0) };
            let read = part.pack.read(&part.place, &part.chunk.id);
            let bytes = read.map_err(|error| match says_damage(&error) {
                false => error,
                true => {
                    let PackPlace { pack, offset, .. } = part.place;
                    io::Error::new(error.kind(), format!("in pack {pack} at {offset}: {error}"))
                }
            })?;
            self.current = io::Cursor::new(bytes);
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Memory(cursor) => cursor.read(buffer),
            Self::File(file) => file.read(buffer),
            Self::Chunks(chunks) => chunks.read(buffer),
        }
    }

    fn read_to_end(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Self::Memory(cursor) => cursor.read_to_end(bytes),
            Self::File(file) => file.read_to_end(bytes),
            Self::Chunks(chunks) => chunks.read_to_end(bytes),
        }
    }
}

/// As a plain stream. Its errors hold those of the tree.
impl Read for BlobReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Self::read(self, buffer).map_err(io::Error::other)
    }
}

impl BlobReader {
    /// Reads content from a file of the host.
    pub fn of_file(id: BlobId, file: File, place: PathBuf) -> Self {
        Self { source: Source::File(file), hasher: blake3::Hasher::new(), id, place }
    }

    /// Reads content from memory.
    pub fn of_bytes(id: BlobId, bytes: Vec<u8>) -> Self {
        let source = Source::Memory(io::Cursor::new(bytes));
        Self { source, hasher: blake3::Hasher::new(), id, place: PathBuf::from("memory") }
    }

    /// What is read.
    pub fn blob(&self) -> BlobId {
        self.id
    }

    /// Verifies what is about to be read, before any of it is handed out. Chunks are verified one by one as they are read; all
    /// else is read twice, and verified again at the end.
    pub fn verify_first(&mut self) -> Result<()> {
        let mut hasher = blake3::Hasher::new();
        let read = match &mut self.source {
            Source::Chunks(_) => return Ok(()),
            Source::Memory(cursor) => {
                hasher.update(cursor.get_ref());
                Ok(())
            }
            Source::File(file) => {
                hasher.update_reader(&*file).map(drop).and_then(|()| file.rewind())
            }
        };
        read.map_err(|error| self.read_error(error))?;
        self.compare(&hasher)
    }

    /// All bytes at once, verified.
    pub fn into_bytes(mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.source.read_to_end(&mut bytes);
        read.map_err(|error| self.read_error(error))?;
        self.hasher.update(&bytes);
        self.verify()?;
        Ok(bytes)
    }

    /// Fills `buffer` from where the last call stopped; 0 means the end, and that all bytes were right.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let got = self.source.read(buffer).map_err(|error| self.read_error(error))?;
        if got == 0 && !buffer.is_empty() {
            self.verify()?;
        }
        self.hasher.update(&buffer[..got]);
        Ok(got)
    }

    /// A record that is not what it should be is damage, and no error of the disk.
    fn read_error(&self, error: io::Error) -> TreeError {
        unreadable(format!("content {}", self.id), &self.place, error)
    }

    /// Appends everything that is left.
    pub fn read_to_end(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        self.copy_to(bytes, Path::new("memory"))
    }

    /// Writes everything that is left; `name` says in errors where to.
    pub fn copy_to(&mut self, out: &mut dyn io::Write, name: &Path) -> Result<()> {
        let mut buffer = vec![0u8; 1 << 16];
        loop {
            let got = self.read(&mut buffer)?;
            if got == 0 {
                return Ok(());
            }
            out.write_all(&buffer[..got]).map_err(io_error("write", name))?;
        }
    }

    fn verify(&self) -> Result<()> {
        self.compare(&self.hasher)
    }

    fn compare(&self, hasher: &blake3::Hasher) -> Result<()> {
        let found = BlobId(*hasher.finalize().as_bytes());
        if found == self.id {
            return Ok(());
        }
        Err(TreeError::Damaged {
            object: format!("content {}", self.id),
            place: display_bytes(self.place.as_os_str().as_encoded_bytes()),
            detail: format!("its bytes hash to {found}"),
        })
    }
}
