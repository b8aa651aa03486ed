//! Taking out of a layer what makes no difference and what is not kept.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use offshoot_host::{Mtime, disk};
use rustix::fs::{self, AtFlags, FileType, Mode};

use super::build::Fate;
use crate::error::{Result, io_error};
use crate::layer::access::Reach;
use crate::layer::written::{Kind, UpperDir, UpperEntry};

/// Makes the directory hold what is kept and nothing else. Modes and times of the directories stay as they were.
pub(super) fn trim(reach: &Reach<'_>, dirs: &[UpperDir], fates: &[Vec<Fate>]) -> Result<()> {
    // From the end: a directory goes after everything in it.
    for (dir, fates) in dirs.iter().zip(fates).rev() {
        if fates.iter().any(|fate| *fate != Fate::Kept) {
            trim_directory(reach, dir, fates).map_err(io_error("clear", &reach.host(&dir.path)))?;
        }
    }
    Ok(())
}

fn trim_directory(reach: &Reach<'_>, dir: &UpperDir, fates: &[Fate]) -> io::Result<()> {
    let fd = reach.open_dir(&dir.path)?;
    let mode = Mode::from_raw_mode(dir.stat.st_mode);
    // Owners may have closed it to themselves.
    let open_up = !mode.contains(Mode::WUSR | Mode::XUSR);
    if open_up {
        fs::fchmod(&fd, mode | Mode::RWXU)?;
    }
    for (entry, fate) in dir.entries.iter().zip(fates) {
        match fate {
            Fate::Kept => {}
            Fate::Same | Fate::Gone => remove(fd.as_fd(), entry)?,
            Fate::Hides => {
                remove(fd.as_fd(), entry)?;
                let name = disk::bytes_path(&entry.name);
                fs::mknodat(&fd, name, FileType::CharacterDevice, Mode::empty(), 0)?;
            }
        }
    }
    if open_up {
        fs::fchmod(&fd, mode)?;
    }
    Ok(fs::futimens(&fd, &disk::timestamps(Mtime::of(&dir.stat)))?)
}

fn remove(dir: BorrowedFd<'_>, entry: &UpperEntry) -> io::Result<()> {
    let flags = match entry.kind {
        Kind::Directory(_) => AtFlags::REMOVEDIR,
        _ => AtFlags::empty(),
    };
    Ok(fs::unlinkat(dir, disk::bytes_path(&entry.name), flags)?)
}
