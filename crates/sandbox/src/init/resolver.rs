//! Where programs find their name server.

use std::os::fd::AsFd;

use rustix::fs::unlink;
use rustix::io::Errno;

use super::detached_mount::{attach, clone_tree};
use super::files::{make_directories, write};
use crate::script::ResolverScript;

/// The name server of the proxy, and no other.
const CONTENT: &[u8] = b"nameserver 127.0.0.1\n";

/// Names the proxy as the name server, whatever is shown of the host there.
pub(super) fn put(script: &ResolverScript) -> Result<(), Errno> {
    let ResolverScript { path, parents, aside } = script;
    make_directories(parents);
    match rustix::fs::stat(c"/etc/resolv.conf") {
        Err(Errno::NOENT) => write(c"/etc/resolv.conf", CONTENT, None),
        // It is the host's: it can be covered and not written.
        _ => {
            write(aside, CONTENT, None)?;
            let mount = clone_tree(aside)?;
            attach(mount.as_fd(), path)?;
            unlink(aside.as_c_str())
        }
    }
}
