//! Addresses that lead to the machine itself, to networks around it or nowhere: no name may lead there unasked.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A range of addresses, such as `10.0.0.0/8`. A single address is a range too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cidr {
    base: IpAddr,
    length: u8,
}

/// Why a text is no range of addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CidrError(&'static str);

impl Cidr {
    /// A range from its first address and the number of bits that all its addresses share with it.
    pub fn new(base: IpAddr, length: u8) -> Result<Self, CidrError> {
        if base != base.to_canonical() {
            return Err(CidrError("write the IPv4 address in place of one of IPv6 that wraps it"));
        }
        if length > bits(base) {
            return Err(CidrError("the number behind the slash is too large"));
        }
        if masked(base, length) != base {
            return Err(CidrError("the address has bits behind those that the range shares"));
        }
        Ok(Self { base, length })
    }

    /// The range of one address alone.
    pub(crate) fn from_address(address: IpAddr) -> Result<Self, CidrError> {
        Self::new(address, bits(address))
    }

    /// Its first address.
    pub fn base(&self) -> IpAddr {
        self.base
    }

    /// The number of bits that all its addresses share.
    pub fn length(&self) -> u8 {
        self.length
    }

    /// 198.18.0.0/15, which no network routes: where made-up addresses are taken from.
    pub(crate) const BENCHMARKS: Self =
        Self { base: IpAddr::V4(Ipv4Addr::new(198, 18, 0, 0)), length: 15 };

    /// Whether an address lies in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.base.is_ipv4() == address.is_ipv4() && masked(address, self.length) == self.base
    }

    /// Whether all of another range lies in it.
    pub fn covers(&self, other: &Self) -> bool {
        other.length >= self.length && self.contains(other.base)
    }

    /// The address, where it is only one.
    pub fn single(&self) -> Option<IpAddr> {
        (self.length == bits(self.base)).then_some(self.base)
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let base: IpAddr =
            address.parse().map_err(|_| CidrError("what stands before the slash is no address"))?;
        let length = match length {
            None => bits(base),
            Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().map_err(|_| CidrError("the number behind the slash is too large"))?
            }
            Some(_) => return Err(CidrError("a number belongs behind the slash")),
        };
        Self::new(base, length)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.single() {
            Some(address) => address.fmt(f),
            None => write!(f, "{}/{}", self.base, self.length),
        }
    }
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn masked(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or(0);
            Ipv4Addr::from_bits(address.to_bits() & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length.min(128))).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
    }
}

/// A range that no name may lead to unless a rule lists addresses of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Special {
    pub(crate) range: Cidr,
    /// What it is, for people.
    pub(crate) what: &'static str,
}

const fn four(a: u8, b: u8, c: u8, d: u8, length: u8, what: &'static str) -> Special {
    Special { range: Cidr { base: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), length }, what }
}

const fn six(start: [u16; 8], length: u8, what: &'static str) -> Special {
    let [a, b, c, d, e, f, g, h] = start;
    let base = IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h));
    Special { range: Cidr { base, length }, what }
}

/// The ranges, the narrower before the wider. The registries of special addresses (IANA) are their source.
const SPECIAL: &[Special] = &[
    four(169, 254, 169, 254, 32, "the metadata service of a cloud"),
    four(168, 63, 129, 16, 32, "the metadata service of a cloud"),
    four(100, 100, 100, 200, 32, "the metadata service of a cloud"),
    four(255, 255, 255, 255, 32, "a broadcast address"),
    four(0, 0, 0, 0, 8, "an address of this machine"),
    four(10, 0, 0, 0, 8, "a private address"),
    four(100, 64, 0, 0, 10, "an address of a carrier's network"),
    four(127, 0, 0, 0, 8, "a loopback address"),
    four(169, 254, 0, 0, 16, "a link-local address"),
    four(172, 16, 0, 0, 12, "a private address"),
    four(192, 0, 0, 0, 24, "an address for protocols"),
    four(192, 0, 2, 0, 24, "an address for documentation"),
    four(192, 88, 99, 0, 24, "an address of a 6to4 relay"),
    four(192, 168, 0, 0, 16, "a private address"),
    four(198, 18, 0, 0, 15, "an address for benchmarks"),
    four(198, 51, 100, 0, 24, "an address for documentation"),
    four(203, 0, 113, 0, 24, "an address for documentation"),
    four(224, 0, 0, 0, 4, "a multicast address"),
    four(240, 0, 0, 0, 4, "a reserved address"),
    six([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128, "the metadata service of a cloud"),
    six([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128, "the metadata service of a cloud"),
    six([0; 8], 128, "an address of this machine"),
    six([0, 0, 0, 0, 0, 0, 0, 1], 128, "a loopback address"),
    six([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "an address of a local translator"),
    six([0x100, 0, 0, 0, 0, 0, 0, 0], 64, "an address that discards"),
    six([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "an address for documentation"),
    six([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "an address for documentation"),
    six([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, "an address for benchmarks"),
    six([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, "an address for segment routing"),
    six([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "a unique local address"),
    six([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "a link-local address"),
    six([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, "a site-local address"),
    six([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "a multicast address"),
];

/// Ranges of IPv6 whose addresses hold one of IPv4, which has to be looked at as well.
const WRAPPING: &[Special] = &[
    six([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, "an IPv4-mapped address of such a kind"),
    six([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, "an IPv4-translated address of such a kind"),
    six([0; 8], 96, "an IPv4-compatible address of such a kind"),
    six([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, "a NAT64 address of such a kind"),
    six([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "a 6to4 address of such a kind"),
    six([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "a Teredo address of such a kind"),
];

/// The range that makes an address special, if it is.
pub(crate) fn special(address: IpAddr) -> Option<Special> {
    let address = address.to_canonical();
    let listed = SPECIAL.iter().find(|special| special.range.contains(address)).copied();
    let IpAddr::V6(six) = address else { return listed };
    listed.or_else(|| {
        let wrapping = WRAPPING.iter().find(|wrapping| wrapping.range.contains(address))?;
        let inner = wrapped(six, wrapping.range);
        inner.into_iter().any(|inner| special(inner.into()).is_some()).then_some(*wrapping)
    })
}

/// The addresses of IPv4 that one of IPv6 holds; a Teredo address has a server and, with all bits turned, a client.
fn wrapped(address: Ipv6Addr, range: Cidr) -> Vec<Ipv4Addr> {
    let bits = address.to_bits();
    let at = |shift: u32| Ipv4Addr::from_bits((bits >> shift) as u32);
    match range.length {
        16 => vec![at(80)],
        32 => vec![at(64), Ipv4Addr::from_bits(!(bits as u32))],
        _ => vec![at(0)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_not_special() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "64:ff9b::808:808",
            "2002:808:808::1",
            "::ffff:8.8.8.8",
            "2001:4860:4860::8888",
        ] {
            assert_eq!(special(text.parse().unwrap()), None, "{text}");
        }
    }

    #[test]
    fn addresses_that_lead_inside_are_special() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "169.254.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "100::1",
            "64:ff9b:1::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::10.0.0.1",
            "::ffff:0:7f00:1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::1",
            "2002:a00:1::",
            "2002:a9fe:a9fe::1",
            // Teredo: the server is public and the client, with its bits turned, 10.0.0.1; and the other way round.
            "2001:0:808:808:0:0:f5ff:fffe",
            "2001:0:a00:1:0:0:f7f7:f7f7",
        ] {
            assert!(special(text.parse().unwrap()).is_some(), "{text}");
        }
    }

    #[test]
    fn ranges_know_what_lies_in_them() {
        let of = |text: &str| text.parse::<Cidr>();
        let ten = of("10.0.0.0/8").unwrap();
        assert!(ten.contains("10.255.0.1".parse().unwrap()));
        assert!(!ten.contains("11.0.0.0".parse().unwrap()));
        assert!(!ten.contains("::a00:1".parse().unwrap()));
        assert!(ten.covers(&of("10.1.0.0/16").unwrap()));
        assert!(!ten.covers(&of("0.0.0.0/0").unwrap()));
        assert!(of("0.0.0.0/0").unwrap().contains("1.2.3.4".parse().unwrap()));
        assert!(of("::/0").unwrap().contains("::1".parse().unwrap()));
        assert_eq!(of("::1").unwrap().to_string(), "::1");
        assert_eq!(of("fd00::/8").unwrap().to_string(), "fd00::/8");
        for text in [
            "10.0.0.1/8",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "10/8",
            "a/8",
            "::ffff:1.2.3.4",
        ] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
