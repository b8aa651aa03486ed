//! Which addresses may be connected to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address that a name led to.
#[derive(Debug, Clone, Copy)]
pub struct A2aAddress<'a> {
    /// The name, or the number as it was written.
    pub host: &'a str,
    /// The number. IPv4 within IPv6 is IPv4 here.
    pub ip: IpAddr,
    /// The port.
    pub port: u16,
    /// Whether the connection is encrypted.
    pub is_tls: bool,
}

/// Says which addresses may be connected to. It is asked for every connection, after the name was looked up.
pub trait A2aAddressPolicy: Send + Sync {
    /// Whether this one may.
    fn permits(&self, address: &A2aAddress<'_>) -> bool;
}

/// Policies that suit most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum A2aReach {
    /// This machine alone.
    Loopback,
    /// Encrypted connections to public addresses: none of this machine, of private networks, or of special use.
    Public,
    /// Encrypted connections anywhere, and others to this machine.
    Encrypted,
}

impl A2aAddressPolicy for A2aReach {
    fn permits(&self, address: &A2aAddress<'_>) -> bool {
        match self {
            Self::Loopback => address.ip.is_loopback(),
            Self::Public => address.is_tls && is_public(address.ip),
            Self::Encrypted => address.is_tls || address.ip.is_loopback(),
        }
    }
}

fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let is_special = ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_documentation()
        || a == 0
        || a >= 240
        // Of providers' own networks, of assignments of the IETF, of relays, and of benchmarks.
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a, b, c) == (192, 88, 99)
        || (a == 198 && (b == 18 || b == 19));
    !is_special
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    // Global unicast, without what leads to IPv4 addresses and what is for examples and benchmarks.
    let is_special = first == 0x2002
        || (first == 0x2001 && second < 0x0200)
        || (first, second) == (0x2001, 0x0db8)
        || (first == 0x3fff && second < 0x1000);
    (0x2000..0x4000).contains(&first) && !is_special
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permits(reach: A2aReach, ip: &str, is_tls: bool) -> bool {
        let ip: IpAddr = ip.parse().unwrap();
        reach.permits(&A2aAddress { host: "h", ip: ip.to_canonical(), port: 1, is_tls })
    }

    #[test]
    fn public_is_public() {
        for ip in
            ["8.8.8.8", "1.1.1.1", "100.63.0.1", "172.32.0.1", "2606:4700::1", "::ffff:8.8.8.8"]
        {
            assert!(permits(A2aReach::Public, ip, true), "{ip}");
            assert!(!permits(A2aReach::Public, ip, false), "{ip}");
            assert!(!permits(A2aReach::Loopback, ip, true), "{ip}");
        }
        for ip in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "203.0.113.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::10.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:a00:1::",
            "fc00::1",
            "fd00::1",
            "fe80::1",
            "ff02::1",
        ] {
            assert!(!permits(A2aReach::Public, ip, true), "{ip}");
        }
    }

    #[test]
    fn the_clear_stays_here() {
        assert!(permits(A2aReach::Encrypted, "127.0.0.1", false));
        assert!(permits(A2aReach::Encrypted, "::1", false));
        assert!(permits(A2aReach::Encrypted, "10.0.0.1", true));
        assert!(!permits(A2aReach::Encrypted, "10.0.0.1", false));
        assert!(permits(A2aReach::Loopback, "127.9.9.9", false));
        assert!(!permits(A2aReach::Loopback, "0.0.0.0", true));
    }
}
