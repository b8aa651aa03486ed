//! Taking the first tree away once the second one is in place, without losing what others did to it meanwhile.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::tree::{self, Found, Linked, Means, Opened};

/// How often a directory is emptied again into which somebody keeps putting names.
const ATTEMPTS: usize = 16;
/// All that an owner can have.
const ALL: u32 = 0o700;

/// Removes the directory `name`, of which the one at `second` is the second tree.
pub(super) fn remove(
    means: &Means<'_>,
    parent: BorrowedFd<'_>,
    name: &CStr,
    second: Second<'_>,
    linked: &Linked,
) -> Result<(), Errno> {
    empty(means, parent, name, second, linked)?;
    for _ in 0..ATTEMPTS {
        match unlinkat(parent, name, AtFlags::REMOVEDIR) {
            // What is in it now came after everything else was taken away.
            Err(Errno::NOTEMPTY | Errno::EXIST) => {
                empty(means, parent, name, second, &Linked::default())?;
            }
            Err(Errno::NOENT) => return Ok(()),
            other => return other,
        }
    }
    Err(Errno::NOTEMPTY)
}

/// Where a second directory is: its name in a parent, which may be closed to its owner.
#[derive(Clone, Copy)]
pub(super) struct Second<'a> {
    pub(super) parent: BorrowedFd<'a>,
    pub(super) path: &'a [&'a CStr],
}

impl Second<'_> {
    /// Does something in the directory.
    fn within(
        &self,
        means: &Means<'_>,
        act: impl FnOnce(BorrowedFd<'_>) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let mut opened = Opened::default();
        let mut here = None;
        for name in self.path {
            let parent = here.as_ref().map_or(self.parent, |fd: &std::os::fd::OwnedFd| fd.as_fd());
            here = Some(tree::open(means, parent, name, ALL, &mut opened)?);
        }
        let outcome = act(here.as_ref().map_or(self.parent, |fd| fd.as_fd()));
        opened.close();
        outcome
    }
}

/// Takes away what was linked, and carries over what came later.
pub(super) fn empty(
    means: &Means<'_>,
    parent: BorrowedFd<'_>,
    name: &CStr,
    second: Second<'_>,
    linked: &Linked,
) -> Result<(), Errno> {
    let mut opened = Opened::default();
    let directory = tree::open(means, parent, name, ALL, &mut opened)?;
    let directory = directory.as_fd();
    let names: BTreeSet<CString> = tree::names(directory)?.into_iter().collect();
    for name in &names {
        let taken = take(means, directory, name, second, linked.0.get(name));
        match (taken, linked.0.get(name)) {
            // Somebody removed it at this moment.
            (Err(Errno::NOENT), Some(found)) => forget(means, name, found, second)?,
            (Err(Errno::NOENT), None) => {}
            (other, _) => other?,
        }
    }
    for (name, found) in &linked.0 {
        if !names.contains(name) {
            forget(means, name, found, second)?;
        }
    }
    Ok(())
}

/// Takes one name away, of which `linked` is what had it before.
fn take(
    means: &Means<'_>,
    directory: BorrowedFd<'_>,
    name: &CString,
    second: Second<'_>,
    linked: Option<&Found>,
) -> Result<(), Errno> {
    let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match linked {
        Some(Found::File(inodes)) if inodes.contains(&found.st_ino) => {
            unlinkat(directory, name, AtFlags::empty())
        }
        Some(Found::Directory(inode, inner)) if *inode == found.st_ino => {
            let path = [second.path, &[name.as_c_str()]].concat();
            let second = Second { parent: second.parent, path: &path };
            remove(means, directory, name, second, inner)
        }
        // Somebody put this here after its directory was looked at; it goes where it would have gone.
        _ => second.within(means, |second| renameat(directory, name, second, name)),
    }
}

/// Somebody removed this after it was linked, or moved it away, so it is not to be here.
fn forget(
    means: &Means<'_>,
    name: &CString,
    found: &Found,
    second: Second<'_>,
) -> Result<(), Errno> {
    let flags = match found {
        Found::File(_) => AtFlags::empty(),
        Found::Directory(_, inner) => {
            let path = [second.path, &[name.as_c_str()]].concat();
            let within = Second { parent: second.parent, path: &path };
            for (name, found) in &inner.0 {
                forget(means, name, found, within)?;
            }
            AtFlags::REMOVEDIR
        }
    };
    let forgotten = second.within(means, |second| {
        let there = statat(second, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match found {
            // It is another file by now.
            Found::File(inodes) if !inodes.contains(&there.st_ino) => Ok(()),
            _ => unlinkat(second, name, flags),
        }
    });
    match forgotten {
        // It is gone here too, or something else is in it by now.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
        other => other,
    }
}
