//! The second pass: read, hash and keep the bytes of files.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use offshoot_store::Id;
use rayon::prelude::*;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};

use super::cache::Known;
use super::scan::{Scanned, ScannedBody, ScannedDir, ScannedEntry, inode};
use super::{ImportOptions, SkipReason, Skipped};
use crate::disk;
use crate::entry::Xattr;
use crate::error::{Result, io_error};
use crate::hash::BlobId;
use crate::layer::{LayerKind, LayerStage};
use crate::materialize::{hash_file, join, mtime_of};
use crate::objects::{Batch, INLINE_LIMIT, Objects, Place};

/// How often a file that changes while it is read is read again.
const TRIES: u32 = 5;
/// Files up to this length are read, hashed and written in one piece.
const ONE_PIECE: u64 = 1 << 20;

/// What is known of a file after reading it, or from the cache.
#[derive(Clone)]
pub(super) struct FileContent {
    pub(super) stat: Stat,
    pub(super) blob: BlobId,
    pub(super) size: u64,
    pub(super) xattrs: Vec<Xattr>,
    /// It did not have to be read.
    pub(super) cached: bool,
}

/// Which files must be read, by directory.
pub(super) struct Plan<'a> {
    /// Directories with files to read or to make, parents first.
    folders: Vec<Folder<'a>>,
    /// What the cache knew.
    pub(super) known: HashMap<Vec<u8>, FileContent>,
    /// The group of each inode that has several names.
    pub(super) groups: HashMap<(u64, u64), u64>,
}

struct Folder<'a> {
    path: Vec<u8>,
    dir: &'a ScannedDir,
    entry: Option<&'a ScannedEntry>,
    files: Vec<&'a ScannedEntry>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        scanned: &'a Scanned,
        cache: &HashMap<&[u8], Known>,
        kind: LayerKind,
    ) -> Self {
        let groups = scanned.links.iter().map(|(inode, paths)| (*inode, group_of(&paths[0])));
        let mut plan =
            Self { folders: Vec::new(), known: HashMap::new(), groups: groups.collect() };
        let mut pending = vec![(Vec::new(), &scanned.top, None)];
        while let Some((path, dir, entry)) = pending.pop() {
            let mut files = Vec::new();
            for child in &dir.entries {
                let below = join(&path, &child.name);
                match &child.body {
                    ScannedBody::Directory(dir) => pending.push((below, dir, Some(child))),
                    ScannedBody::File => match cache.get(below.as_slice()) {
                        Some(known) if kind != LayerKind::Base && known.matches(&child.stat) => {
                            plan.known.insert(below, known.content(child.stat));
                        }
                        _ => files.push(child),
                    },
                    ScannedBody::Symlink(_) | ScannedBody::Fifo => {}
                }
            }
            plan.folders.push(Folder { path, dir, entry, files });
        }
        plan
    }

    fn totals(&self) -> (u64, u64) {
        let files = self.folders.iter().flat_map(|folder| &folder.files);
        files.fold((0, 0), |(count, bytes), file| (count + 1, bytes + file.stat.st_size as u64))
    }
}

/// The group of the names of one inode: from the first of them, so that it is the same on every import.
fn group_of(first: &[u8]) -> u64 {
    let hash = BlobId::of(first).0;
    u64::from_le_bytes(hash[..8].try_into().expect("a hash is longer than 8 bytes"))
}

/// What reading gave.
pub(super) struct Contents {
    pub(super) files: HashMap<Vec<u8>, FileContent>,
    pub(super) stage: Option<LayerStage>,
    pub(super) blobs: Blobs,
    pub(super) skipped: Vec<Skipped>,
}

/// Where the bytes of new blobs are.
#[derive(Default)]
pub(super) struct Blobs {
    in_layer: Vec<(BlobId, Vec<u8>)>,
    inline: Batch,
}

impl Blobs {
    /// Adds them to a batch, now that the layer has its id.
    pub(super) fn add_to(self, batch: &mut Batch, layer: Id) {
        for (blob, path) in self.in_layer {
            batch.blob(blob, &Place::Layer { layer, path });
        }
        let mut inline = self.inline;
        batch.append(&mut inline);
    }
}

/// Reads what a plan asks for.
pub(super) struct Reader<'a> {
    pub(super) objects: &'a Objects,
    pub(super) source: &'a Path,
    pub(super) options: &'a ImportOptions,
    pub(super) kind: LayerKind,
    pub(super) layers: PathBuf,
}

/// One pass of reading: what its workers share.
struct Pass<'a> {
    reader: &'a Reader<'a>,
    stage: LayerStage,
    target: OwnedFd,
    source: OwnedFd,
    blobs: Mutex<Blobs>,
    /// Blobs that this pass already keeps.
    kept: Mutex<HashSet<BlobId>>,
    skipped: Mutex<Vec<Skipped>>,
    scanned: &'a Scanned,
}

impl Reader<'_> {
    pub(super) fn run(&self, scanned: &Scanned, plan: &Plan<'_>) -> Result<Contents> {
        let (files, bytes) = plan.totals();
        if let Some(progress) = &self.options.progress {
            progress.reading(files, bytes);
        }
        if files == 0 && self.kind == LayerKind::Content {
            return Ok(Contents {
                files: HashMap::new(),
                stage: None,
                blobs: Blobs::default(),
                skipped: Vec::new(),
            });
        }
        let stage = LayerStage::begin(&self.layers, self.kind)?;
        let fs_dir = stage.fs_dir();
        let target = disk::open_dir(&fs_dir).map_err(io_error("open", &fs_dir))?;
        let source = disk::open_dir(self.source).map_err(io_error("open", self.source))?;
        let pass = Pass {
            reader: self,
            stage,
            target,
            source,
            blobs: Mutex::default(),
            kept: Mutex::default(),
            skipped: Mutex::default(),
            scanned,
        };
        pass.run(plan)
    }
}

impl Pass<'_> {
    fn run(self, plan: &Plan<'_>) -> Result<Contents> {
        let is_base = self.reader.kind == LayerKind::Base;
        if is_base {
            plan.folders.iter().try_for_each(|folder| self.make_folder(folder))?;
        }
        let read: Result<Vec<_>> =
            plan.folders.par_iter().map(|folder| self.read_folder(folder)).collect();
        let mut files: HashMap<Vec<u8>, FileContent> = read?.into_iter().flatten().collect();
        if is_base {
            self.link_names(&mut files)?;
            plan.folders.par_iter().rev().try_for_each(|folder| self.finish_folder(folder))?;
        }
        let skipped = self.skipped.into_inner().expect("workers do not panic");
        let blobs = self.blobs.into_inner().expect("workers do not panic");
        Ok(Contents { files, stage: Some(self.stage), blobs, skipped })
    }

    fn make_folder(&self, folder: &Folder<'_>) -> Result<()> {
        let host = || self.stage.fs_dir().join(disk::bytes_path(&folder.path));
        let parent =
            self.open_target(parent_of(&folder.path)).map_err(io_error("open", &host()))?;
        if let Some(entry) = folder.entry {
            fs::mkdirat(&parent, disk::bytes_path(&entry.name), Mode::RWXU)
                .map_err(io_error("create", &host()))?;
            self.stage.count(0);
        }
        let at = self.open_target(&folder.path).map_err(io_error("open", &host()))?;
        for entry in &folder.dir.entries {
            let name = disk::bytes_path(&entry.name);
            let made = match &entry.body {
                ScannedBody::Symlink(target) => {
                    fs::symlinkat(disk::bytes_path(target), &at, name).map_err(io::Error::from)
                }
                ScannedBody::Fifo => {
                    let mode = Mode::from_raw_mode(entry.stat.st_mode & 0o7777);
                    fs::mknodat(&at, name, FileType::Fifo, mode, 0)
                        .and_then(|()| fs::chmodat(&at, name, mode, AtFlags::empty()))
                        .map_err(io::Error::from)
                }
                ScannedBody::File | ScannedBody::Directory(_) => continue,
            };
            made.and_then(|()| disk::set_mtime_at(at.as_fd(), &entry.name, mtime_of(&entry.stat)))
                .map_err(io_error("create", &host()))?;
            self.stage.count(0);
        }
        Ok(())
    }

    fn finish_folder(&self, folder: &Folder<'_>) -> Result<()> {
        let host = || self.stage.fs_dir().join(disk::bytes_path(&folder.path));
        let stat = folder.entry.map_or(&self.scanned.stat, |entry| &entry.stat);
        let set = || -> io::Result<()> {
            let at = self.open_target(&folder.path)?;
            disk::set_xattrs(at.as_fd(), &folder.dir.xattrs, true)?;
            fs::futimens(&at, &disk::timestamps(mtime_of(stat)))?;
            Ok(fs::fchmod(&at, Mode::from_raw_mode(stat.st_mode & 0o7777))?)
        };
        set().map_err(io_error("set metadata of", &host()))
    }

    fn read_folder(&self, folder: &Folder<'_>) -> Result<Vec<(Vec<u8>, FileContent)>> {
        if folder.files.is_empty() {
            return Ok(Vec::new());
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let from = match disk::open_below(self.source.as_fd(), &folder.path, flags) {
            Ok(from) => from,
            Err(error) => {
                self.skip(&folder.path, SkipReason::Unreadable(error.to_string()));
                return Ok(Vec::new());
            }
        };
        let into = match self.reader.kind {
            LayerKind::Base => self.open_target(&folder.path),
            _ => self.target.try_clone(),
        };
        let into = into.map_err(io_error("open", &self.stage.fs_dir()))?;
        let read: Result<Vec<_>> = folder
            .files
            .par_iter()
            .with_min_len(16)
            .filter(|file| self.is_first_name(&folder.path, file))
            .map(|file| self.read_file(from.as_fd(), into.as_fd(), &folder.path, file))
            .collect();
        Ok(read?.into_iter().flatten().collect())
    }

    /// Of the names of one inode only the first is read.
    fn is_first_name(&self, folder: &[u8], file: &ScannedEntry) -> bool {
        let links = self.scanned.links.get(&inode(&file.stat));
        self.reader.kind != LayerKind::Base
            || links.is_none_or(|names| names[0] == join(folder, &file.name))
    }

    /// Gives the other names of each inode to the copy, and what was read to the names.
    fn link_names(&self, files: &mut HashMap<Vec<u8>, FileContent>) -> Result<()> {
        for names in self.scanned.links.values() {
            let Some(content) = files.get(&names[0]).cloned() else { continue };
            let host = || self.stage.fs_dir().join(disk::bytes_path(&names[0]));
            let from = self.open_target(parent_of(&names[0])).map_err(io_error("open", &host()))?;
            for name in &names[1..] {
                let to = self.open_target(parent_of(name)).map_err(io_error("open", &host()))?;
                let (old, new) = (last_of(&names[0]), last_of(name));
                fs::linkat(
                    &from,
                    disk::bytes_path(old),
                    &to,
                    disk::bytes_path(new),
                    AtFlags::empty(),
                )
                .map_err(io_error("link", &host()))?;
                files.insert(name.clone(), content.clone());
            }
        }
        Ok(())
    }

    fn read_file(
        &self,
        from: BorrowedFd<'_>,
        into: BorrowedFd<'_>,
        folder: &[u8],
        file: &ScannedEntry,
    ) -> Result<Option<(Vec<u8>, FileContent)>> {
        let path = join(folder, &file.name);
        for attempt in 1..=TRIES {
            let source = match open_source(from, &file.name) {
                Ok(source) => source,
                Err(error) => {
                    self.skip(&path, SkipReason::Unreadable(error.to_string()));
                    return Ok(None);
                }
            };
            let read = match self.read_once(&source, into, &path, &file.name) {
                Ok(read) => read?,
                Err(error) => {
                    self.skip(&path, SkipReason::Unreadable(error.to_string()));
                    return Ok(None);
                }
            };
            let last_try = attempt == TRIES;
            if let Some((content, stable)) = read
                && (stable || last_try)
            {
                if !stable {
                    self.skip(&path, SkipReason::Unstable);
                }
                if let Some(progress) = &self.reader.options.progress {
                    progress.read(content.size);
                }
                return Ok(Some((path, content)));
            }
        }
        self.skip(&path, SkipReason::Unreadable("it is no longer a file".to_owned()));
        Ok(None)
    }

    /// Reads a file once. The outer error is the source's, the inner one the vault's; `None` means it is not a file.
    fn read_once(
        &self,
        source: &File,
        into: BorrowedFd<'_>,
        path: &[u8],
        name: &[u8],
    ) -> io::Result<Result<Option<(FileContent, bool)>>> {
        let before = fs::fstat(source)?;
        if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
            return Ok(Ok(None));
        }
        let (xattrs, others) = disk::xattrs(source.as_fd())?;
        if !others.is_empty() {
            self.skip(path, SkipReason::Attributes(others));
        }
        let kept = if before.st_size as u64 <= ONE_PIECE {
            let mut bytes = Vec::with_capacity(before.st_size as usize + 1);
            (&mut &*source).take(ONE_PIECE + 1).read_to_end(&mut bytes)?;
            self.keep_bytes(into, path, name, &before, &xattrs, bytes)
        } else {
            self.keep_large(source, into, path, name, &before, &xattrs)
        };
        let (blob, size) = match kept {
            Ok(kept) => kept,
            Err(error) => return Ok(Err(error)),
        };
        let after = fs::fstat(source)?;
        let stable = same_state(&before, &after) && size == before.st_size as u64;
        let content = FileContent { stat: before, blob, size, xattrs, cached: false };
        Ok(Ok(Some((content, stable))))
    }

    fn keep_bytes(
        &self,
        into: BorrowedFd<'_>,
        path: &[u8],
        name: &[u8],
        stat: &Stat,
        xattrs: &[Xattr],
        bytes: Vec<u8>,
    ) -> Result<(BlobId, u64)> {
        let (blob, size) = (BlobId::of(&bytes), bytes.len() as u64);
        let is_base = self.reader.kind == LayerKind::Base;
        if !is_base && !self.is_new(blob)? {
            return Ok((blob, size));
        }
        if !is_base && bytes.len() <= INLINE_LIMIT {
            self.blobs().inline.blob(blob, &Place::Inline(bytes));
            return Ok((blob, size));
        }
        let name = if is_base { name.to_vec() } else { blob.to_hex().into_bytes() };
        let write = || -> io::Result<()> {
            let mut file = create_target(into, &name)?;
            file.write_all(&bytes)?;
            self.finish_file(&file, stat, xattrs)
        };
        write().map_err(io_error("write", &self.stage.fs_dir().join(disk::bytes_path(&name))))?;
        self.keep(blob, if is_base { path.to_vec() } else { name }, size);
        Ok((blob, size))
    }

    /// Copies first and hashes the copy, so that the hash is that of the kept bytes whatever happens to the source.
    fn keep_large(
        &self,
        source: &File,
        into: BorrowedFd<'_>,
        path: &[u8],
        name: &[u8],
        stat: &Stat,
        xattrs: &[Xattr],
    ) -> Result<(BlobId, u64)> {
        let is_base = self.reader.kind == LayerKind::Base;
        let staged = if is_base { name.to_vec() } else { Id::random().to_string().into_bytes() };
        let size = stat.st_size as u64;
        let copy = || -> io::Result<BlobId> {
            let file = create_target(into, &staged)?;
            disk::copy_contents(source, &file, size)?;
            let blob = hash_file(&file)?;
            self.finish_file(&file, stat, xattrs)?;
            Ok(blob)
        };
        let host = || self.stage.fs_dir().join(disk::bytes_path(&staged));
        let blob = copy().map_err(io_error("write", &host()))?;
        if is_base {
            self.keep(blob, path.to_vec(), size);
        } else if self.is_new(blob)? {
            let hex = blob.to_hex();
            fs::renameat(into, disk::bytes_path(&staged), into, hex.as_str())
                .map_err(io_error("rename", &host()))?;
            self.keep(blob, hex.into_bytes(), size);
        } else {
            fs::unlinkat(into, disk::bytes_path(&staged), AtFlags::empty())
                .map_err(io_error("remove", &host()))?;
        }
        Ok((blob, size))
    }

    fn finish_file(&self, file: &File, stat: &Stat, xattrs: &[Xattr]) -> io::Result<()> {
        if self.reader.kind == LayerKind::Base {
            disk::set_xattrs(file.as_fd(), xattrs, true)?;
            fs::fchmod(file, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
            fs::futimens(file, &disk::timestamps(mtime_of(stat)))?;
        }
        Ok(())
    }

    /// Whether the vault does not have the blob and no other worker is keeping it.
    fn is_new(&self, blob: BlobId) -> Result<bool> {
        Ok(!self.reader.objects.has_blob(&blob)?
            && self.kept.lock().expect("workers do not panic").insert(blob))
    }

    fn keep(&self, blob: BlobId, path: Vec<u8>, size: u64) {
        self.stage.count(size);
        self.blobs().in_layer.push((blob, path));
    }

    fn blobs(&self) -> std::sync::MutexGuard<'_, Blobs> {
        self.blobs.lock().expect("workers do not panic")
    }

    fn open_target(&self, path: &[u8]) -> io::Result<OwnedFd> {
        disk::open_below(self.target.as_fd(), path, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    fn skip(&self, path: &[u8], why: SkipReason) {
        let skipped = Skipped { path: path.to_vec(), why };
        self.skipped.lock().expect("workers do not panic").push(skipped);
    }
}

fn open_source(from: BorrowedFd<'_>, name: &[u8]) -> io::Result<File> {
    disk::open_below(from, name, OFlags::RDONLY | OFlags::NONBLOCK).map(File::from)
}

/// Opens a new file, or empties the one that an earlier try left.
fn create_target(into: BorrowedFd<'_>, name: &[u8]) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let opened = match fs::openat(into, disk::bytes_path(name), flags, mode) {
        // The earlier try may have given it a mode that forbids writing.
        Err(rustix::io::Errno::ACCESS) => {
            fs::unlinkat(into, disk::bytes_path(name), AtFlags::empty())?;
            fs::openat(into, disk::bytes_path(name), flags, mode)
        }
        other => other,
    };
    Ok(File::from(opened?))
}

/// Whether a file is as it was: size, and both times that a write changes.
fn same_state(a: &Stat, b: &Stat) -> bool {
    let times = |s: &Stat| (s.st_mtime, s.st_mtime_nsec, s.st_ctime, s.st_ctime_nsec);
    a.st_size == b.st_size && times(a) == times(b)
}

fn parent_of(path: &[u8]) -> &[u8] {
    path.iter().rposition(|&byte| byte == b'/').map_or(&[], |at| &path[..at])
}

fn last_of(path: &[u8]) -> &[u8] {
    path.iter().rposition(|&byte| byte == b'/').map_or(path, |at| &path[at + 1..])
}
