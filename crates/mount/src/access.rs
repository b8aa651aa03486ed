//! The sandbox's init as the vault's hand among files that modes close.

use std::io;
use std::os::fd::OwnedFd;

use offshoot_sandbox::Keeper;
use offshoot_vault::Access;
use rustix::fs::OFlags;

/// Opens through the init, which has the capabilities of the user namespace.
pub(crate) struct KeeperAccess<'a>(pub(crate) &'a Keeper);

impl Access for KeeperAccess<'_> {
    fn open(&self, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
        self.0.open(path, flags)
    }
}
