//! The sandbox's init as the vault's hand among files that modes close.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Instant;

use offshoot_sandbox::Keeper;
use offshoot_vault::Access;
use rustix::fs::OFlags;

/// Opens what lies below a directory that a command of this user wrote, when the command and its init are gone.
#[derive(Debug)]
pub(crate) struct LeftoverAccess(Option<Keeper>);

impl LeftoverAccess {
    /// For a directory. Root needs nobody, and where the kernel lets nobody have namespaces only what is open can be opened.
    pub(crate) fn new(directory: &Path) -> Self {
        match rustix::process::geteuid().is_root() {
            true => Self(None),
            false => Self(offshoot_sandbox::keep(directory).ok()),
        }
    }
}

impl Access for LeftoverAccess {
    fn open(&self, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
        match &self.0 {
            Some(keeper) => keeper.open(path, flags),
            None => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}

/// Opens through the init, which has the capabilities of the user namespace.
pub(super) struct KeeperAccess<'a> {
    pub(super) keeper: &'a Keeper,
    /// Until when there is time for what was written.
    pub(super) until: Option<Instant>,
}

impl Access for KeeperAccess<'_> {
    fn open(&self, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
        self.keeper.open(path, flags)
    }

    fn until(&self) -> Option<Instant> {
        self.until
    }
}
