//! Where a peer is.

use std::fmt;
use std::str::FromStr;

use crate::error::IdentityError;

/// How bytes get to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerWay {
    /// TCP with TLS.
    Tls,
    /// QUIC.
    Quic,
    /// TCP without TLS, on loopback alone.
    Plain,
}

/// Where a peer is: `tls://host:port`, `quic://host:port` or `tcp://127.0.0.1:port`.
///
/// ```
/// use offshoot_transport::{PeerAddress, PeerWay};
///
/// let address: PeerAddress = "quic://[::1]:7000".parse()?;
/// assert_eq!((address.way, address.host.as_str(), address.port), (PeerWay::Quic, "::1", 7000));
/// # Ok::<(), offshoot_transport::IdentityError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PeerAddress {
    /// How bytes get there.
    pub way: PeerWay,
    /// A name or an IP address.
    pub host: String,
    /// A port.
    pub port: u16,
}

impl FromStr for PeerAddress {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, IdentityError> {
        let wrong = || IdentityError::Address(text.chars().take(200).collect());
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let way = match scheme {
            "tls" => PeerWay::Tls,
            "quic" => PeerWay::Quic,
            "tcp" => PeerWay::Plain,
            _ => return Err(wrong()),
        };
        let (host, port) = rest.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_error| wrong())?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        let host = match bare {
            Some(host) if host.parse::<std::net::Ipv6Addr>().is_ok() => host,
            None if !host.is_empty() && host.bytes().all(is_host) => host,
            _ => return Err(wrong()),
        };
        Ok(Self { way, host: host.to_owned(), port })
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.way {
            PeerWay::Tls => "tls",
            PeerWay::Quic => "quic",
            PeerWay::Plain => "tcp",
        };
        let Self { host, port, .. } = self;
        match host.contains(':') {
            true => write!(formatter, "{scheme}://[{host}]:{port}"),
            false => write!(formatter, "{scheme}://{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_as_they_are_read() {
        for good in ["tls://a.example:1", "quic://[::1]:65535", "tcp://127.0.0.1:0"] {
            assert_eq!(good.parse::<PeerAddress>().unwrap().to_string(), good);
        }
        for bad in ["", "a:1", "tls://a", "tls://:1", "tls://a:x", "udp://a:1", "tls://[a]:1"] {
            assert!(bad.parse::<PeerAddress>().is_err(), "{bad}");
        }
    }
}
