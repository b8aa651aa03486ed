//! Writing trees to disk: exports with everything as recorded, and the files of layers.
//!
//! Directories are made level by level and opened by their paths from the top, so that neither descriptors nor the stack go
//! with the depth of a tree. Their own metadata comes last, from the bottom up: it may forbid to write to them.

mod leaf;

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use offshoot_host::disk;
use offshoot_host::disk::{join, split_last};
use offshoot_host::workers::share;
use offshoot_tree::{BlobId, DirRef, Entry, Objects};
use rayon::prelude::*;
use rustix::fs::{self, FileType, Mode, OFlags, XattrFlags};
use rustix::io::Errno;

use crate::error::{Result, io_error};
use crate::layer::LayerStage;

/// Makes a directory of a layer hide what is below it.
const OPAQUE: &str = "user.overlay.opaque";
/// Names of one directory that a worker takes at once.
const AT_ONCE: usize = 32;

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
    /// The same, for somebody to go on writing.
    Upper,
}

/// Writes parts of trees below one directory.
#[derive(Debug)]
pub struct Materializer<'a> {
    objects: &'a Objects,
    /// The host path of the top, for errors.
    top: PathBuf,
    purpose: Purpose<'a>,
    top_fd: OwnedFd,
    /// Paths to write though they are below already, sorted; and the directories on the way.
    again: BTreeSet<Vec<u8>>,
    /// Files whose bytes are left where they are, and where that is.
    elsewhere: HashMap<BlobId, Vec<u8>>,
    /// The first name of each hard-link group, and where it was put.
    groups: Mutex<HashMap<u64, Vec<Written>>>,
}

/// Something that was written, and where.
#[derive(Debug)]
struct Written {
    entry: Entry,
    path: Vec<u8>,
}

/// A directory that was made and is to be filled.
struct Folder {
    path: Vec<u8>,
    entry: Entry,
    /// What is at its path in the layers below, if that is a directory.
    before: Option<DirRef>,
    /// It must hide what is below.
    opaque: bool,
}

/// What is to be written into a folder.
struct Content {
    leaves: Vec<Entry>,
    folders: Vec<Folder>,
}

impl<'a> Materializer<'a> {
    /// Writes below an existing directory.
    pub(crate) fn new(objects: &'a Objects, top: &Path, purpose: Purpose<'a>) -> Result<Self> {
        let top_fd = disk::open_dir(top).map_err(io_error("open", top))?;
        Ok(Self::at(objects, top_fd, top, purpose))
    }

    /// Writes for people and programs below a directory that is open already. `owners` gives files their recorded ones.
    pub fn export_to(objects: &'a Objects, top_fd: OwnedFd, top: &Path, owners: bool) -> Self {
        Self::at(objects, top_fd, top, Purpose::Export { owners })
    }

    fn at(objects: &'a Objects, top_fd: OwnedFd, top: &Path, purpose: Purpose<'a>) -> Self {
        let groups = Mutex::new(HashMap::new());
        let (again, elsewhere) = (BTreeSet::new(), HashMap::new());
        Self { objects, top: top.to_owned(), purpose, top_fd, again, elsewhere, groups }
    }

    /// Writes these paths of a difference also where nothing about them is different.
    pub(crate) fn also(self, again: BTreeSet<Vec<u8>>) -> Self {
        Self { again, ..self }
    }

    /// Leaves the bytes of these files where they are: at a path of a layer that holds bytes for this one.
    pub(crate) fn leaving(self, elsewhere: HashMap<BlobId, Vec<u8>>) -> Self {
        Self { elsewhere, ..self }
    }

    /// Writes one entry with everything beneath it; it must not be there yet.
    pub fn entry(&self, entry: &Entry) -> Result<()> {
        if entry.directory().is_none() {
            return self.leaf(self.top_fd.as_fd(), &[], entry);
        }
        self.make_dir(self.top_fd.as_fd(), &entry.name, &entry.name)?;
        let (path, entry) = (entry.name.clone(), entry.clone());
        self.folders(Folder { path, entry, before: None, opaque: false })
    }

    /// Writes what the directory `after` has and `before` has not into the top itself, in the format of overlayfs.
    pub(crate) fn difference(&self, before: Option<&Entry>, after: &Entry) -> Result<()> {
        let before = before.and_then(Entry::directory).copied();
        let (path, entry) = (Vec::new(), after.clone());
        self.folders(Folder { path, entry, before, opaque: false })
    }

    /// Writes names at their paths below the top, where nothing is yet. `folders` leads to them, every directory after its
    /// parent, and starts with the top.
    pub(crate) fn place(
        &self,
        folders: &[(Vec<u8>, Entry)],
        names: &[(Vec<u8>, Entry)],
    ) -> Result<()> {
        for (path, _) in folders.iter().filter(|(path, _)| !path.is_empty()) {
            let (parent, name) = split_last(path);
            self.make_dir(self.open(parent)?.as_fd(), path, name)?;
        }
        for (path, entry) in names {
            let parent = split_last(path).0;
            self.leaf(self.open(parent)?.as_fd(), parent, entry)?;
        }
        for (path, entry) in folders.iter().rev() {
            let (path, entry) = (path.clone(), entry.clone());
            self.finish(&Folder { path, entry, before: None, opaque: false })?;
        }
        Ok(())
    }

    fn folders(&self, first: Folder) -> Result<()> {
        let mut levels: Vec<Vec<Folder>> = Vec::new();
        let mut level = vec![first];
        while !level.is_empty() {
            let contents: Result<Vec<Content>> =
                share(&level).map(|folder| self.begin(folder)).collect();
            let mut contents = contents?;
            self.leaves(&level, &contents)?;
            let below = contents.iter_mut().flat_map(|content| content.folders.drain(..)).collect();
            levels.push(std::mem::replace(&mut level, below));
        }
        for level in levels.iter().rev() {
            share(level).try_for_each(|folder| self.finish(folder))?;
        }
        Ok(())
    }

    /// Makes the directories and whiteouts of a folder, and lists what else goes into it.
    fn begin(&self, folder: &Folder) -> Result<Content> {
        let mut content = Content { leaves: Vec::new(), folders: Vec::new() };
        let Some(after) = folder.entry.directory() else { return Ok(content) };
        let same = folder.before.is_some_and(|before| before.node == after.node);
        if same && !self.again_below(&folder.path) {
            return Ok(content);
        }
        let old = folder.before.map(|before| self.objects.entries(&before)).transpose()?;
        let new = self.objects.entries(after)?;
        let at = self.open(&folder.path)?;
        for gone in old.iter().flatten().filter(|entry| find(&new, &entry.name).is_none()) {
            self.whiteout(at.as_fd(), &folder.path, &gone.name)?;
        }
        for entry in new {
            let below = old.as_ref().and_then(|old| find(old, &entry.name));
            let path = join(&folder.path, &entry.name);
            if below == Some(&entry) && !self.again.contains(&path) && !self.again_below(&path) {
                continue;
            }
            if entry.directory().is_none() {
                content.leaves.push(entry);
                continue;
            }
            self.make_dir(at.as_fd(), &path, &entry.name)?;
            let before = below.and_then(Entry::directory).copied();
            let opaque = old.is_some() && before.is_none();
            content.folders.push(Folder { path, entry, before, opaque });
        }
        Ok(content)
    }

    /// Whether something below a directory is to be written again.
    fn again_below(&self, directory: &[u8]) -> bool {
        let first = join(directory, b"");
        !self.again.is_empty()
            && self.again.range(first.clone()..).next().is_some_and(|path| path.starts_with(&first))
    }

    /// Writes everything of a level that is not a directory.
    fn leaves(&self, level: &[Folder], contents: &[Content]) -> Result<()> {
        let chunks = level.iter().zip(contents).flat_map(|(folder, content)| {
            content.leaves.chunks(AT_ONCE).map(move |leaves| (folder, leaves))
        });
        let chunks: Vec<(&Folder, &[Entry])> = chunks.collect();
        share(&chunks).try_for_each(|(folder, leaves)| {
            let at = self.open(&folder.path)?;
            leaves.iter().try_for_each(|leaf| self.leaf(at.as_fd(), &folder.path, leaf))
        })
    }

    /// Gives a directory its metadata, after everything in it was written.
    fn finish(&self, folder: &Folder) -> Result<()> {
        let fd = self.open(&folder.path)?;
        let finish = || -> std::io::Result<()> {
            if folder.opaque {
                fs::fsetxattr(&fd, OPAQUE, b"y", XattrFlags::empty())?;
            }
            self.metadata(fd.as_fd(), &folder.entry)
        };
        finish().map_err(io_error("set metadata of", &self.host(&folder.path)))
    }

    /// Makes a directory that only this process can use until it is finished.
    fn make_dir(&self, at: BorrowedFd<'_>, path: &[u8], name: &[u8]) -> Result<()> {
        fs::mkdirat(at, disk::bytes_path(name), Mode::RWXU)
            .map_err(io_error("create", &self.host(path)))?;
        self.count(0);
        Ok(())
    }

    fn whiteout(&self, at: BorrowedFd<'_>, parent: &[u8], name: &[u8]) -> Result<()> {
        fs::mknodat(at, disk::bytes_path(name), FileType::CharacterDevice, Mode::empty(), 0)
            .map_err(io_error("create", &self.host(&join(parent, name))))?;
        self.count(0);
        Ok(())
    }

    fn open(&self, path: &[u8]) -> Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        disk::open_below(self.top_fd.as_fd(), path, flags)
            .map_err(io_error("open", &self.host(path)))
    }

    fn count(&self, bytes: u64) {
        if let Purpose::Layer(stage) = self.purpose {
            stage.count(bytes);
        }
    }

    fn host(&self, path: &[u8]) -> PathBuf {
        self.top.join(disk::bytes_path(path))
    }
}

fn find<'e>(entries: &'e [Entry], name: &[u8]) -> Option<&'e Entry> {
    let found = entries.binary_search_by(|entry| entry.name.as_slice().cmp(name));
    found.ok().map(|at| &entries[at])
}

/// Where the bytes of a file of a layer are, below a layer that holds bytes for it, if they are not in it.
pub(crate) fn bytes_elsewhere(file: &File) -> Result<Option<Vec<u8>>, Errno> {
    let mut value = vec![0; 4096];
    match fs::fgetxattr(file, leaf::REDIRECT, value.as_mut_slice()) {
        Ok(length) => Ok(value[..length].strip_prefix(b"/").map(<[u8]>::to_vec)),
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(None),
        Err(error) => Err(error),
    }
}
