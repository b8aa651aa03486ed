//! The bytes of the files that were written.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;

use offshoot_host::disk::join;
use offshoot_host::workers::{FEW, share};
use offshoot_host::{HostError, disk};
use offshoot_tree::{Batch, BlobId, INLINE_LIMIT, ObjectLocation};
use rayon::prelude::*;
use rustix::fs::{self, Mode, OFlags};

use crate::error::{Result, VaultError, io_error};
use crate::layer::access::{Opened, Reach};
use crate::layer::stage::{LayerKind, LayerStage};
use crate::layer::written::{Kind, UpperDir};
use crate::vault::Vault;

/// The bytes of one file.
pub(super) struct Hashed {
    pub(super) blob: BlobId,
    pub(super) size: u64,
    /// Without the namespace in which it was written nobody can read it.
    pub(super) closed: bool,
}

/// Hashes every file.
pub(super) fn hash_files(reach: &Reach<'_>, dirs: &[UpperDir]) -> Result<HashMap<Vec<u8>, Hashed>> {
    let all = dirs.iter().flat_map(|dir| dir.entries.iter().map(move |entry| (dir, entry)));
    let files = all.filter(|(_, entry)| matches!(entry.kind, Kind::File(_)));
    let paths: Vec<Vec<u8>> = files.map(|(dir, entry)| join(&dir.path, &entry.name)).collect();
    let hash = |path: Vec<u8>| {
        let hashed = match hash(reach, &path) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                reach.require_time().and(Err(io_error("read", &reach.host(&path))(error)))?
            }
            hashed => hashed.map_err(io_error("read", &reach.host(&path)))?,
        };
        Ok((path, hashed))
    };
    if paths.len() < FEW {
        return paths.into_iter().map(hash).collect();
    }
    share(paths).map(hash).collect()
}

fn hash(reach: &Reach<'_>, path: &[u8]) -> io::Result<Hashed> {
    let Opened { fd, closed } = reach.open(path, OFlags::RDONLY)?;
    let file = File::from(fd);
    let blob = BlobId::of_file_while(&file, &|| reach.is_in_time())?;
    Ok(Hashed { blob, size: file.metadata()?.len(), closed })
}

impl Vault {
    /// Stores the content of files that cannot be read where they are: short content in the batch, long content in a layer
    /// that is sealed and recorded here.
    pub(super) fn keep_closed<'f>(
        &self,
        reach: &Reach<'_>,
        closed: impl Iterator<Item = (&'f Vec<u8>, &'f Hashed)>,
        batch: &mut Batch,
    ) -> Result<()> {
        let mut long: HashMap<BlobId, (&[u8], u64)> = HashMap::new();
        for (path, file) in closed {
            if self.objects()?.has_blob(&file.blob)? {
                continue;
            }
            if file.size > INLINE_LIMIT as u64 {
                long.insert(file.blob, (path, file.size));
                continue;
            }
            let mut bytes = Vec::new();
            let opened = reach.open(path, OFlags::RDONLY);
            let read = opened.and_then(|opened| File::from(opened.fd).read_to_end(&mut bytes));
            read.map_err(io_error("read", &reach.host(path)))?;
            unchanged(reach, path, &file.blob, &BlobId::of(&bytes))?;
            batch.blob(file.blob, &ObjectLocation::Inline(bytes));
        }
        if long.is_empty() { Ok(()) } else { self.keep_long(reach, &long, batch) }
    }

    fn keep_long(
        &self,
        reach: &Reach<'_>,
        files: &HashMap<BlobId, (&[u8], u64)>,
        batch: &mut Batch,
    ) -> Result<()> {
        let stage = LayerStage::begin(&self.layers_dir(), LayerKind::Content)?;
        let dir = stage.fs_dir();
        let at = disk::open_dir(&dir).map_err(io_error("open", &dir))?;
        for (blob, (path, size)) in files {
            let opened = reach.open(path, OFlags::RDONLY);
            let source = File::from(opened.map_err(io_error("open", &reach.host(path)))?.fd);
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let mode = Mode::RUSR | Mode::WUSR;
            let copy = fs::openat(at.as_fd(), blob.to_hex(), flags, mode);
            let copy = File::from(copy.map_err(io_error("create", &dir))?);
            disk::copy_contents(&source, &copy, *size).map_err(io_error("write", &dir))?;
            unchanged(reach, path, blob, &BlobId::of_file(&copy).map_err(io_error("read", &dir))?)?;
            stage.count(*size);
        }
        let layer = stage.seal(None)?;
        self.record_layer(&layer)?;
        for blob in files.keys() {
            let path = blob.to_hex().into_bytes();
            batch.blob(*blob, &ObjectLocation::Layer { layer: layer.id, path });
        }
        Ok(())
    }
}

/// What is kept must be what was hashed.
fn unchanged(reach: &Reach<'_>, path: &[u8], hashed: &BlobId, kept: &BlobId) -> Result<()> {
    if hashed == kept {
        return Ok(());
    }
    let source = io::Error::other("it changes while it is adopted");
    Err(VaultError::Host(HostError::Io { action: "read", path: reach.host(path), source }))
}
