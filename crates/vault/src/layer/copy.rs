//! Copying what was written, where somebody may go on writing.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use offshoot_host::disk::{join, split_last};
use offshoot_host::{Mtime, Xattr, disk};
use rustix::fs::{self, AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, XattrFlags};

use super::access::{Access, Reach};
use super::leftover::LeftoverShape;
use super::place::PlacedLinks;
use super::running::RunningExec;
use super::upper::Upper;
use super::written::{Kind, OPAQUE, UpperDir, UpperEntry, Written, inode};
use crate::error::{Result, io_error};
use crate::vault::Vault;

impl Upper {
    /// Copies what was written so far into a new directory of the same base, for when somebody may still write to this one,
    /// which is removed.
    pub fn into_copy(mut self, vault: &Vault, access: &dyn Access) -> Result<Self> {
        let copied = self.copy(vault, access);
        if copied.is_err() {
            self.stage.set_aside();
        }
        copied
    }

    fn copy(&mut self, vault: &Vault, access: &dyn Access) -> Result<Self> {
        let reach = Reach::new(&self.dir(), access)?;
        let mut written = Written::scan(&reach)?;
        self.placed.mark_untouched(&mut written.dirs);
        let mut copy = vault.new_upper(&self.base)?;
        copy.skipped = [self.skipped.as_slice(), &written.skipped].concat();
        let dir = copy.dir();
        let top = disk::open_dir(&dir).map_err(io_error("open", &dir))?;
        Copier { reach: &reach, top, copied: HashMap::new() }.run(&written.dirs)?;
        self.pass_note_on(&mut copy)?;
        Ok(copy)
    }
}

impl RunningExec {
    /// Copies what the command has written so far, as a difference to the state that it started from. It goes on, and what it writes
    /// meanwhile may be there or not.
    pub fn copy(&self, vault: &Vault, access: &dyn Access) -> Result<Upper> {
        let _held = vault.hold()?;
        let reach = Reach::new(&self.files_dir(LeftoverShape::Difference), access)?;
        let mut written = Written::scan(&reach)?;
        PlacedLinks::read(&self.place)?.mark_untouched(&mut written.dirs);
        let mut copy = vault.new_upper(&self.note.root)?;
        copy.skipped = written.skipped;
        let dir = copy.dir();
        let top = disk::open_dir(&dir).map_err(io_error("open", &dir))?;
        Copier { reach: &reach, top, copied: HashMap::new() }.run(&written.dirs)?;
        Ok(copy)
    }
}

struct Copier<'a> {
    reach: &'a Reach<'a>,
    top: OwnedFd,
    /// Where the first name of each inode was put.
    copied: HashMap<(u64, u64), Vec<u8>>,
}

impl Copier<'_> {
    fn run(&mut self, dirs: &[UpperDir]) -> Result<()> {
        for dir in dirs {
            self.directory(dir).map_err(io_error("copy", &self.reach.host(&dir.path)))?;
        }
        // From the end: the mode of a directory may forbid to write to it.
        for dir in dirs.iter().rev() {
            self.finish(dir).map_err(io_error("copy", &self.reach.host(&dir.path)))?;
        }
        Ok(())
    }

    fn directory(&mut self, dir: &UpperDir) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let at = disk::open_below(self.top.as_fd(), &dir.path, flags)?;
        for entry in &dir.entries {
            match self.entry(at.as_fd(), dir, entry) {
                // It went away since it was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other?,
            }
        }
        Ok(())
    }

    fn entry(&mut self, at: BorrowedFd<'_>, dir: &UpperDir, entry: &UpperEntry) -> io::Result<()> {
        let (name, path) = (disk::bytes_path(&entry.name), join(&dir.path, &entry.name));
        if let Some(first) = entry.linked().and_then(|stat| self.copied.get(&inode(stat))) {
            let (folder, first) = split_last(first);
            let flags = OFlags::PATH | OFlags::DIRECTORY;
            let from = disk::open_below(self.top.as_fd(), folder, flags)?;
            return Ok(fs::linkat(from, disk::bytes_path(first), at, name, AtFlags::empty())?);
        }
        match &entry.kind {
            Kind::Directory(_) => return Ok(fs::mkdirat(at, name, Mode::RWXU)?),
            Kind::Untouched => return Ok(()),
            // What is not kept hides what is below it, and so does a whiteout; over nothing neither does anything.
            Kind::Whiteout | Kind::Refused => {
                let kind = FileType::CharacterDevice;
                return Ok(fs::mknodat(at, name, kind, Mode::empty(), 0)?);
            }
            Kind::File(stat) => self.file(at, &path, entry, stat)?,
            Kind::Symlink(stat, target) => {
                fs::symlinkat(disk::bytes_path(target), at, name)?;
                finish_nameless(at, &entry.name, stat)?;
            }
            Kind::Fifo(stat) => {
                fs::mknodat(at, name, FileType::Fifo, Mode::RUSR, 0)?;
                finish_nameless(at, &entry.name, stat)?;
                fs::chmodat(at, name, Mode::from_raw_mode(stat.st_mode), AtFlags::empty())?;
            }
        }
        if let Some(stat) = entry.linked() {
            self.copied.insert(inode(stat), path);
        }
        Ok(())
    }

    fn file(
        &self,
        at: BorrowedFd<'_>,
        path: &[u8],
        entry: &UpperEntry,
        stat: &Stat,
    ) -> io::Result<()> {
        let source = File::from(self.reach.open(path, OFlags::RDONLY)?.fd);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let copy = File::from(fs::openat(at, disk::bytes_path(&entry.name), flags, mode)?);
        disk::copy_contents(&source, &copy, source.metadata()?.len())?;
        finish_open(copy.as_fd(), stat, &entry.xattrs)
    }

    fn finish(&self, dir: &UpperDir) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let fd = match disk::open_below(self.top.as_fd(), &dir.path, flags) {
            Err(rustix::io::Errno::NOENT) => return Ok(()),
            other => other?,
        };
        if dir.opaque {
            fs::fsetxattr(&fd, disk::bytes_path(OPAQUE).as_os_str(), b"y", XattrFlags::empty())?;
        }
        finish_open(fd.as_fd(), &dir.stat, &dir.xattrs)
    }
}

/// Gives a copy the metadata of what it was copied from.
fn finish_open(fd: BorrowedFd<'_>, stat: &Stat, xattrs: &[Xattr]) -> io::Result<()> {
    disk::set_xattrs(fd, xattrs, true)?;
    let made = fs::fstat(fd)?;
    // The owner first: changing it clears the set-id bits of the mode.
    if (made.st_uid, made.st_gid) != (stat.st_uid, stat.st_gid) {
        fs::fchown(fd, Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)))?;
    }
    fs::fchmod(fd, Mode::from_raw_mode(stat.st_mode))?;
    Ok(fs::futimens(fd, &disk::timestamps(Mtime::of(stat)))?)
}

/// The same for what cannot be opened: links and pipes.
fn finish_nameless(at: BorrowedFd<'_>, name: &[u8], stat: &Stat) -> io::Result<()> {
    let path = disk::bytes_path(name);
    let made = fs::statat(at, path, AtFlags::SYMLINK_NOFOLLOW)?;
    if (made.st_uid, made.st_gid) != (stat.st_uid, stat.st_gid) {
        let (uid, gid) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
        fs::chownat(at, path, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)?;
    }
    disk::set_mtime_at(at, name, Mtime::of(stat))
}
