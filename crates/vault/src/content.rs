//! Bringing the content of one file into a vault.

use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;

use offshoot_host::{Mtime, disk};
use offshoot_store::LayerRow;
use offshoot_tree::pack::Packer;
use offshoot_tree::{Batch, BlobId, INLINE_LIMIT, Meta, ObjectLocation};
use rustix::fs::{self, FileType, Mode, OFlags};

use crate::error::{Result, io_error};
use crate::layer::{LayerKind, LayerStage};
use crate::vault::Vault;

/// Content that is stored but not yet part of any tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewContent {
    /// Its id.
    pub blob: BlobId,
    /// Its length.
    pub size: u64,
}

impl Vault {
    /// Stores everything that `source` gives; `name` says in errors what it is. Short content goes into the catalog, long
    /// content into a layer of its own; neither is ever held in memory whole.
    pub fn add_content(&self, source: &mut dyn Read, name: &Path) -> Result<NewContent> {
        self.enter()?;
        let _held = self.hold()?;
        let mut start = Vec::new();
        let limit = INLINE_LIMIT as u64 + 1;
        source.take(limit).read_to_end(&mut start).map_err(io_error("read", name))?;
        if start.len() > INLINE_LIMIT {
            return self.add_long(&start, source, name);
        }
        let (blob, size) = (BlobId::of(&start), start.len() as u64);
        let mut batch = Batch::default();
        batch.blob(blob, &ObjectLocation::Inline(start));
        self.objects()?.store(&batch)?;
        Ok(NewContent { blob, size })
    }

    /// Stores a file of the host and gives its metadata; of a pipe or the like, what is new gets.
    pub fn add_file(&self, source: &Path) -> Result<(NewContent, Meta)> {
        let mut file = std::fs::File::open(source).map_err(io_error("open", source))?;
        let stat = fs::fstat(&file).map_err(io_error("stat", source))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok((self.add_content(&mut file, source)?, Meta::of_new(0o644)));
        }
        let (xattrs, _) = disk::xattrs(file.as_fd()).map_err(io_error("read", source))?;
        let mode = disk::mode_without_acl(file.as_fd(), (stat.st_mode & 0o7777) as u16);
        let (uid, gid) = (stat.st_uid, stat.st_gid);
        let meta = Meta { mode, uid, gid, mtime: Mtime::of(&stat), xattrs };
        Ok((self.add_content(&mut file, source)?, meta))
    }

    fn add_long(&self, start: &[u8], source: &mut dyn Read, name: &Path) -> Result<NewContent> {
        let stage = LayerStage::begin(&self.layers_dir(), LayerKind::Content)?;
        let dir = stage.fs_dir();
        let at = disk::open_dir(&dir).map_err(io_error("open", &dir))?;
        let (blob, size) = write_long(at.as_fd(), start, source, name, &dir)?;
        if self.objects()?.has_blob(&blob)? {
            return Ok(NewContent { blob, size });
        }
        let hex = blob.to_hex();
        fs::renameat(&at, "incoming", &at, hex.as_str()).map_err(io_error("rename", &dir))?;
        stage.count(size);
        let layer = stage.seal(None)?;
        self.record_layer(&layer)?;
        let mut batch = Batch::default();
        batch.blob(blob, &ObjectLocation::Layer { layer: layer.id, path: hex.into_bytes() });
        self.objects()?.store(&batch)?;
        Ok(NewContent { blob, size })
    }

    /// Records a sealed layer, before any object says that its bytes are there. It must not wait for the transaction
    /// that mentions the content: until then another one may find the object and mention it first. It need not be durable
    /// before the objects, which come after it in the same log.
    pub(crate) fn record_layer(&self, layer: &LayerRow) -> Result<()> {
        self.catalog().write_ordered(|writer| Ok(writer.add_layer(layer)?))
    }

    /// Takes back a sealed layer that was not recorded: it would only be in the way.
    pub(crate) fn drop_unrecorded(&self, layer: &LayerRow) {
        // The first error is the one to report; what is left takes room and does no harm.
        drop(disk::remove_tree(&self.layers_dir().join(layer.id.to_string())));
    }

    /// Stores objects; a transaction that follows makes them durable with itself.
    pub fn store(&self, batch: &Batch) -> Result<()> {
        self.enter()?;
        let _held = self.hold()?;
        Ok(self.objects()?.store(batch)?)
    }

    /// Moves content into packs of this vault.
    pub(crate) fn packer(&self) -> Result<Packer<'_>> {
        Ok(Packer::new(self.objects()?, self.catalog()))
    }

    /// The same for content that cannot be read where it is.
    pub(crate) fn packer_anew(&self) -> Result<Packer<'_>> {
        Ok(Packer::anew(self.objects()?, self.catalog()))
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
