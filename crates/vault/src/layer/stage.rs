//! Writing a layer and sealing it.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use offshoot_store::{Id, LayerRow};
use rustix::fs::{AtFlags, Dir, FileType, OFlags};
use rustix::io::Errno;

use super::lock::{DirLock, clear_abandoned};
use crate::disk;
use crate::error::{Result, io_error};
use crate::hash::RootId;

/// Up to this many files and directories are synced one by one.
const SYNC_FEW: u64 = 8;
/// Up to this many are, where others have much to write: syncing all of a file system waits for them too.
const SYNC_EACH: u64 = 500;
/// Above this, others have much to write.
const MUCH_KIB: u64 = 64 * 1024;

/// What a layer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayerKind {
    /// A whole root.
    Base,
    /// The difference of a root to another.
    Delta,
    /// A whole root, whose large files have their bytes in other layers.
    Flat,
    /// Bytes under their hex hash.
    Content,
}

impl LayerKind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Delta => "delta",
            Self::Flat => "flat",
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

    /// Where something goes that is not part of the layer; sealing removes it.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.staged.join(name)
    }

    /// The directory with all layers.
    pub(super) fn layers(&self) -> &Path {
        &self.layers
    }

    /// What it is called among them until it is sealed.
    pub(super) fn staged_name(&self) -> String {
        format!("{}.tmp", self.id)
    }

    /// Counts something written, so that sealing knows how to sync.
    pub(crate) fn count(&self, bytes: u64) {
        self.written.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Makes the layer durable and gives it its name; a catalog transaction must record the row.
    pub(crate) fn seal(mut self, root: Option<RootId>) -> Result<LayerRow> {
        remove_beside(&self.staged).map_err(io_error("clear", &self.staged))?;
        sync_layer(&self.staged, self.written.load(Ordering::Relaxed))?;
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

/// Removes what is not part of the layer.
fn remove_beside(staged: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(staged)? {
        let entry = entry?;
        if entry.file_name() == "fs" {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => disk::remove_tree(&entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Makes a layer durable: file by file where there are few, since ten files one by one take six times as long as the file
/// system at once, and that takes long only beside much that others have written. A user's own files may be closed to them; then all at once.
fn sync_layer(staged: &Path, files: u64) -> Result<()> {
    let top = disk::open_dir(staged).map_err(io_error("open", staged))?;
    let each = files <= SYNC_FEW || (files <= SYNC_EACH && unwritten_kib() > MUCH_KIB);
    let synced = if each { sync_each(top.as_fd()) } else { Err(Errno::ACCESS) };
    match synced {
        Err(Errno::ACCESS) => rustix::fs::syncfs(&top).map_err(io_error("sync", staged)),
        other => other.map_err(io_error("sync", staged)),
    }
}

/// How much this machine has yet to write to its disks.
fn unwritten_kib() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    // Where it cannot be known it may be much.
    field("Dirty:").zip(field("Writeback:")).map_or(u64::MAX, |(dirty, writing)| dirty + writing)
}

/// Syncs every file and directory of a small tree.
fn sync_each(top: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut folders = vec![Vec::new()];
    while let Some(folder) = folders.pop() {
        let dir = disk::open_below(top, &folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
        for entry in Dir::read_from(&dir)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let stat = rustix::fs::statat(&dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => folders.push(disk::join(&folder, name)),
                FileType::RegularFile => {
                    rustix::fs::fsync(disk::open_below(dir.as_fd(), name, OFlags::RDONLY)?)?;
                }
                // Links, pipes and whiteouts have no bytes of their own: they are durable with their directory.
                _ => {}
            }
        }
        rustix::fs::fsync(&dir)?;
    }
    Ok(())
}

/// Removes layers whose writer is gone.
pub(crate) fn clear_layers(layers: &Path) -> Result<()> {
    for entry in fs::read_dir(layers).map_err(io_error("read", layers))? {
        let path = entry.map_err(io_error("read", layers))?.path();
        if path.file_name().unwrap_or_default().as_encoded_bytes().ends_with(b".tmp") {
            clear_abandoned(&path).map_err(io_error("remove", &path))?;
        }
    }
    Ok(())
}
