//! Everything of a base layer but the bytes of its files: directories, links, pipes, further names.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use offshoot_host::disk::{join, split_last};
use offshoot_host::workers::share;
use offshoot_host::{Mtime, disk};
use rayon::prelude::*;
use rustix::fs::{self, AtFlags, FileType, Mode};

use super::Pass;
use crate::error::{Result, io_error};
use crate::import::content::FileContent;
use crate::import::scan::{LinkedNames, ScannedBody, ScannedDir, ScannedEntry};

impl Pass<'_> {
    /// Makes the directories, and in each what has no bytes to be read.
    pub(super) fn make_folders(&self) -> Result<()> {
        for level in &self.scanned.levels {
            let dirs = share(&self.scanned.dirs[level.clone()]);
            dirs.try_for_each(|dir| self.fill_folder(dir))?;
        }
        Ok(())
    }

    fn fill_folder(&self, dir: &ScannedDir) -> Result<()> {
        if dir.absent {
            return Ok(());
        }
        let fill = || -> io::Result<()> {
            let at = self.open_target(&dir.path)?;
            for entry in dir.entries.iter().filter(|entry| self.scanned.is_there(entry)) {
                let is_first = || self.scanned.is_first_name(entry, &join(&dir.path, &entry.name));
                if !matches!(entry.body, ScannedBody::File) && is_first() {
                    self.make_entry(at.as_fd(), entry)?;
                    self.stage.count(0);
                }
            }
            Ok(())
        };
        fill().map_err(io_error("fill", &self.host(&dir.path)))
    }

    fn make_entry(&self, at: BorrowedFd<'_>, entry: &ScannedEntry) -> io::Result<()> {
        let name = disk::bytes_path(&entry.name);
        match &entry.body {
            ScannedBody::Directory(_) => return Ok(fs::mkdirat(at, name, Mode::RWXU)?),
            ScannedBody::Symlink(target) => fs::symlinkat(disk::bytes_path(target), at, name)?,
            ScannedBody::Fifo => {
                let mode = Mode::from_raw_mode(entry.stat.st_mode & 0o7777);
                fs::mknodat(at, name, FileType::Fifo, mode, 0)?;
                fs::chmodat(at, name, mode, AtFlags::empty())?;
            }
            ScannedBody::File => return Ok(()),
        }
        disk::set_mtime_at(at, &entry.name, Mtime::of(&entry.stat))
    }

    /// Gives directories their metadata, inner ones first: an outer one may then be closed to its owner.
    pub(super) fn finish_folders(&self) -> Result<()> {
        for level in self.scanned.levels.iter().rev() {
            let dirs = share(&self.scanned.dirs[level.clone()]);
            dirs.filter(|dir| !dir.absent).try_for_each(|dir| self.finish_folder(dir))?;
        }
        Ok(())
    }

    fn finish_folder(&self, dir: &ScannedDir) -> Result<()> {
        let set = || -> io::Result<()> {
            let at = self.open_target(&dir.path)?;
            disk::set_xattrs(at.as_fd(), &dir.xattrs, true)?;
            fs::futimens(&at, &disk::timestamps(Mtime::of(&dir.stat)))?;
            Ok(fs::fchmod(&at, Mode::from_raw_mode(dir.stat.st_mode & 0o7777))?)
        };
        set().map_err(io_error("set metadata of", &self.host(&dir.path)))
    }

    /// Gives the other names of each inode to its copy, and what was read to the names.
    pub(super) fn link_names(&self, files: &mut HashMap<Vec<u8>, FileContent>) -> Result<()> {
        for names in self.scanned.links.values() {
            if !names.of_file {
                self.link(&names.paths[0], &names.paths[1..])?;
                continue;
            }
            let Some((first, content)) = self.readable_name(names, files)? else { continue };
            let others = &names.paths[first + 1..];
            self.link(&names.paths[first], others)?;
            files.extend(others.iter().map(|name| (name.clone(), content.clone())));
        }
        Ok(())
    }

    /// The first name of an inode that could be read. Where the very first could not, the others are tried.
    fn readable_name(
        &self,
        names: &LinkedNames,
        files: &mut HashMap<Vec<u8>, FileContent>,
    ) -> Result<Option<(usize, FileContent)>> {
        if let Some(content) = files.get(&names.paths[0]) {
            return Ok(Some((0, content.clone())));
        }
        for (at, path) in names.paths.iter().enumerate().skip(1) {
            let (folder, name) = split_last(path);
            let Some((from, into)) = self.open_folder(folder)? else { continue };
            if let Some(content) = self.read_file(from.as_fd(), into.as_fd(), path, name)? {
                files.insert(path.clone(), content.clone());
                return Ok(Some((at, content)));
            }
        }
        Ok(None)
    }

    fn link(&self, first: &[u8], others: &[Vec<u8>]) -> Result<()> {
        let (folder, old) = split_last(first);
        let from = self.open_target(folder).map_err(io_error("open", &self.host(folder)))?;
        for name in others {
            let link = || -> io::Result<()> {
                let (folder, new) = split_last(name);
                let to = self.open_target(folder)?;
                let (old, new) = (disk::bytes_path(old), disk::bytes_path(new));
                Ok(fs::linkat(&from, old, &to, new, AtFlags::empty())?)
            };
            link().map_err(io_error("link", &self.host(name)))?;
            self.stage.count(0);
        }
        Ok(())
    }

    fn host(&self, path: &[u8]) -> PathBuf {
        self.stage.fs_dir().join(disk::bytes_path(path))
    }
}
