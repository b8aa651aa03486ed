//! Everything but directories: files, links, pipes and further names.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

use offshoot_host::disk;
use offshoot_host::disk::{join, split_last};
use offshoot_tree::{BlobId, BlobReader, Body, Entry, Meta, TreeError};
use rustix::fs::{self, AtFlags, FileType, Gid, Mode, OFlags, Uid, XattrFlags};
use rustix::io::Errno;

use super::{Materializer, Purpose, Written};
use crate::error::{Result, VaultError, io_error};

/// Files up to this length are read, hashed and written in one piece.
const ONE_PIECE: u64 = 1 << 20;
/// Says that a file of a layer has its bytes elsewhere.
const METACOPY: &str = "user.overlay.metacopy";
/// Says where.
pub(super) const REDIRECT: &str = "user.overlay.redirect";

impl Materializer<'_> {
    /// Writes something that is not a directory into the directory `at`, whose path below the top is `parent`.
    pub(super) fn leaf(&self, at: BorrowedFd<'_>, parent: &[u8], entry: &Entry) -> Result<()> {
        let path = join(parent, &entry.name);
        match entry.group {
            Some(group) => self.linked(at, &path, entry, group),
            None => self.single(at, &path, entry),
        }
    }

    /// A name of a hard-link group: the first is written, the others are links to it.
    ///
    /// A name whose content or metadata differs from the first is none of the group, whatever its number says: a number
    /// can come back with a file from another time or place.
    fn linked(&self, at: BorrowedFd<'_>, path: &[u8], entry: &Entry, group: u64) -> Result<()> {
        // Held while the first is written, so that the others find it whole.
        let mut groups = self.groups.lock().expect("a panicking writer ends the whole write");
        let written = groups.entry(group).or_default();
        let same = |other: &Entry| other.body == entry.body && other.meta == entry.meta;
        let Some(first) = written.iter().find(|written| same(&written.entry)) else {
            self.single(at, path, entry)?;
            written.push(Written { entry: entry.clone(), path: path.to_vec() });
            return Ok(());
        };
        let (folder, name) = split_last(&first.path);
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let from = disk::open_below(self.top_fd.as_fd(), folder, flags)
            .map_err(io_error("open", &self.host(folder)))?;
        let to = disk::bytes_path(&entry.name);
        fs::linkat(from, disk::bytes_path(name), at, to, AtFlags::empty())
            .map_err(io_error("link", &self.host(path)))?;
        self.count(0);
        Ok(())
    }

    fn single(&self, at: BorrowedFd<'_>, path: &[u8], entry: &Entry) -> Result<()> {
        let name = disk::bytes_path(&entry.name);
        match &entry.body {
            Body::File { size, blob } => return self.file(at, path, entry, *size, blob),
            Body::Symlink { target } => fs::symlinkat(disk::bytes_path(target), at, name)
                .map_err(io_error("create", &self.host(path)))?,
            Body::Fifo => fs::mknodat(at, name, FileType::Fifo, Mode::from_raw_mode(0o600), 0)
                .map_err(io_error("create", &self.host(path)))?,
            Body::Directory(_) => return Ok(()),
        }
        self.count(0);
        self.nameless_metadata(at, path, entry)
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
        let place = self.elsewhere.get(blob).map(Vec::as_slice);
        match place.map(|place| leave_bytes(&file, size, place)) {
            Some(Ok(())) => self.count(0),
            // Some file systems take only short attributes; then the bytes come along.
            _ => {
                self.fill(&file, path, size, blob)?;
                self.count(size);
            }
        }
        self.metadata(file.as_fd(), entry).map_err(io_error("set metadata of", &self.host(path)))
    }

    fn fill(&self, mut file: &File, path: &[u8], size: u64, blob: &BlobId) -> Result<()> {
        let host = || self.host(path);
        if let Some((source, place)) = self.objects.file(blob)? {
            let sparse = fs::fstat(&source).is_ok_and(|stat| disk::is_sparse(&stat));
            if sparse || size > ONE_PIECE {
                disk::copy_contents(&source, file, size).map_err(io_error("write", &host()))?;
                let found = BlobId::of_file(file).map_err(io_error("read", &host()))?;
                return self.verify(blob, &found, &place);
            }
            let bytes = BlobReader::of_file(*blob, source, place).into_bytes()?;
            return file.write_all(&bytes).map_err(io_error("write", &host()));
        }
        if size > ONE_PIECE {
            return Ok(self.objects.reader(blob)?.copy_to(&mut file, &host())?);
        }
        let bytes = self.objects.blob(blob)?;
        file.write_all(&bytes).map_err(io_error("write", &host()))
    }

    fn verify(&self, blob: &BlobId, found: &BlobId, place: &std::path::Path) -> Result<()> {
        if found == blob {
            return Ok(());
        }
        Err(VaultError::Tree(TreeError::Damaged {
            object: format!("content {blob}"),
            place: place.display().to_string(),
            detail: format!("its bytes hash to {found}"),
        }))
    }

    pub(super) fn metadata(&self, fd: BorrowedFd<'_>, entry: &Entry) -> io::Result<()> {
        let meta = &entry.meta;
        disk::set_xattrs(fd, &meta.xattrs, !matches!(self.purpose, Purpose::Export { .. }))?;
        // The owner first: changing it clears the set-id bits of the mode.
        if self.sets_owners() {
            fs::fchown(fd, Some(Uid::from_raw(meta.uid)), Some(Gid::from_raw(meta.gid)))?;
        }
        fs::fchmod(fd, self.mode(meta))?;
        fs::futimens(fd, &disk::timestamps(meta.mtime))?;
        Ok(())
    }

    /// Metadata of what cannot be opened: links and pipes.
    fn nameless_metadata(&self, at: BorrowedFd<'_>, path: &[u8], entry: &Entry) -> Result<()> {
        let (name, meta) = (disk::bytes_path(&entry.name), &entry.meta);
        let set = || -> io::Result<()> {
            if self.sets_owners() {
                let (uid, gid) = (Uid::from_raw(meta.uid), Gid::from_raw(meta.gid));
                fs::chownat(at, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)?;
            }
            if matches!(entry.body, Body::Fifo) {
                fs::chmodat(at, name, self.mode(meta), AtFlags::empty())?;
            }
            disk::set_mtime_at(at, &entry.name, meta.mtime)
        };
        set().map_err(io_error("set metadata of", &self.host(path)))
    }

    /// The mode to give: without its owner, a file must not lend the rights of whoever writes it.
    fn mode(&self, meta: &Meta) -> Mode {
        let mut mode = Mode::from_raw_mode(meta.mode.into());
        if matches!(self.purpose, Purpose::Export { owners: false }) {
            if meta.uid != rustix::process::geteuid().as_raw() {
                mode.remove(Mode::SUID);
            }
            if meta.gid != rustix::process::getegid().as_raw() {
                mode.remove(Mode::SGID);
            }
        }
        mode
    }

    fn sets_owners(&self) -> bool {
        matches!(self.purpose, Purpose::Export { owners: true })
    }
}

/// Makes an empty file say that its bytes are at a path of a layer that holds bytes for others.
fn leave_bytes(file: &File, size: u64, place: &[u8]) -> io::Result<()> {
    let set = || -> io::Result<()> {
        let redirect = [b"/", place].concat();
        fs::fsetxattr(file, METACOPY, b"", XattrFlags::empty())?;
        fs::fsetxattr(file, REDIRECT, &redirect, XattrFlags::empty())?;
        Ok(fs::ftruncate(file, size)?)
    };
    let done = set();
    if done.is_err() {
        // What is left of the attempt would make overlayfs look for bytes elsewhere.
        for name in [METACOPY, REDIRECT] {
            match fs::fremovexattr(file, name) {
                Err(Errno::NODATA) | Ok(()) => {}
                Err(error) => return Err(error.into()),
            }
        }
        fs::ftruncate(file, 0)?;
    }
    done
}
