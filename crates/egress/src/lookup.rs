//! How names become addresses.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};

/// Finds the addresses of a name. It may block; the proxy calls it on threads that may.
pub trait NameLookup: Send + Sync {
    /// All addresses of a name.
    fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

impl NameLookup for SystemLookup {
    fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
    }
}
