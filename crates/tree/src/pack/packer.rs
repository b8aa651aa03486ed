//! Moving content into packs.

use std::collections::HashSet;
use std::io::{self, Read};

use fastcdc::v2020::{Error as CutError, StreamCDC};
use offshoot_store::{Catalog, Hash, ObjectKind};

use crate::error::{Result, TreeError, io_error};
use crate::hash::BlobId;
use crate::objects::location::ObjectLocation;
use crate::objects::reader::BlobReader;
use crate::objects::{Batch, Objects};
use crate::pack::place::{ChunkRef, WHOLE_LIMIT};
use crate::pack::write::PackWriter;

/// A pack is closed when it is longer than this.
const PACK_LENGTH: u64 = 64 << 20;
/// Chunks are at least so long, but for the last of a file.
const SHORTEST_CHUNK: u32 = 256 << 10;
/// Chunks are about so long.
const USUAL_CHUNK: u32 = 1 << 20;
/// Chunks are at most so long.
const LONGEST_CHUNK: u32 = 4 << 20;

/// Moves content into packs. What was added is in its pack once [`flush`](Self::flush) returns.
#[derive(Debug)]
pub struct Packer<'v> {
    objects: &'v Objects,
    catalog: &'v Catalog,
    writer: Option<PackWriter>,
    /// The chunks of the pack that is being written.
    chunks: Batch,
    /// The ids of those chunks.
    cut: HashSet<Hash>,
    /// The contents that are moved when the pack is sealed.
    moves: Batch,
    /// Chunks that are there already are written all the same, and take their place.
    anew: bool,
}

impl<'v> Packer<'v> {
    /// Packs are written beside the layers, and recorded in the catalog.
    pub fn new(objects: &'v Objects, catalog: &'v Catalog) -> Self {
        let (chunks, moves, cut) = (Batch::default(), Batch::default(), HashSet::new());
        Self { objects, catalog, writer: None, chunks, cut, moves, anew: false }
    }

    /// For content that cannot be read where it is: nothing that is there is relied upon.
    pub fn anew(objects: &'v Objects, catalog: &'v Catalog) -> Self {
        Self { anew: true, ..Self::new(objects, catalog) }
    }

    /// Moves one content; its bytes are verified on the way.
    pub fn add(&mut self, blob: &BlobId, size: u64) -> Result<()> {
        let reader = self.objects.reader(blob)?;
        self.add_from(blob, size, reader)
    }

    /// Moves one content whose bytes are read from elsewhere.
    pub fn add_from(&mut self, blob: &BlobId, size: u64, mut reader: BlobReader) -> Result<()> {
        let place = match size <= WHOLE_LIMIT {
            true => {
                let mut bytes = Vec::new();
                reader.read_to_end(&mut bytes)?;
                ObjectLocation::Pack(self.writer()?.add(blob.0, &bytes)?)
            }
            false => ObjectLocation::Chunks(cut(blob, reader, |id, data| self.chunk(id, data))?),
        };
        self.moves.blob(*blob, &place);
        self.flush_if_long()
    }

    fn chunk(&mut self, id: Hash, data: &[u8]) -> Result<()> {
        let backend = self.objects.backend();
        let there = !self.anew && backend.contains(ObjectKind::Chunk, &id)?;
        if there || self.cut.contains(&id) {
            return Ok(());
        }
        let place = self.writer()?.add(id, data)?;
        let batch = if self.anew { &mut self.moves } else { &mut self.chunks };
        batch.chunk(id, place);
        self.cut.insert(id);
        self.flush_if_long()
    }

    /// Moves a record of another pack as it is: that of a chunk, or of a whole content.
    pub fn add_record(&mut self, kind: ObjectKind, id: Hash, record: &[u8]) -> Result<()> {
        let place = self.writer()?.add_record(record)?;
        match kind {
            ObjectKind::Chunk => self.moves.chunk(id, place),
            _ => self.moves.blob(BlobId(id), &ObjectLocation::Pack(place)),
        }
        self.flush_if_long()
    }

    fn writer(&mut self) -> Result<&mut PackWriter> {
        if self.writer.is_none() {
            self.writer = Some(PackWriter::begin(&self.objects.packs_dir())?);
        }
        Ok(self.writer.as_mut().expect("it was just made"))
    }

    fn flush_if_long(&mut self) -> Result<()> {
        match &self.writer {
            Some(writer) if writer.length() >= PACK_LENGTH => self.flush(),
            _ => Ok(()),
        }
    }

    /// Seals the pack, and only then says that content is in it. The next synced commit of the catalog makes that durable.
    pub fn flush(&mut self) -> Result<()> {
        let Some(writer) = self.writer.take() else {
            let moves = std::mem::take(&mut self.moves);
            // All chunks of these were there already.
            return self.objects.move_to(&moves);
        };
        let row = writer.seal()?;
        self.catalog.write_ordered(|writer| Ok::<(), TreeError>(writer.add_pack(&row)?))?;
        let objects = self.objects;
        objects.store(&std::mem::take(&mut self.chunks))?;
        self.cut.clear();
        objects.move_to(&std::mem::take(&mut self.moves))
    }
}

/// Cuts a long content where its bytes say, so that equal parts of two become the same chunk.
pub fn cut<E: From<TreeError>>(
    blob: &BlobId,
    reader: BlobReader,
    mut keep: impl FnMut(Hash, &[u8]) -> Result<(), E>,
) -> Result<Vec<ChunkRef>, E> {
    let cutter = StreamCDC::new(Source(reader), SHORTEST_CHUNK, USUAL_CHUNK, LONGEST_CHUNK);
    let mut chunks = Vec::new();
    let mut hasher = blake3::Hasher::new();
    for chunk in cutter {
        let data = chunk.map_err(|error| cut_error(blob, error))?.data;
        hasher.update(&data);
        let id = *blake3::hash(&data).as_bytes();
        chunks.push(ChunkRef { id, length: data.len() as u64 });
        keep(id, &data)?;
    }
    if BlobId(*hasher.finalize().as_bytes()) != *blob {
        let place = "its place".to_owned();
        let detail = "its bytes hash to something else".to_owned();
        return Err(TreeError::Damaged { object: format!("content {blob}"), place, detail }.into());
    }
    Ok(chunks)
}

/// Content as a plain stream.
struct Source(BlobReader);

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(io::Error::other)
    }
}

fn cut_error(blob: &BlobId, error: CutError) -> TreeError {
    let path = std::path::PathBuf::from(format!("content {blob}"));
    match error {
        CutError::IoError(error) => io_error("read", &path)(error),
        other => io_error("read", &path)(io::Error::other(other)),
    }
}
