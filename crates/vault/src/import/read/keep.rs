//! Keeping the bytes of one file: in a layer, or in the catalog.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::MutexGuard;

use offshoot_host::disk::CopyError;
use offshoot_host::{Mtime, Xattr, disk};
use offshoot_store::Id;
use offshoot_tree::{BlobId, INLINE_LIMIT, ObjectLocation};
use rustix::fs::{self, AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{Blobs, Pass};
use crate::error::{Result, io_error};

/// Files up to this length are read, hashed and written in one piece.
const ONE_PIECE: u64 = 1 << 20;

impl Pass<'_> {
    /// Keeps what a file holds now and says what that is. The outer error is the source's, the inner one the vault's.
    pub(super) fn keep_contents(
        &self,
        source: &File,
        into: BorrowedFd<'_>,
        name: &[u8],
        stat: &Stat,
        xattrs: &[Xattr],
    ) -> io::Result<Result<(BlobId, u64)>> {
        let inline = !self.is_base() && stat.st_size as usize <= INLINE_LIMIT;
        if stat.st_size as u64 > ONE_PIECE || (disk::is_sparse(stat) && !inline) {
            return self.keep_copy(source, into, name, stat, xattrs);
        }
        let mut bytes = Vec::with_capacity(stat.st_size as usize + 1);
        (&mut &*source).take(ONE_PIECE + 1).read_to_end(&mut bytes)?;
        Ok(self.keep_bytes(into, name, stat, xattrs, bytes))
    }

    fn keep_bytes(
        &self,
        into: BorrowedFd<'_>,
        name: &[u8],
        stat: &Stat,
        xattrs: &[Xattr],
        bytes: Vec<u8>,
    ) -> Result<(BlobId, u64)> {
        let (blob, size) = (BlobId::of(&bytes), bytes.len() as u64);
        if !self.is_base() && !self.is_new(blob)? {
            return Ok((blob, size));
        }
        if !self.is_base() && bytes.len() <= INLINE_LIMIT {
            self.blobs().inline.blob(blob, &ObjectLocation::Inline(bytes));
            return Ok((blob, size));
        }
        let hex = blob.to_hex();
        let name = if self.is_base() { name } else { hex.as_bytes() };
        let write = || -> io::Result<()> {
            let mut file = create_target(into, name)?;
            file.write_all(&bytes)?;
            self.finish_file(&file, stat, xattrs)
        };
        write().map_err(io_error("write", &self.staged(name)))?;
        if !self.is_base() {
            self.keep(blob, name.to_vec(), size);
        }
        Ok((blob, size))
    }

    /// Copies first and hashes the copy, so that the hash is that of the kept bytes whatever happens to the source.
    fn keep_copy(
        &self,
        source: &File,
        into: BorrowedFd<'_>,
        name: &[u8],
        stat: &Stat,
        xattrs: &[Xattr],
    ) -> io::Result<Result<(BlobId, u64)>> {
        let random = Id::random().to_string();
        let name = if self.is_base() { name } else { random.as_bytes() };
        let file = match create_target(into, name) {
            Ok(file) => file,
            Err(error) => return Ok(Err(io_error("create", &self.staged(name))(error))),
        };
        match disk::copy_contents(source, &file, stat.st_size as u64) {
            Ok(()) => {}
            Err(CopyError::Source(error)) => return Err(error),
            // A vault that cannot be written must not look like a file that cannot be read, which is left out.
            Err(CopyError::Target(error)) => {
                return Ok(Err(io_error("write", &self.staged(name))(error)));
            }
        }
        Ok(self.hash_copy(&file, into, name, stat, xattrs))
    }

    fn hash_copy(
        &self,
        file: &File,
        into: BorrowedFd<'_>,
        name: &[u8],
        stat: &Stat,
        xattrs: &[Xattr],
    ) -> Result<(BlobId, u64)> {
        let finish = || -> io::Result<(BlobId, u64)> {
            let blob = BlobId::of_file(file)?;
            self.finish_file(file, stat, xattrs)?;
            Ok((blob, file.metadata()?.len()))
        };
        let (blob, size) = finish().map_err(io_error("write", &self.staged(name)))?;
        if self.is_base() {
            return Ok((blob, size));
        }
        if self.is_new(blob)? {
            let hex = blob.to_hex();
            fs::renameat(into, disk::bytes_path(name), into, hex.as_str())
                .map_err(io_error("rename", &self.staged(name)))?;
            self.keep(blob, hex.into_bytes(), size);
        } else {
            fs::unlinkat(into, disk::bytes_path(name), AtFlags::empty())
                .map_err(io_error("remove", &self.staged(name)))?;
        }
        Ok((blob, size))
    }

    fn finish_file(&self, file: &File, stat: &Stat, xattrs: &[Xattr]) -> io::Result<()> {
        if self.is_base() {
            disk::set_xattrs(file.as_fd(), xattrs, true)?;
            fs::fchmod(file, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
            fs::futimens(file, &disk::timestamps(Mtime::of(stat)))?;
        }
        Ok(())
    }

    /// Whether the vault does not have the blob and no other worker is keeping it.
    fn is_new(&self, blob: BlobId) -> Result<bool> {
        Ok(!self.reader.objects.has_blob(&blob)?
            && self.kept.lock().expect("workers do not panic").insert(blob))
    }

    /// Notes that a path of the layer holds a blob.
    pub(super) fn keep(&self, blob: BlobId, path: Vec<u8>, size: u64) {
        self.stage.count(size);
        self.blobs().in_layer.push((blob, path));
    }

    fn blobs(&self) -> MutexGuard<'_, Blobs> {
        self.blobs.lock().expect("workers do not panic")
    }

    fn staged(&self, name: &[u8]) -> PathBuf {
        self.stage.fs_dir().join(disk::bytes_path(name))
    }
}

/// Opens a new file, in place of one that an earlier try left.
fn create_target(into: BorrowedFd<'_>, name: &[u8]) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let opened = match fs::openat(into, disk::bytes_path(name), flags, mode) {
        Err(Errno::EXIST) => {
            fs::unlinkat(into, disk::bytes_path(name), AtFlags::empty())?;
            fs::openat(into, disk::bytes_path(name), flags, mode)
        }
        other => other,
    };
    Ok(File::from(opened?))
}
