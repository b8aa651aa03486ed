//! Objects of a vault: read with their hashes verified, written in batches.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use offshoot_store::{Id, ObjectBackend, ObjectKind, Put};
use rustix::fs::OFlags;

use crate::disk;
use crate::entry::{DirRef, Entry};
use crate::error::{Result, VaultError, io_error};
use crate::hash::{BlobId, NodeId, RootId};
use crate::node::{self, EncodedNode, Node};
use crate::path::display_bytes;

/// Content up to this length may be kept in the catalog itself.
pub(crate) const INLINE_LIMIT: usize = 64 * 1024;

const PLACE_INLINE: u8 = 0;
const PLACE_LAYER: u8 = 1;

/// Where the bytes of a blob are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the object itself.
    Inline(Vec<u8>),
    /// In a file of a sealed layer.
    Layer {
        /// The layer.
        layer: Id,
        /// The path below the layer's `fs`.
        path: Vec<u8>,
    },
}

impl Place {
    fn encode(&self) -> Vec<u8> {
        match self {
            Self::Inline(bytes) => [&[PLACE_INLINE], bytes.as_slice()].concat(),
            Self::Layer { layer, path } => {
                [&[PLACE_LAYER], layer.as_bytes().as_slice(), path].concat()
            }
        }
    }

    fn decode(mut value: Vec<u8>) -> Option<Self> {
        match *value.first()? {
            PLACE_INLINE => {
                value.remove(0);
                Some(Self::Inline(value))
            }
            PLACE_LAYER => {
                let (id, path) = value[1..].split_first_chunk::<16>()?;
                Some(Self::Layer { layer: Id::from_bytes(*id), path: path.to_vec() })
            }
            _ => None,
        }
    }
}

/// Objects on their way into the backend.
#[derive(Debug, Default)]
pub struct Batch {
    puts: Vec<Put>,
}

impl Batch {
    pub(crate) fn node(&mut self, (id, value): EncodedNode) {
        self.puts.push(Put { kind: ObjectKind::Node, id: id.0, value });
    }

    /// Adds a directory of sorted entries.
    pub fn directory(&mut self, entries: &[Entry]) -> DirRef {
        node::build(entries, &mut |encoded| self.node(encoded))
    }

    /// Adds a root.
    pub(crate) fn root(&mut self, top: &Entry) -> RootId {
        let (id, value) = node::encode_root(top);
        self.puts.push(Put { kind: ObjectKind::Root, id: id.0, value });
        id
    }

    pub(crate) fn blob(&mut self, id: BlobId, place: &Place) {
        self.puts.push(Put { kind: ObjectKind::Blob, id: id.0, value: place.encode() });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.puts.is_empty()
    }

    pub(crate) fn append(&mut self, other: &mut Self) {
        self.puts.append(&mut other.puts);
    }
}

/// The objects of one vault.
pub struct Objects {
    backend: Box<dyn ObjectBackend>,
    layers: PathBuf,
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Objects").field("layers", &self.layers).finish_non_exhaustive()
    }
}

impl Objects {
    pub(crate) fn new(backend: Box<dyn ObjectBackend>, layers: PathBuf) -> Self {
        Self { backend, layers }
    }

    /// Stores a batch; a catalog transaction that follows makes it durable with itself.
    pub(crate) fn store(&self, batch: &Batch) -> Result<()> {
        self.backend.put(&batch.puts)?;
        Ok(self.backend.flush()?)
    }

    /// The top directory's entry of a root.
    pub fn root(&self, id: &RootId) -> Result<Entry> {
        let name = || format!("root {id}");
        let value = self.value(ObjectKind::Root, &id.0, name)?;
        if RootId::of(&value) != *id {
            return Err(self.damaged(name(), "its hash is another"));
        }
        node::decode_root(&value).map_err(|error| self.damaged(name(), error))
    }

    /// A directory node.
    pub fn node(&self, id: &NodeId) -> Result<Node> {
        let name = || format!("directory {id}");
        let value = self.value(ObjectKind::Node, &id.0, name)?;
        if NodeId::of(&value) != *id {
            return Err(self.damaged(name(), "its hash is another"));
        }
        node::decode(&value).map_err(|error| self.damaged(name(), error))
    }

    /// All entries of a directory, sorted by name.
    pub fn entries(&self, dir: &DirRef) -> Result<Vec<Entry>> {
        match self.node(&dir.node)? {
            Node::Leaf(entries) => Ok(entries),
            Node::Index(children) => {
                let mut all = Vec::new();
                for child in children {
                    all.append(&mut self.entries(&child.dir)?);
                }
                Ok(all)
            }
        }
    }

    /// One entry of a directory, reading only the nodes on its way.
    pub fn entry(&self, dir: &DirRef, name: &[u8]) -> Result<Option<Entry>> {
        match self.node(&dir.node)? {
            Node::Leaf(mut entries) => {
                let found = entries.binary_search_by(|entry| entry.name.as_slice().cmp(name));
                Ok(found.ok().map(|at| entries.swap_remove(at)))
            }
            Node::Index(children) => {
                let after = children.partition_point(|child| child.first.as_slice() <= name);
                match after.checked_sub(1) {
                    Some(at) => self.entry(&children[at].dir, name),
                    None => Ok(None),
                }
            }
        }
    }

    /// Whether the blob is known.
    pub fn has_blob(&self, id: &BlobId) -> Result<bool> {
        Ok(self.backend.contains(ObjectKind::Blob, &id.0)?)
    }

    /// Where the bytes of a blob are.
    pub fn place(&self, id: &BlobId) -> Result<Place> {
        let name = || format!("content {id}");
        let value = self.value(ObjectKind::Blob, &id.0, name)?;
        Place::decode(value).ok_or_else(|| self.damaged(name(), "its place is of an unknown kind"))
    }

    /// The bytes of a blob, verified.
    pub fn blob(&self, id: &BlobId) -> Result<Vec<u8>> {
        let mut reader = self.reader(id)?;
        let mut bytes = Vec::new();
        reader.source.read_to_end(&mut bytes).map_err(io_error("read", &reader.place))?;
        reader.hasher.update(&bytes);
        reader.verify()?;
        Ok(bytes)
    }

    /// The bytes of a blob as a stream that verifies them when it ends.
    pub fn reader(&self, id: &BlobId) -> Result<BlobReader> {
        let (source, place) = match self.place(id)? {
            Place::Inline(bytes) => (Source::Memory(io::Cursor::new(bytes)), self.catalog_place()),
            Place::Layer { layer, path } => {
                let file = self.open_in_layer(id, &layer, &path)?;
                (Source::File(file), self.layer_file(&layer, &path))
            }
        };
        Ok(BlobReader { source, hasher: blake3::Hasher::new(), id: *id, place })
    }

    /// Opens the file that holds a blob's bytes. The caller verifies what it reads.
    pub(crate) fn open_in_layer(&self, id: &BlobId, layer: &Id, path: &[u8]) -> Result<File> {
        let folder = self.layers.join(layer.to_string()).join("fs");
        let damaged = |error: io::Error| VaultError::Damaged {
            object: format!("content {id}"),
            place: self.layer_file(layer, path).display().to_string(),
            detail: error.to_string(),
        };
        let top = disk::open_dir_path(&folder).map_err(damaged)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let opened = disk::open_below(top.as_fd(), path, flags);
        opened.map(File::from).map_err(|error| damaged(error.into()))
    }

    /// Where a path of a layer is on the host.
    pub(crate) fn layer_file(&self, layer: &Id, path: &[u8]) -> PathBuf {
        self.layers.join(layer.to_string()).join("fs").join(disk::bytes_path(path))
    }

    fn value(
        &self,
        kind: ObjectKind,
        id: &offshoot_store::Hash,
        name: impl Fn() -> String,
    ) -> Result<Vec<u8>> {
        self.backend.get(kind, id)?.ok_or_else(|| VaultError::MissingObject(name()))
    }

    fn catalog_place(&self) -> PathBuf {
        self.layers.with_file_name("catalog.db")
    }

    fn damaged(&self, object: String, detail: impl ToString) -> VaultError {
        let place = self.catalog_place().display().to_string();
        VaultError::Damaged { object, place, detail: detail.to_string() }
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
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Memory(cursor) => cursor.read(buffer),
            Self::File(file) => file.read(buffer),
        }
    }

    fn read_to_end(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Self::Memory(cursor) => cursor.read_to_end(bytes),
            Self::File(file) => file.read_to_end(bytes),
        }
    }
}

impl BlobReader {
    /// Fills `buffer` from where the last call stopped; 0 means the end, and that all bytes were right.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let got = self.source.read(buffer).map_err(io_error("read", &self.place))?;
        if got == 0 && !buffer.is_empty() {
            self.verify()?;
        }
        self.hasher.update(&buffer[..got]);
        Ok(got)
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
        let found = BlobId(*self.hasher.finalize().as_bytes());
        if found == self.id {
            return Ok(());
        }
        Err(VaultError::Damaged {
            object: format!("content {}", self.id),
            place: display_bytes(self.place.as_os_str().as_encoded_bytes()),
            detail: format!("its bytes hash to {found}"),
        })
    }
}
