//! Writing a layer and sealing it.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use offshoot_store::{Id, LayerRow};

use super::lock::DirLock;
use crate::disk;
use crate::error::{Result, io_error};
use crate::hash::RootId;

/// Up to this many files and directories are synced one by one; above, the file system is synced once. Syncing all of a
/// file system also waits for what others have written to it.
const SYNC_EACH: u64 = 500;

/// What a layer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayerKind {
    /// A whole root.
    Base,
    /// The difference of a root to another.
    Delta,
    /// Bytes under their hex hash.
    Content,
}

impl LayerKind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Delta => "delta",
            Self::Content => "content",
        }
    }
}

/// A layer being written. Dropped without being sealed, it is removed.
#[derive(Debug)]
pub(crate) struct LayerStage {
    id: Id,
    kind: LayerKind,
    staged: PathBuf,
    layers: PathBuf,
    /// Files and directories written.
    written: AtomicU64,
    /// Bytes of files written.
    bytes: AtomicU64,
    sealed: bool,
    _lock: DirLock,
}

impl LayerStage {
    /// Starts a layer in the vault's `layers` directory.
    pub(crate) fn begin(layers: &Path, kind: LayerKind) -> Result<Self> {
        let id = Id::random();
        let staged = layers.join(format!("{id}.tmp"));
        let lock = DirLock::create(&staged).map_err(io_error("create", &staged))?;
        let stage = Self {
            id,
            kind,
            staged,
            layers: layers.to_owned(),
            written: AtomicU64::new(1),
            bytes: AtomicU64::new(0),
            sealed: false,
            _lock: lock,
        };
        let fs_dir = stage.fs_dir();
        fs::create_dir(&fs_dir).map_err(io_error("create", &fs_dir))?;
        Ok(stage)
    }

    /// Where its files go.
    pub(crate) fn fs_dir(&self) -> PathBuf {
        self.staged.join("fs")
    }

    /// Counts something written, so that sealing knows how to sync.
    pub(crate) fn count(&self, bytes: u64) {
        self.written.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Makes the layer durable and gives it its name; a catalog transaction must record the row.
    pub(crate) fn seal(mut self, root: Option<RootId>) -> Result<LayerRow> {
        if self.written.load(Ordering::Relaxed) <= SYNC_EACH {
            sync_each(&self.fs_dir())?;
        } else {
            let dir = File::open(&self.staged).map_err(io_error("open", &self.staged))?;
            rustix::fs::syncfs(&dir).map_err(io_error("sync", &self.staged))?;
        }
        disk::sync_dir(&self.staged).map_err(io_error("sync", &self.staged))?;
        let sealed = self.layers.join(self.id.to_string());
        fs::rename(&self.staged, &sealed).map_err(io_error("rename", &self.staged))?;
        self.sealed = true;
        disk::sync_dir(&self.layers).map_err(io_error("sync", &self.layers))?;
        Ok(LayerRow {
            id: self.id,
            kind: self.kind.word().to_owned(),
            root: root.map(|root| root.0),
            bytes: self.bytes.load(Ordering::Relaxed),
            created_ms: self.id.time_ms(),
        })
    }
}

impl Drop for LayerStage {
    fn drop(&mut self) {
        if !self.sealed {
            // What cannot be removed now is cleared by the next open after an unclean stop.
            drop(disk::remove_tree(&self.staged));
        }
    }
}

/// Syncs every file and directory of a small tree, children first.
fn sync_each(dir: &Path) -> Result<()> {
    let fd = disk::open_dir(dir).map_err(io_error("open", dir))?;
    sync_below(fd.as_fd()).map_err(io_error("sync", dir))
}

fn sync_below(dir: std::os::fd::BorrowedFd<'_>) -> std::io::Result<()> {
    use rustix::fs::{AtFlags, FileType, OFlags};
    for name in disk::names(dir)? {
        let stat = rustix::fs::statat(dir, disk::bytes_path(&name), AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                let below = disk::open_below(dir, &name, OFlags::RDONLY | OFlags::DIRECTORY)?;
                sync_below(below.as_fd())?;
            }
            FileType::RegularFile => {
                let file = disk::open_below(dir, &name, OFlags::RDONLY)?;
                rustix::fs::fsync(file)?;
            }
            // Links, pipes and whiteouts have no bytes of their own: they are durable with their directory.
            _ => {}
        }
    }
    Ok(rustix::fs::fsync(dir)?)
}

/// Removes layers whose writer is gone.
pub(crate) fn clear_abandoned(layers: &Path) -> Result<()> {
    for entry in fs::read_dir(layers).map_err(io_error("read", layers))? {
        let path = entry.map_err(io_error("read", layers))?.path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        if name.ends_with(b".tmp") && DirLock::take(&path).is_ok() {
            disk::remove_tree(&path).map_err(io_error("remove", &path))?;
        }
    }
    Ok(())
}
