//! A rename that is asked for.

use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

use super::resolve::Entry;

/// Two names on the workspace's mount, the first one that of a directory unless they are to be exchanged.
pub(super) struct Rename {
    pub(super) from: Entry,
    pub(super) to: Entry,
    pub(super) flags: RenameFlags,
}

impl Rename {
    /// Has the kernel do it. What it refuses for want of a right it refuses before it says that it cannot.
    pub(super) fn natively(&self) -> Result<(), Errno> {
        let (from, to) = (&self.from, &self.to);
        renameat_with(&from.directory, &from.name, &to.directory, &to.name, self.flags)
    }
}
