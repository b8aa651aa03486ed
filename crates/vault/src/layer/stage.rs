//! Writing a layer and sealing it.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use offshoot_host::disk;
use offshoot_host::lock::DirLock;
use offshoot_store::{Id, LayerRow};
use offshoot_tree::RootId;
use rustix::fs::{AtFlags, Dir, FileType, OFlags};
use rustix::io::Errno;

use super::note::{ExecNote, NOTE, OUTPUT, PLACED};
use crate::error::{Result, io_error};

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

/// How far a layer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It is being written.
    Written,
    /// It is durable and has its name, and no object names it.
    Sealed,
    /// Objects name it: from now on it stays.
    Named,
    /// It is somewhere else, and no business of this stage any more.
    Away,
}

/// A layer being written. Dropped without being sealed, it is removed; what a command wrote is set aside.
#[derive(Debug)]
pub(crate) struct LayerStage {
    id: Id,
    kind: LayerKind,
    /// Where it is now.
    pub(super) place: PathBuf,
    layers: PathBuf,
    /// Files and directories written.
    written: AtomicU64,
    /// Bytes of files written.
    bytes: AtomicU64,
    pub(super) progress: Progress,
    /// What the one who writes it said about it.
    pub(super) note: Option<ExecNote>,
    _lock: DirLock,
}

impl LayerStage {
    /// Starts a layer in the vault's `layers` directory.
    pub(crate) fn begin(layers: &Path, kind: LayerKind) -> Result<Self> {
        let id = Id::random();
        let place = layers.join(format!("{id}.tmp"));
        let lock = DirLock::create(&place).map_err(io_error("create", &place))?;
        let stage = Self::new(id, kind, place, layers, lock);
        let fs_dir = stage.fs_dir();
        fs::create_dir(&fs_dir).map_err(io_error("create", &fs_dir))?;
        Ok(stage)
    }

    /// Removes it: nothing of it is worth keeping.
    pub(super) fn discard(mut self) {
        self.note = None;
    }

    /// Goes on with a directory that was set aside and is held by its lock.
    pub(super) fn resume(
        layers: &Path,
        from: &Path,
        note: ExecNote,
        lock: DirLock,
    ) -> Result<Self> {
        let id = Id::random();
        let place = layers.join(format!("{id}.tmp"));
        fs::rename(from, &place).map_err(io_error("rename", from))?;
        let mut stage = Self::new(id, LayerKind::Delta, place, layers, lock);
        stage.note = Some(note);
        Ok(stage)
    }

    fn new(id: Id, kind: LayerKind, place: PathBuf, layers: &Path, lock: DirLock) -> Self {
        Self {
            id,
            kind,
            place,
            layers: layers.to_owned(),
            written: AtomicU64::new(1),
            bytes: AtomicU64::new(0),
            progress: Progress::Written,
            note: None,
            _lock: lock,
        }
    }

    pub(super) fn id(&self) -> Id {
        self.id
    }

    /// Where its files go.
    pub(crate) fn fs_dir(&self) -> PathBuf {
        self.place.join("fs")
    }

    /// Where something goes that is not part of the layer; sealing removes it, but for what a note needs.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.place.join(name)
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
        self.seal_in_place(root)
    }

    /// The same, still held by its lock. A note stays beside it until what it holds is part of the history.
    pub(super) fn seal_in_place(&mut self, root: Option<RootId>) -> Result<LayerRow> {
        remove_beside(&self.place).map_err(io_error("clear", &self.place))?;
        sync_layer(&self.place, self.written.load(Ordering::Relaxed))?;
        let sealed = self.layers.join(self.id.to_string());
        fs::rename(&self.place, &sealed).map_err(io_error("rename", &self.place))?;
        self.place = sealed;
        self.progress = Progress::Sealed;
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
        if self.progress != Progress::Written {
            return;
        }
        // A command ran, and whoever should have said what becomes of its work did not come to it.
        if self.note.as_ref().is_some_and(|note| !note.read_only) {
            self.set_aside();
            return;
        }
        // What cannot be removed now is cleared by the next open after an unclean stop.
        drop(disk::remove_tree(&self.place));
    }
}

/// Removes what is not part of the layer, but for what a note needs: that goes when the layer is part of the history.
fn remove_beside(staged: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(staged)? {
        let entry = entry?;
        if ["fs", NOTE, OUTPUT, PLACED].iter().any(|kept| entry.file_name() == *kept) {
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
    let synced = if disk::syncs_each(files) { sync_each(top.as_fd()) } else { Err(Errno::ACCESS) };
    match synced {
        Err(Errno::ACCESS) => rustix::fs::syncfs(&top).map_err(io_error("sync", staged)),
        other => other.map_err(io_error("sync", staged)),
    }
}

/// Syncs every file and directory of a small layer, and its name. What lies beside its files need not outlive a power cut.
fn sync_each(top: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut folders = vec![b"fs".to_vec()];
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
    rustix::fs::fsync(top)
}
