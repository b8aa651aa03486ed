//! Moving a directory that the kernel cannot move.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat, fstat, openat, renameat_with, statat};
use rustix::io::Errno;

use super::exchange;
use super::inside::{self, Identity};
use super::powers::Raised;
use super::remove::{self, Second};
use super::rename::Rename;
use super::resolve::Entry;
use super::scene::Shared;
use super::tree::{self, Linked, Means, Opened};
use crate::sys::seccomp;

const POINT: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// What an owner needs to list and find.
const LOOK: u32 = 0o500;

/// Carries out a rename; the answer is that of the call.
pub(super) fn relocate(shared: &Shared, id: u64, rename: &Rename) -> Result<(), Errno> {
    let wanted = || seccomp::waits(shared.listener.as_fd(), id);
    if !wanted() {
        return Err(Errno::INTR);
    }
    // Another directory may have moved since this was asked for, and every right is looked at again.
    match rename.natively() {
        Err(Errno::XDEV) => {}
        other => return other,
    }
    // From here on only the contents are touched, to which a rename needs no right.
    let raised = Raised::new();
    let means = Means {
        device: fstat(&rename.from.directory)?.st_dev,
        opens_everything: raised.opens_everything,
        wanted: &wanted,
    };
    let done = match rename.flags.contains(RenameFlags::EXCHANGE) {
        true => exchange::exchange(shared, &means, rename),
        false => replace(shared, &means, rename),
    };
    match done {
        // The kernel's own answer: a tree that is too deep for the descriptors of one process stays where it is.
        Err(Errno::MFILE | Errno::NFILE) => Err(Errno::XDEV),
        other => other,
    }
}

/// Moves a directory to a name that is free, or that of an empty directory.
fn replace(shared: &Shared, means: &Means<'_>, rename: &Rename) -> Result<(), Errno> {
    let (from, to) = (&rename.from, &rename.to);
    refuse_full(means, to)?;
    refuse_occupied(shared, from)?;
    let double = Double::build(means, from, to.directory.as_fd())?;
    if !(means.wanted)() {
        double.abandon(means);
        return Err(Errno::INTR);
    }
    let flags = rename.flags;
    let published = renameat_with(&to.directory, &double.name, &to.directory, &to.name, flags);
    if let Err(errno) = published {
        double.abandon(means);
        return Err(errno);
    }
    let second = Second { parent: to.directory.as_fd(), path: &[&to.name] };
    remove::remove(means, from.directory.as_fd(), &from.name, second, &double.linked)
}

/// The kernel says that it cannot move a directory before it looks whether the target is empty.
fn refuse_full(means: &Means<'_>, to: &Entry) -> Result<(), Errno> {
    let found = match to.stat() {
        Err(Errno::NOENT) => return Ok(()),
        other => other?,
    };
    if !tree::is_directory(&found) {
        return Err(Errno::NOTDIR);
    }
    let mut opened = Opened::default();
    let listed = tree::open(means, to.directory.as_fd(), &to.name, LOOK, &mut opened)
        .and_then(|directory| tree::names(directory.as_fd()));
    opened.close();
    if listed?.is_empty() { Ok(()) } else { Err(Errno::NOTEMPTY) }
}

/// A process would find itself in a directory that is gone, which no rename does to it.
pub(super) fn refuse_occupied(shared: &Shared, entry: &Entry) -> Result<(), Errno> {
    let found = entry.stat()?;
    let identity = Identity { device: found.st_dev, inode: found.st_ino };
    if tree::is_directory(&found) && inside::is_occupied(shared.scene.init, identity) {
        return Err(Errno::BUSY);
    }
    Ok(())
}

/// A second tree under a name of its own, until it gets the one it is for.
pub(super) struct Double<'a> {
    /// Where it is.
    pub(super) parent: BorrowedFd<'a>,
    pub(super) name: CString,
    pub(super) linked: Linked,
    opened: Opened,
}

impl<'a> Double<'a> {
    /// Makes one of a directory. Where that fails nothing is left of it.
    pub(super) fn build(
        means: &Means<'_>,
        entry: &Entry,
        parent: BorrowedFd<'a>,
    ) -> Result<Self, Errno> {
        let name = hidden_name()?;
        let (linked, opened) = (Linked::default(), Opened::default());
        let mut double = Self { parent, name, linked, opened };
        match double.fill(means, entry) {
            Ok(()) => Ok(double),
            Err(errno) => {
                double.abandon(means);
                Err(errno)
            }
        }
    }

    fn fill(&mut self, means: &Means<'_>, entry: &Entry) -> Result<(), Errno> {
        let (point, found) = point_at(means, entry)?;
        let directory =
            tree::open(means, entry.directory.as_fd(), &entry.name, LOOK, &mut self.opened)?;
        let opened = fstat(&directory)?;
        if (opened.st_dev, opened.st_ino) != (found.st_dev, found.st_ino) {
            return Err(Errno::BUSY);
        }
        drop(point);
        let second = tree::make(self.parent, &self.name)?;
        self.linked = tree::link(means, directory.as_fd(), second.as_fd(), &mut self.opened)?;
        tree::settle(directory.as_fd(), &found, second.as_fd())
    }

    /// Takes it away again, and leaves the first tree as it was.
    pub(super) fn abandon(self, means: &Means<'_>) {
        let _never_made = tree::discard(means, self.parent, &self.name).is_err();
        self.opened.close();
    }
}

/// A directory and what it is like, before anything is done to it.
fn point_at(means: &Means<'_>, entry: &Entry) -> Result<(OwnedFd, Stat), Errno> {
    let point = openat(&entry.directory, &entry.name, POINT, Mode::empty())?;
    let found = fstat(&point)?;
    if found.st_dev != means.device {
        return Err(Errno::BUSY);
    }
    Ok((point, found))
}

/// A name that nobody has.
pub(super) fn hidden_name() -> Result<CString, Errno> {
    let mut random = [0u8; 8];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let name = format!(".offshoot-moving-{:016x}", u64::from_ne_bytes(random));
    CString::new(name).map_err(|_| Errno::INVAL)
}

/// The inode that has a name.
pub(super) fn inode(parent: BorrowedFd<'_>, name: &CStr) -> Result<u64, Errno> {
    statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map(|found| found.st_ino)
}
