//! The second pass: read, hash and keep the bytes of files.

mod keep;
mod layout;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use offshoot_host::disk;
use offshoot_host::disk::join;
use offshoot_host::workers::share;
use offshoot_store::Id;
use offshoot_tree::{Batch, BlobId, ObjectLocation, Objects};
use rayon::prelude::*;
use rustix::fs::{self, FileType, OFlags, Stat};
use rustix::io::Errno;

use super::cache;
use super::content::FileContent;
use super::options::ImportOptions;
use super::plan::{Chunk, Plan};
use super::report::{SkipReason, Skipped};
use super::scan::Scanned;
use crate::error::{Result, io_error};
use crate::layer::{LayerKind, LayerStage};

/// How often a file that changes while it is read is read again.
const TRIES: u32 = 5;

/// What reading gave.
pub(super) struct Contents {
    pub(super) files: HashMap<Vec<u8>, FileContent>,
    /// The layer that was written, if it holds anything.
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
    /// Whether there is no new content.
    pub(super) fn is_empty(&self) -> bool {
        self.in_layer.is_empty() && self.inline.is_empty()
    }

    /// Adds them to a batch, now that the layer, if there is one, has its id.
    pub(super) fn add_to(mut self, batch: &mut Batch, layer: Option<Id>) {
        for (blob, path) in self.in_layer {
            if let Some(layer) = layer {
                batch.blob(blob, &ObjectLocation::Layer { layer, path });
            }
        }
        batch.append(&mut self.inline);
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

/// One attempt at reading a file.
struct Attempt {
    content: FileContent,
    /// The file was the same before and after.
    stable: bool,
    /// Attributes that are not kept.
    dropped: Vec<String>,
}

impl Reader<'_> {
    pub(super) fn run(&self, scanned: &Scanned, plan: &Plan<'_>) -> Result<Contents> {
        let (files, bytes) = plan.totals();
        if let Some(progress) = &self.options.progress {
            progress.reading(files, bytes);
        }
        if files == 0 && self.kind == LayerKind::Content {
            let (blobs, skipped) = (Blobs::default(), Vec::new());
            return Ok(Contents { files: HashMap::new(), stage: None, blobs, skipped });
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
        if self.is_base() {
            self.make_folders()?;
        }
        // Nothing is parallel inside a chunk: a worker that waits would take another and hold on to the first.
        let read: Result<Vec<_>> =
            share(&plan.chunks).map(|chunk| self.read_chunk(chunk)).collect();
        let mut files: HashMap<Vec<u8>, FileContent> = read?.into_iter().flatten().collect();
        if self.is_base() {
            self.link_names(&mut files)?;
            self.finish_folders()?;
        }
        let is_base = self.is_base();
        let skipped = self.skipped.into_inner().expect("workers do not panic");
        let blobs = self.blobs.into_inner().expect("workers do not panic");
        let holds_any = is_base || !blobs.in_layer.is_empty();
        let stage = Some(self.stage).filter(|_| holds_any);
        Ok(Contents { files, stage, blobs, skipped })
    }

    fn is_base(&self) -> bool {
        self.reader.kind == LayerKind::Base
    }

    fn read_chunk(&self, chunk: &Chunk<'_>) -> Result<Vec<(Vec<u8>, FileContent)>> {
        let folder = chunk.dir.path.as_slice();
        let Some((from, into)) = self.open_folder(folder)? else { return Ok(Vec::new()) };
        let mut read = Vec::with_capacity(chunk.files.len());
        for file in &chunk.files {
            let path = join(folder, &file.name);
            let content = self.read_file(from.as_fd(), into.as_fd(), &path, &file.name)?;
            read.extend(content.map(|content| (path, content)));
        }
        Ok(read)
    }

    /// A directory of the source and where its files go; `None` where the source cannot be read any more.
    fn open_folder(&self, folder: &[u8]) -> Result<Option<(OwnedFd, OwnedFd)>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let from = match disk::open_below(self.source.as_fd(), folder, flags) {
            Ok(from) => from,
            Err(error) => {
                self.unreadable(folder, error.into());
                return Ok(None);
            }
        };
        let into = match self.reader.kind {
            LayerKind::Base => self.open_target(folder),
            _ => self.target.try_clone(),
        };
        Ok(Some((from, into.map_err(io_error("open", &self.stage.fs_dir()))?)))
    }

    fn read_file(
        &self,
        from: BorrowedFd<'_>,
        into: BorrowedFd<'_>,
        path: &[u8],
        name: &[u8],
    ) -> Result<Option<FileContent>> {
        for attempt in 1..=TRIES {
            let read =
                open_source(from, name).and_then(|source| self.read_once(&source, into, name));
            let read = match read {
                Ok(read) => read?,
                Err(error) => {
                    self.unreadable(path, error);
                    return Ok(None);
                }
            };
            let Some(Attempt { content, stable, dropped }) = read else { continue };
            if !stable && attempt < TRIES {
                continue;
            }
            if !stable {
                self.skip(path, SkipReason::Unstable);
            }
            if !dropped.is_empty() {
                self.skip(path, SkipReason::Attributes(dropped));
            }
            if let Some(progress) = &self.reader.options.progress {
                progress.read(content.size);
            }
            if self.is_base() {
                // Only now: the bytes of an attempt that was given up are no longer at the path.
                self.keep(content.blob, path.to_vec(), content.size);
            }
            return Ok(Some(content));
        }
        self.skip(path, SkipReason::Unreadable("it is no longer a file".to_owned()));
        Ok(None)
    }

    /// Reads a file once. The outer error is the source's, the inner one the vault's; `None` means it is not a file.
    fn read_once(
        &self,
        source: &File,
        into: BorrowedFd<'_>,
        name: &[u8],
    ) -> io::Result<Result<Option<Attempt>>> {
        // In the tick of its last change a file could change again without a trace, or still be changing.
        if let Some(left) = cache::unsettled_for(&fs::fstat(source)?) {
            std::thread::sleep(left);
        }
        let mut before = fs::fstat(source)?;
        let settled = cache::unsettled_for(&before).is_none();
        if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
            return Ok(Ok(None));
        }
        let (xattrs, dropped) = disk::xattrs(source.as_fd())?;
        if dropped.iter().any(|name| name == disk::ACL) {
            disk::narrow(source.as_fd(), &mut before);
        }
        let kept = match self.keep_contents(source, into, name, &before, &xattrs)? {
            Ok(kept) => kept,
            Err(error) => return Ok(Err(error)),
        };
        let (blob, size) = kept;
        let after = fs::fstat(source)?;
        let stable = settled && same_state(&before, &after) && size == before.st_size as u64;
        let content = FileContent { stat: before, blob, size, xattrs, cached: false };
        Ok(Ok(Some(Attempt { content, stable, dropped })))
    }

    fn open_target(&self, path: &[u8]) -> io::Result<OwnedFd> {
        Ok(disk::open_below(self.target.as_fd(), path, OFlags::RDONLY | OFlags::DIRECTORY)?)
    }

    /// Reports what could not be read; what vanished since it was listed is as if it had never been there.
    fn unreadable(&self, path: &[u8], error: io::Error) {
        if error.raw_os_error() != Some(Errno::NOENT.raw_os_error()) {
            self.skip(path, SkipReason::Unreadable(error.to_string()));
        }
    }

    fn skip(&self, path: &[u8], why: SkipReason) {
        let skipped = Skipped { path: path.to_vec(), why };
        self.skipped.lock().expect("workers do not panic").push(skipped);
    }
}

fn open_source(from: BorrowedFd<'_>, name: &[u8]) -> io::Result<File> {
    Ok(disk::open_below(from, name, OFlags::RDONLY | OFlags::NONBLOCK).map(File::from)?)
}

/// Whether a file is as it was: size, and both times that a write changes.
fn same_state(a: &Stat, b: &Stat) -> bool {
    let times = |s: &Stat| (s.st_mtime, s.st_mtime_nsec, s.st_ctime, s.st_ctime_nsec);
    a.st_size == b.st_size && times(a) == times(b)
}
