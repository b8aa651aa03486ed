//! Exchanging two names where the kernel cannot move what has one of them.
//!
//! Everything gets a second name before anything loses its first, so at no moment is something nowhere.

use std::ffi::CStr;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, RenameFlags, linkat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

use super::relocate::{Double, hidden_name, inode, refuse_occupied};
use super::remove::{self, Second};
use super::rename::Rename;
use super::resolve::Entry;
use super::scene::Shared;
use super::tree::{self, Means};

/// Something under a second name, beside the name that it is to get.
enum Spare<'a> {
    Directory(Double<'a>),
    File { beside: &'a Entry, name: std::ffi::CString, inodes: [u64; 2] },
}

pub(super) fn exchange(shared: &Shared, means: &Means<'_>, rename: &Rename) -> Result<(), Errno> {
    let (one, other) = (&rename.from, &rename.to);
    refuse_occupied(shared, one)?;
    refuse_occupied(shared, other)?;
    let first = Spare::make(means, one, other)?;
    let second = match Spare::make(means, other, one) {
        Ok(second) => second,
        Err(errno) => {
            first.abandon(means);
            return Err(errno);
        }
    };
    if !(means.wanted)() {
        first.abandon(means);
        second.abandon(means);
        return Err(Errno::INTR);
    }
    // Both are whole under second names; what follows is carried on to its end, whatever happens on the way.
    let there = put(means, &first, other, &second, second.name());
    let here = put(means, &second, one, &first, &other.name);
    there.and(here)
}

impl<'a> Spare<'a> {
    fn make(means: &Means<'_>, entry: &Entry, beside: &'a Entry) -> Result<Self, Errno> {
        let found = entry.stat()?;
        if tree::is_directory(&found) {
            return Double::build(means, entry, beside.directory.as_fd()).map(Self::Directory);
        }
        let name = hidden_name()?;
        let empty = AtFlags::empty();
        linkat(&entry.directory, &entry.name, &beside.directory, &name, empty)?;
        let second = inode(beside.directory.as_fd(), &name)?;
        Ok(Self::File { beside, name, inodes: [found.st_ino, second] })
    }

    fn name(&self) -> &CStr {
        match self {
            Self::Directory(double) => &double.name,
            Self::File { name, .. } => name,
        }
    }

    fn abandon(self, means: &Means<'_>) {
        match self {
            Self::Directory(double) => double.abandon(means),
            Self::File { beside, name, .. } => {
                let _gone = unlinkat(&beside.directory, &name, AtFlags::empty()).is_err();
            }
        }
    }
}

/// Gives a spare its name. What had it until now is whole as `old`, by the name `old_name`.
fn put(
    means: &Means<'_>,
    spare: &Spare<'_>,
    name: &Entry,
    old: &Spare<'_>,
    old_name: &CStr,
) -> Result<(), Errno> {
    let parent = name.directory.as_fd();
    match old {
        Spare::Directory(double) => {
            let second = Second { parent: double.parent, path: &[old_name] };
            remove::empty(means, parent, &name.name, second, &double.linked)?;
            if let Spare::File { .. } = spare {
                unlinkat(parent, &name.name, AtFlags::REMOVEDIR)?;
            }
            renameat(parent, spare.name(), parent, &name.name)
        }
        Spare::File { inodes, .. } => {
            renameat_with(parent, spare.name(), parent, &name.name, RenameFlags::EXCHANGE)?;
            // What had the name has the spare's now, and one more beside the other name.
            match inodes.contains(&inode(parent, spare.name())?) {
                true => unlinkat(parent, spare.name(), AtFlags::empty()),
                false => Ok(()),
            }
        }
    }
}
