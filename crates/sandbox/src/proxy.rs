//! The sockets by which a command reaches a proxy outside its network namespace.

use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;

use crate::error::{Result, SandboxError};

/// More ports than this have no sockets of their own: what the init makes has a fixed size.
pub const MOST_PORTS: usize = 64;
/// Where the proxy is, unless somebody allowed that port elsewhere.
const PROXY: u16 = 3128;
/// Where the name server is.
pub(crate) const NAMES: u16 = 53;

/// Where a command finds the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyPorts {
    /// For programs that know proxies, at 127.0.0.1.
    pub(crate) proxy: u16,
    /// For programs that know none, at every address.
    pub(crate) direct: Vec<u16>,
}

impl ProxyPorts {
    /// Ports for programs that know no proxies, and another for those that do. The name server has its port to itself.
    pub fn new(direct: &[u16]) -> Result<Self> {
        let mut direct: Vec<u16> = direct.iter().copied().filter(|port| *port != NAMES).collect();
        direct.sort_unstable();
        direct.dedup();
        if direct.len() > MOST_PORTS {
            return Err(SandboxError::TooManyPorts(direct.len()));
        }
        let proxy = (PROXY..).find(|port| direct.binary_search(port).is_err()).unwrap_or(PROXY);
        Ok(Self { proxy, direct })
    }

    /// Where the proxy is, at 127.0.0.1.
    pub fn proxy(&self) -> u16 {
        self.proxy
    }
}

impl Default for ProxyPorts {
    fn default() -> Self {
        Self { proxy: PROXY, direct: Vec::new() }
    }
}

/// Sockets in the network namespace of a command. Whoever holds them accepts from outside.
#[derive(Debug, Default)]
pub struct NetworkSockets {
    /// For programs that know proxies.
    pub proxy: Option<TcpListener>,
    /// For programs that know none: every address leads to these.
    pub direct: Vec<TcpListener>,
    /// For questions to a name server.
    pub names: Option<UdpSocket>,
    /// The same by TCP.
    pub names_tcp: Option<TcpListener>,
}

/// What a socket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SocketUse {
    Proxy,
    Direct,
    Names,
    NamesTcp,
}

impl NetworkSockets {
    /// Takes one that the init made.
    pub(crate) fn add(&mut self, number: i64, socket: OwnedFd) {
        let all = [SocketUse::Proxy, SocketUse::Direct, SocketUse::Names, SocketUse::NamesTcp];
        match all.into_iter().find(|one| *one as i64 == number) {
            Some(SocketUse::Proxy) => self.proxy = Some(socket.into()),
            Some(SocketUse::Direct) => self.direct.push(socket.into()),
            Some(SocketUse::Names) => self.names = Some(socket.into()),
            Some(SocketUse::NamesTcp) => self.names_tcp = Some(socket.into()),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_has_two_sockets() {
        let ports = ProxyPorts::new(&[443, 80, 53, 443, 3128]).unwrap();
        assert_eq!((ports.proxy(), ports.direct), (3129, vec![80, 443, 3128]));
        let many: Vec<u16> = (1000..1065).collect();
        assert!(matches!(ProxyPorts::new(&many), Err(SandboxError::TooManyPorts(65))));
        assert!(ProxyPorts::new(&many[1..]).is_ok());
    }
}
