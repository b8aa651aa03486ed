//! Writing trees to disk: exports with everything as recorded, and the files of layers.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rayon::prelude::*;
use rustix::fs::{self, AtFlags, FileType, Gid, Mode, OFlags, Uid};

use crate::disk;
use crate::entry::{Body, DirRef, Entry, Mtime};
use crate::error::{Result, VaultError, io_error};
use crate::hash::BlobId;
use crate::layer::LayerStage;
use crate::objects::{Objects, Place};

/// Files up to this length are read, hashed and written in one piece.
const ONE_PIECE: u64 = 1 << 20;

/// What a written tree is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose<'a> {
    /// People and programs: owners as recorded where this process may set them.
    Export {
        /// Give files their recorded owners.
        owners: bool,
    },
    /// A layer: everything owned by the vault's user, overlayfs xattrs escaped.
    Layer(&'a LayerStage),
}

/// Writes parts of trees below one directory.
#[derive(Debug)]
pub(crate) struct Materializer<'a> {
    objects: &'a Objects,
    /// The host path of the top, for errors.
    top: PathBuf,
    purpose: Purpose<'a>,
    top_fd: OwnedFd,
    /// Where the first name of each hard-link group was put.
    groups: Mutex<HashMap<u64, Vec<u8>>>,
}

impl<'a> Materializer<'a> {
    /// Writes below an existing directory.
    pub(crate) fn new(objects: &'a Objects, top: &Path, purpose: Purpose<'a>) -> Result<Self> {
        let top_fd = disk::open_dir(top).map_err(io_error("open", top))?;
        let groups = Mutex::new(HashMap::new());
        Ok(Self { objects, top: top.to_owned(), purpose, top_fd, groups })
    }

    pub(crate) fn top_fd(&self) -> BorrowedFd<'_> {
        self.top_fd.as_fd()
    }

    /// Writes everything in `dir` into the directory `at`, whose path below the top is `path`.
    pub(crate) fn contents(&self, at: BorrowedFd<'_>, path: &[u8], dir: &DirRef) -> Result<()> {
        let entries = self.objects.entries(dir)?;
        entries.par_iter().try_for_each(|entry| self.entry(at, path, entry))
    }

    /// Writes one entry, with everything beneath it, into the directory `at`.
    pub(crate) fn entry(&self, at: BorrowedFd<'_>, parent: &[u8], entry: &Entry) -> Result<()> {
        let path = join(parent, &entry.name);
        match &entry.body {
            Body::Directory(dir) => {
                let fd = self.make_dir(at, &path, &entry.name)?;
                self.contents(fd.as_fd(), &path, dir)?;
                self.finish_dir(fd.as_fd(), &path, entry)
            }
            _ => match entry.group {
                Some(group) => self.linked(at, &path, entry, group),
                None => self.leaf(at, &path, entry),
            },
        }
    }

    /// Makes a directory that only this process can use until it is finished.
    pub(crate) fn make_dir(&self, at: BorrowedFd<'_>, path: &[u8], name: &[u8]) -> Result<OwnedFd> {
        let name = disk::bytes_path(name);
        fs::mkdirat(at, name, Mode::RWXU).map_err(io_error("create", &self.host(path)))?;
        self.count(0);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        fs::openat(at, name, flags, Mode::empty()).map_err(io_error("open", &self.host(path)))
    }

    /// Gives a directory its metadata, after everything in it was written.
    pub(crate) fn finish_dir(&self, fd: BorrowedFd<'_>, path: &[u8], entry: &Entry) -> Result<()> {
        self.metadata(fd, entry).map_err(io_error("set metadata of", &self.host(path)))
    }

    /// A name of a hard-link group: the first is written, the others are links to it.
    fn linked(&self, at: BorrowedFd<'_>, path: &[u8], entry: &Entry, group: u64) -> Result<()> {
        // Held while the first is written, so that the others find it whole.
        let mut groups = self.groups.lock().expect("a panicking writer ends the whole write");
        let Some(first) = groups.get(&group) else {
            self.leaf(at, path, entry)?;
            groups.insert(group, path.to_vec());
            return Ok(());
        };
        let (folder, name) = split_last(first);
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let from = disk::open_below(self.top_fd(), folder, flags)
            .map_err(io_error("open", &self.host(folder)))?;
        let to = disk::bytes_path(&entry.name);
        fs::linkat(from, disk::bytes_path(name), at, to, AtFlags::empty())
            .map_err(io_error("link", &self.host(path)))?;
        self.count(0);
        Ok(())
    }

    fn leaf(&self, at: BorrowedFd<'_>, path: &[u8], entry: &Entry) -> Result<()> {
        match &entry.body {
            Body::File { size, blob } => self.file(at, path, entry, *size, blob),
            Body::Symlink { target } => {
                let name = disk::bytes_path(&entry.name);
                fs::symlinkat(disk::bytes_path(target), at, name)
                    .map_err(io_error("create", &self.host(path)))?;
                self.count(0);
                self.nameless_metadata(at, path, entry)
            }
            Body::Fifo => {
                let name = disk::bytes_path(&entry.name);
                fs::mknodat(at, name, FileType::Fifo, Mode::from_raw_mode(0o600), 0)
                    .map_err(io_error("create", &self.host(path)))?;
                self.count(0);
                self.nameless_metadata(at, path, entry)
            }
            Body::Directory(_) => Ok(()),
        }
    }

    fn file(
        &self,
        at: BorrowedFd<'_>,
        path: &[u8],
        entry: &Entry,
        size: u64,
        blob: &BlobId,
    ) -> Result<()> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = fs::openat(at, disk::bytes_path(&entry.name), flags, Mode::from_raw_mode(0o600))
            .map(File::from)
            .map_err(io_error("create", &self.host(path)))?;
        self.fill(&file, path, size, blob)?;
        self.count(size);
        self.metadata(file.as_fd(), entry).map_err(io_error("set metadata of", &self.host(path)))
    }

    fn fill(&self, mut file: &File, path: &[u8], size: u64, blob: &BlobId) -> Result<()> {
        let host = || self.host(path);
        if size <= ONE_PIECE {
            let bytes = self.objects.blob(blob)?;
            return file.write_all(&bytes).map_err(io_error("write", &host()));
        }
        match self.objects.place(blob)? {
            Place::Inline(_) => self.objects.reader(blob)?.copy_to(&mut file, &host()),
            Place::Layer { layer, path: place } => {
                let source = self.objects.open_in_layer(blob, &layer, &place)?;
                disk::copy_contents(&source, file, size).map_err(io_error("write", &host()))?;
                let found = hash_file(file).map_err(io_error("read", &host()))?;
                if found == *blob {
                    return Ok(());
                }
                Err(VaultError::Damaged {
                    object: format!("content {blob}"),
                    place: self.objects.layer_file(&layer, &place).display().to_string(),
                    detail: format!("its bytes hash to {found}"),
                })
            }
        }
    }

    fn metadata(&self, fd: BorrowedFd<'_>, entry: &Entry) -> std::io::Result<()> {
        let meta = &entry.meta;
        disk::set_xattrs(fd, &meta.xattrs, matches!(self.purpose, Purpose::Layer(_)))?;
        // The owner first: changing it clears the set-id bits of the mode.
        if self.sets_owners() {
            fs::fchown(fd, Some(Uid::from_raw(meta.uid)), Some(Gid::from_raw(meta.gid)))?;
        }
        fs::fchmod(fd, Mode::from_raw_mode(meta.mode.into()))?;
        fs::futimens(fd, &disk::timestamps(meta.mtime))?;
        Ok(())
    }

    /// Metadata of what cannot be opened: links and pipes.
    fn nameless_metadata(&self, at: BorrowedFd<'_>, path: &[u8], entry: &Entry) -> Result<()> {
        let (name, meta) = (disk::bytes_path(&entry.name), &entry.meta);
        let set = || -> std::io::Result<()> {
            if self.sets_owners() {
                let (uid, gid) = (Uid::from_raw(meta.uid), Gid::from_raw(meta.gid));
                fs::chownat(at, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)?;
            }
            if matches!(entry.body, Body::Fifo) {
                fs::chmodat(at, name, Mode::from_raw_mode(meta.mode.into()), AtFlags::empty())?;
            }
            disk::set_mtime_at(at, &entry.name, meta.mtime)
        };
        set().map_err(io_error("set metadata of", &self.host(path)))
    }

    fn sets_owners(&self) -> bool {
        matches!(self.purpose, Purpose::Export { owners: true })
    }

    pub(crate) fn count(&self, bytes: u64) {
        if let Purpose::Layer(stage) = self.purpose {
            stage.count(bytes);
        }
    }

    pub(crate) fn host(&self, path: &[u8]) -> PathBuf {
        self.top.join(disk::bytes_path(path))
    }
}

/// The path of a name below a directory.
pub(crate) fn join(parent: &[u8], name: &[u8]) -> Vec<u8> {
    if parent.is_empty() { name.to_vec() } else { [parent, name].join(&b'/') }
}

fn split_last(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[], path),
    }
}

/// The blob id of a file's bytes, from its start.
pub(crate) fn hash_file(file: &File) -> std::io::Result<BlobId> {
    use std::os::unix::fs::FileExt;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0u8; 1 << 20];
    let mut at = 0;
    loop {
        let got = file.read_at(&mut buffer, at)?;
        if got == 0 {
            return Ok(BlobId(*hasher.finalize().as_bytes()));
        }
        hasher.update(&buffer[..got]);
        at += got as u64;
    }
}

/// The mtime that `stat` gave.
pub(crate) fn mtime_of(stat: &fs::Stat) -> Mtime {
    Mtime { seconds: stat.st_mtime, nanoseconds: stat.st_mtime_nsec as u32 }
}
