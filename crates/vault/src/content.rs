//! Bringing the content of one file into a vault.

use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;

use offshoot_store::LayerRow;
use rustix::fs::{self, Mode, OFlags};

use crate::disk;
use crate::error::{Result, io_error};
use crate::hash::BlobId;
use crate::layer::{LayerKind, LayerStage};
use crate::objects::{Batch, INLINE_LIMIT, Place};
use crate::transact::Transaction;
use crate::vault::Vault;

/// Content that is stored but not yet part of any tree.
#[derive(Clone, Debug)]
pub struct NewContent {
    /// Its id.
    pub blob: BlobId,
    /// Its length.
    pub size: u64,
    layer: Option<LayerRow>,
}

impl NewContent {
    /// Records the layer that holds the bytes; belongs into the transaction that first mentions the content.
    pub fn record(&self, tx: &mut Transaction<'_, '_>) -> Result<()> {
        match &self.layer {
            Some(layer) => tx.add_layer(layer),
            None => Ok(()),
        }
    }
}

impl Vault {
    /// Stores everything that `source` gives; `name` says in errors what it is. Short content goes into the catalog, long
    /// content into a layer of its own; neither is ever held in memory whole.
    pub fn add_content(&self, source: &mut dyn Read, name: &Path) -> Result<NewContent> {
        self.enter()?;
        let mut start = Vec::new();
        let limit = INLINE_LIMIT as u64 + 1;
        source.take(limit).read_to_end(&mut start).map_err(io_error("read", name))?;
        if start.len() > INLINE_LIMIT {
            return self.add_long(&start, source, name);
        }
        let (blob, size) = (BlobId::of(&start), start.len() as u64);
        let mut batch = Batch::default();
        batch.blob(blob, &Place::Inline(start));
        self.objects()?.store(&batch)?;
        Ok(NewContent { blob, size, layer: None })
    }

    fn add_long(&self, start: &[u8], source: &mut dyn Read, name: &Path) -> Result<NewContent> {
        let stage = LayerStage::begin(&self.layers_dir(), LayerKind::Content)?;
        let dir = stage.fs_dir();
        let at = disk::open_dir(&dir).map_err(io_error("open", &dir))?;
        let (blob, size) = write_long(at.as_fd(), start, source, name, &dir)?;
        if self.objects()?.has_blob(&blob)? {
            return Ok(NewContent { blob, size, layer: None });
        }
        let hex = blob.to_hex();
        fs::renameat(&at, "incoming", &at, hex.as_str()).map_err(io_error("rename", &dir))?;
        stage.count(size);
        let layer = stage.seal(None)?;
        let mut batch = Batch::default();
        batch.blob(blob, &Place::Layer { layer: layer.id, path: hex.into_bytes() });
        self.objects()?.store(&batch)?;
        Ok(NewContent { blob, size, layer: Some(layer) })
    }

    /// Stores objects; a transaction that follows makes them durable with itself.
    pub fn store(&self, batch: &Batch) -> Result<()> {
        self.enter()?;
        self.objects()?.store(batch)
    }
}

fn write_long(
    at: std::os::fd::BorrowedFd<'_>,
    start: &[u8],
    source: &mut dyn Read,
    name: &Path,
    dir: &Path,
) -> Result<(BlobId, u64)> {
    use std::io::Write;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = fs::openat(at, "incoming", flags, Mode::RUSR | Mode::WUSR);
    let mut file = file.map(std::fs::File::from).map_err(io_error("create", dir))?;
    let mut hasher = blake3::Hasher::new();
    let mut write = |bytes: &[u8]| {
        hasher.update(bytes);
        file.write_all(bytes).map_err(io_error("write", dir))
    };
    write(start)?;
    let mut size = start.len() as u64;
    let mut buffer = vec![0u8; 1 << 18];
    loop {
        let got = match source.read(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            other => other.map_err(io_error("read", name))?,
        };
        if got == 0 {
            return Ok((BlobId(*hasher.finalize().as_bytes()), size));
        }
        write(&buffer[..got])?;
        size += got as u64;
    }
}
