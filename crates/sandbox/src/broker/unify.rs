//! Making a file of a lower layer one of the upper alone, before it gets a second name.
//!
//! overlayfs gives a file that it copied up the inode number of its lower layer for as long as it remembers that layer.
//! A name that the file gets now is looked up anew and has the number of the upper, because a mount in a user namespace
//! cannot find the lower layer by a name that is not there. Two names of one file with two numbers are two files for
//! every program that looks: `cp old new` would empty both. So the first name is looked up anew too: it is taken away and
//! put back. In between, it is a symbolic link to the same file under a third name, through which others read and write.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, RenameFlags, Stat, fstat, linkat, readlinkat, renameat_with, statat, symlinkat,
    unlinkat, utimensat,
};
use rustix::io::Errno;

use super::powers::Raised;
use super::relocate::{hidden_name, inode};
use super::resolve::Entry;
use super::scene::Shared;
use super::tree::times;
use crate::sys::seccomp::change_mode;

/// Whether a file has the inode number that another name for it would get: it lies in the upper and nowhere else.
pub(super) fn is_one(shared: &Shared, entry: &Entry, found: &Stat) -> bool {
    let Some(upper) = &shared.scene.upper else { return false };
    let own = format!("/proc/self/fd/{}", entry.directory.as_raw_fd());
    let Ok(parent) = readlinkat(CWD, own, Vec::new()) else { return false };
    let parent = Path::new(std::ffi::OsStr::from_bytes(parent.to_bytes()));
    let mut places = shared.scene.places.iter();
    let below = places.find_map(|(place, own)| Some(own.join(parent.strip_prefix(place).ok()?)));
    let Some(below) = below else { return false };
    let path: PathBuf = below.join(std::ffi::OsStr::from_bytes(entry.name.to_bytes()));
    let there = statat(upper, path, AtFlags::SYMLINK_NOFOLLOW);
    there.is_ok_and(|there| there.st_ino == found.st_ino)
}

/// Has a name be looked up anew. Where it cannot be done the name is as before.
pub(super) fn unify(entry: &Entry) -> Result<(), Errno> {
    let raised = Raised::new();
    let directory = entry.directory.as_fd();
    let before = fstat(directory)?;
    let mode = before.st_mode & 0o7777;
    // A link takes no right to the directory that the first name is in.
    let closed = !raised.opens_everything && mode & 0o300 != 0o300;
    if closed {
        change_mode(directory, mode | 0o300)?;
    }
    let done = look_up_anew(directory, &entry.name);
    if closed {
        let _gone = change_mode(directory, mode).is_err();
    }
    // A link changes nothing in the directory of the first name.
    let _gone = utimensat(directory, c"", &times(&before), AtFlags::EMPTY_PATH).is_err();
    done
}

fn look_up_anew(directory: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    let number = inode(directory, name)?;
    let file = hidden_name()?;
    linkat(directory, name, directory, &file, AtFlags::empty())?;
    let swapped = match inode(directory, &file)? == number {
        true => Ok(()),
        false => swap(directory, name, &file, number),
    };
    // The file by its third name, or the link that stood for it.
    let removed = unlinkat(directory, &file, AtFlags::empty());
    swapped.and(removed)
}

fn swap(directory: BorrowedFd<'_>, name: &CStr, file: &CStr, number: u64) -> Result<(), Errno> {
    let exchange = |one: &CStr, other: &CStr| {
        renameat_with(directory, one, directory, other, RenameFlags::EXCHANGE)
    };
    let link = hidden_name()?;
    symlinkat(file, directory, &link)?;
    let stand_in = inode(directory, &link)?;
    let mut swapped = exchange(&link, name);
    if swapped.is_ok() && inode(directory, &link)? != number {
        // Somebody has put another file there, which stays.
        exchange(&link, name)?;
        swapped = Err(Errno::STALE);
    } else if swapped.is_ok() {
        swapped = exchange(file, name);
        if swapped.is_ok() && inode(directory, file)? != stand_in {
            exchange(file, name)?;
            swapped = Err(Errno::STALE);
        }
    }
    unlinkat(directory, &link, AtFlags::empty())?;
    swapped
}
