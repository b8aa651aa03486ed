//! Objects of a vault: read with their hashes verified, written in batches.

pub(crate) mod kept;
pub(crate) mod location;
pub(crate) mod nodes;
pub(crate) mod reader;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_host::disk;
use offshoot_store::{Id, ObjectBackend, ObjectKind, Put};
use rustix::fs::OFlags;

use crate::diff::change::Change;
use crate::entry::{DirRef, Entry};
use crate::error::{Result, TreeError, unreadable};
use crate::hash::{BlobId, NodeId, RootId};
use crate::node::{self, EncodedNode, Node};
use crate::objects::kept::KeptNodes;
use crate::objects::location::ObjectLocation;
use crate::objects::nodes::Nodes;
use crate::pack::place::{ChunkRef, PackPlace};

/// Content up to this length may be kept in the catalog itself.
pub const INLINE_LIMIT: usize = 64 * 1024;

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
    pub fn root(&mut self, top: &Entry) -> RootId {
        let (id, value) = node::encode_root(top);
        self.puts.push(Put { kind: ObjectKind::Root, id: id.0, value });
        id
    }

    /// Adds the place of content.
    pub fn blob(&mut self, id: BlobId, place: &ObjectLocation) {
        self.puts.push(Put { kind: ObjectKind::Blob, id: id.0, value: place.encode() });
    }

    /// Adds the place of a chunk.
    pub fn chunk(&mut self, id: offshoot_store::Hash, place: PackPlace) {
        let value = ObjectLocation::Pack(place).encode();
        self.puts.push(Put { kind: ObjectKind::Chunk, id, value });
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.puts.is_empty()
    }

    /// Takes everything of another batch.
    pub fn append(&mut self, other: &mut Self) {
        self.puts.append(&mut other.puts);
    }
}

/// The objects of one vault.
pub struct Objects {
    backend: Box<dyn ObjectBackend>,
    layers: PathBuf,
    /// A layer whose files are elsewhere.
    unsealed: Option<(Id, PathBuf)>,
    kept: kept::Kept,
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Objects").field("layers", &self.layers).finish_non_exhaustive()
    }
}

impl Objects {
    /// The objects of a backend, whose content lies in layers of this directory.
    pub fn new(backend: Box<dyn ObjectBackend>, layers: PathBuf) -> Self {
        Self { backend, layers, unsealed: None, kept: kept::Kept::default() }
    }

    /// The same with the files of a layer that is not sealed, and may never be: those of this directory.
    pub fn with_unsealed(self, layer: Id, files: PathBuf) -> Self {
        Self { unsealed: Some((layer, files)), ..self }
    }

    /// Stores a batch; a catalog transaction that follows makes it durable with itself.
    pub fn store(&self, batch: &Batch) -> Result<()> {
        self.backend.put(&batch.puts)?;
        self.kept.add_stored(&batch.puts);
        Ok(self.backend.flush()?)
    }

    /// Keeps directory nodes, and what is different between roots, in memory for as long as what this gives: for work that looks
    /// at the same trees several times. At most 64 MiB are kept, and only what was verified when it was read.
    pub fn keep_nodes(&self) -> KeptNodes<'_> {
        self.kept.begin()
    }

    /// Keeps, if somebody wants that, nodes that were made again and are stored already.
    pub fn keep_made(&self, batch: Batch) {
        self.kept.add_made(batch.puts);
    }

    /// What is different between two roots: known from before, or found out by `find`.
    pub fn difference(
        &self,
        before: &RootId,
        after: &RootId,
        find: impl FnOnce() -> Result<Vec<Change>>,
    ) -> Result<Vec<Change>> {
        let roots = (*before, *after);
        if let Some(known) = self.kept.difference(roots) {
            return Ok(known.to_vec());
        }
        let found = find()?;
        self.kept.add_difference(roots, &found);
        Ok(found)
    }

    /// Stores places in place of those that are there; all of them or none.
    pub fn move_to(&self, batch: &Batch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        self.backend.replace(&batch.puts)?;
        Ok(self.backend.flush()?)
    }

    /// Where the objects are kept.
    pub fn backend(&self) -> &dyn ObjectBackend {
        self.backend.as_ref()
    }

    /// Whether the root is known, and with it everything beneath.
    pub fn has_root(&self, id: &RootId) -> Result<bool> {
        Ok(self.backend.contains(ObjectKind::Root, &id.0)?)
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
        let value = self.node_bytes(id)?;
        node::decode(&value).map_err(|error| self.damaged(format!("directory {id}"), error))
    }

    /// The verified bytes of a directory node.
    pub(crate) fn node_bytes(&self, id: &NodeId) -> Result<Arc<Vec<u8>>> {
        if let Some(kept) = self.kept.get(id) {
            return Ok(kept);
        }
        let name = || format!("directory {id}");
        let value = self.value(ObjectKind::Node, &id.0, name)?;
        if NodeId::of(&value) != *id {
            return Err(self.damaged(name(), "its hash is another"));
        }
        let value = Arc::new(value);
        self.kept.add(*id, &value);
        Ok(value)
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
        Nodes::of(self).entry(dir, name)
    }

    /// Whether the blob is known.
    pub fn has_blob(&self, id: &BlobId) -> Result<bool> {
        Ok(self.backend.contains(ObjectKind::Blob, &id.0)?)
    }

    /// Where the bytes of a blob are.
    pub fn place(&self, id: &BlobId) -> Result<ObjectLocation> {
        let name = || format!("content {id}");
        let value = self.value(ObjectKind::Blob, &id.0, name)?;
        ObjectLocation::decode(value)
            .ok_or_else(|| self.damaged(name(), "its place is of an unknown kind"))
    }

    /// Opens the file that holds a blob's bytes. The caller verifies what it reads.
    pub fn open_in_layer(&self, id: &BlobId, layer: &Id, path: &[u8]) -> Result<File> {
        let folder = self.layer_files(layer);
        let damaged = |error: io::Error| {
            unreadable(format!("content {id}"), &self.layer_file(layer, path), error)
        };
        let top = disk::open_dir_path(&folder).map_err(damaged)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let opened = disk::open_below(top.as_fd(), path, flags);
        opened.map(File::from).map_err(|error| damaged(error.into()))
    }

    /// Where a path of a layer is on the host.
    pub fn layer_file(&self, layer: &Id, path: &[u8]) -> PathBuf {
        self.layer_files(layer).join(disk::bytes_path(path))
    }

    fn layer_files(&self, layer: &Id) -> PathBuf {
        match &self.unsealed {
            Some((id, files)) if id == layer => files.clone(),
            _ => self.layers.join(layer.to_string()).join("fs"),
        }
    }

    /// Where a chunk is.
    pub fn chunk(&self, chunk: &ChunkRef) -> Result<PackPlace> {
        let name = || format!("chunk {}", BlobId(chunk.id));
        match ObjectLocation::decode(self.value(ObjectKind::Chunk, &chunk.id, name)?) {
            Some(ObjectLocation::Pack(place)) => Ok(place),
            _ => Err(self.damaged(name(), "its place is of an unknown kind")),
        }
    }

    /// Where the packs are.
    pub fn packs_dir(&self) -> PathBuf {
        self.layers.with_file_name("packs")
    }

    /// Where a pack is.
    pub fn pack_path(&self, pack: &Id) -> PathBuf {
        self.packs_dir().join(pack.to_string())
    }

    fn value(
        &self,
        kind: ObjectKind,
        id: &offshoot_store::Hash,
        name: impl Fn() -> String,
    ) -> Result<Vec<u8>> {
        self.backend.get(kind, id)?.ok_or_else(|| TreeError::MissingObject(name()))
    }

    pub(crate) fn catalog_place(&self) -> PathBuf {
        self.layers.with_file_name("catalog.db")
    }

    /// Says that an object in the catalog is damaged.
    pub fn damaged(&self, object: String, detail: impl ToString) -> TreeError {
        let place = self.catalog_place().display().to_string();
        TreeError::Damaged { object, place, detail: detail.to_string() }
    }
}
