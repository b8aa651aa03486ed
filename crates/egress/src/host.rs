//! What a connection may be meant for: a name or an address, in one spelling each.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest name that the name system knows.
const LONGEST_NAME: usize = 253;
/// The longest part of a name between dots.
const LONGEST_LABEL: usize = 63;

/// Where a connection is meant to go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A name: lower case, without a dot at its end, letters, digits and hyphens only.
    Name(String),
    /// An address; never one of IPv6 that only wraps one of IPv4 (`::ffff:a.b.c.d`).
    Address(IpAddr),
}

/// Why a text is no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{}\" is not a host: {reason}", text.escape_debug())]
pub struct HostParseError {
    /// What was given, cut to a length that can be shown.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl Host {
    /// Reads a name or an address as it stands in a URL, a header, a rule or a request of SOCKS. An address of IPv6 may
    /// have brackets.
    ///
    /// Every text that some resolver would take for an address in disguise (`0x7f.1`, `2130706433`, `127.1`, `010.0.0.1`)
    /// is refused, so that a name is never an address by another route.
    pub fn parse(text: &str) -> Result<Self, HostParseError> {
        let fail = |reason| Err(HostParseError { text: shown(text), reason });
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').unwrap_or_default();
            return match inner.parse::<Ipv6Addr>() {
                Ok(address) => Ok(Self::from(IpAddr::V6(address))),
                Err(_) => fail("brackets belong around an IPv6 address"),
            };
        }
        if text.contains(':') {
            return match text.parse::<Ipv6Addr>() {
                Ok(address) => Ok(Self::from(IpAddr::V6(address))),
                Err(_) => fail("it is neither a name nor an IPv6 address"),
            };
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        if let Ok(address) = name.parse::<Ipv4Addr>() {
            return Ok(Self::from(IpAddr::V4(address)));
        }
        match name_problem(name) {
            Some(reason) => fail(reason),
            None => Ok(Self::Name(name.to_ascii_lowercase())),
        }
    }

    /// Reads `HOST` or `HOST:PORT`.
    pub fn parse_with_port(text: &str) -> Result<(Self, Option<u16>), HostParseError> {
        parse_authority(text)
    }

    /// The name, where it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Address(_) => None,
        }
    }

    /// Whether it is one of the three usual names of a machine's own loopback interface: `localhost`, `127.0.0.1`, `::1`.
    pub(crate) fn is_usual_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost",
            Self::Address(address) => {
                [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)].contains(address)
            }
        }
    }

    /// Host and port as they stand in a URL.
    pub fn with_port(&self, port: u16) -> String {
        match self {
            Self::Address(IpAddr::V6(address)) => format!("[{address}]:{port}"),
            _ => format!("{self}:{port}"),
        }
    }
}

impl From<IpAddr> for Host {
    fn from(address: IpAddr) -> Self {
        Self::Address(address.to_canonical())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}

impl serde::Serialize for Host {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads `HOST` or `HOST:PORT` as in a `Host` header.
pub(crate) fn parse_authority(text: &str) -> Result<(Host, Option<u16>), HostParseError> {
    let fail = |reason| HostParseError { text: shown(text), reason };
    let (host, port) = split_port(text);
    let port = match port {
        None => None,
        Some(port) => {
            Some(parse_port(port).ok_or_else(|| fail("its port is not from 1 to 65535"))?)
        }
    };
    if host.contains(':') && !host.starts_with('[') {
        return Err(fail("an IPv6 address needs brackets here"));
    }
    Ok((Host::parse(host)?, port))
}

/// A port, without signs, zeros in front or spaces.
pub(crate) fn parse_port(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    plain.then(|| text.parse().ok()).flatten()
}

/// Splits what stands behind the last colon off, unless that colon is part of an IPv6 address.
pub(crate) fn split_port(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((host, _)) if host.starts_with('[') && !host.ends_with(']') => (text, None),
        Some((host, _)) if host.contains(':') && !host.starts_with('[') => (text, None),
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    }
}

/// What of a text can be shown in a message.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

/// What is wrong with a name that has no dot at its end.
fn name_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if !name.is_ascii() {
        return Some("names are written in ASCII; write an international name as `xn--...`");
    }
    if name.len() > LONGEST_NAME {
        return Some("a name has at most 253 characters");
    }
    if let Some(problem) = name.split('.').find_map(label_problem) {
        return Some(problem);
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    is_number(last)
        .then_some("addresses are written as four decimal numbers without zeros in front")
}

fn label_problem(label: &str) -> Option<&'static str> {
    if label.is_empty() {
        return Some("there is nothing between two of its dots");
    }
    if label.len() > LONGEST_LABEL {
        return Some("a part of a name has at most 63 characters");
    }
    if !label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Some("names have letters, digits, hyphens and dots only");
    }
    if label.starts_with('-') || label.ends_with('-') {
        return Some("no part of a name starts or ends with a hyphen");
    }
    let reserved = label.as_bytes().get(2..4) == Some(b"--");
    let international = label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
    (reserved && !international).then_some("`--` as third and fourth character is reserved")
}

/// Whether resolvers read a last label as a number: those of `inet_aton` and of URLs do with decimal, octal and
/// hexadecimal ones.
fn is_number(label: &str) -> bool {
    let hexadecimal = label.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x"));
    let digits = if hexadecimal { &label[2..] } else { label };
    if hexadecimal {
        digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    } else {
        digits.bytes().all(|byte| byte.is_ascii_digit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Host {
        Host::Name(text.to_owned())
    }

    #[test]
    fn names_have_one_spelling() {
        for text in ["Example.COM", "example.com.", "example.com"] {
            assert_eq!(Host::parse(text), Ok(name("example.com")), "{text}");
        }
        for text in ["localhost", "a-b.c1", "xn--bcher-kva.example", "1.2.3.4.example", "0x7f.a"] {
            assert_eq!(Host::parse(text), Ok(name(text)), "{text}");
        }
    }

    #[test]
    fn addresses_have_one_spelling() {
        let four = Host::Address(IpAddr::from([127, 0, 0, 1]));
        for text in ["127.0.0.1", "127.0.0.1.", "::ffff:127.0.0.1", "[::ffff:7f00:1]"] {
            assert_eq!(Host::parse(text).as_ref(), Ok(&four), "{text}");
        }
        let six = Host::Address("2001:db8::1".parse().unwrap());
        for text in ["2001:db8::1", "[2001:DB8::1]", "[2001:db8:0::1]"] {
            assert_eq!(Host::parse(text).as_ref(), Ok(&six), "{text}");
        }
        assert_eq!(six.with_port(443), "[2001:db8::1]:443");
    }

    #[test]
    fn addresses_in_disguise_are_no_names() {
        for text in [
            "0x7f.1",
            "0x7f000001",
            "2130706433",
            "127.1",
            "127.0.1",
            "0177.0.0.1",
            "010.0.0.1",
            "127.0.0.01",
            "1.2.3.4.5",
            "256.1.1.1",
            "a.1",
            "a.0x1",
            "a.0x",
            "0x",
            "0X7F",
            "1",
            "00",
            "127.0.0.0x1",
            "1.2.3.4:",
        ] {
            assert!(Host::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn odd_names_are_refused() {
        let long = "a".repeat(64);
        let longer = ["abcdefg."; 32].concat() + "com";
        for text in [
            "",
            ".",
            "..",
            "a..b",
            ".a",
            "a b",
            "a_b",
            "a/b",
            "a@b",
            "a%2e",
            "bücher.example",
            "-a",
            "a-",
            "ab--cd",
            "a\0b",
            "a\r\n",
            "*",
            "*.a",
            "[::1",
            "::1]",
            "[1.2.3.4]",
            "[]",
            "[fe80::1%eth0]",
            "fe80::1%1",
            &long,
            &longer,
            "example.com..",
            "。",
            "ex\u{200b}ample.com",
        ] {
            assert!(Host::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn ports_stand_behind_the_last_colon() {
        let of = |text| parse_authority(text).map(|(host, port)| (host.to_string(), port));
        assert_eq!(of("a.b:80"), Ok(("a.b".to_owned(), Some(80))));
        assert_eq!(of("a.b"), Ok(("a.b".to_owned(), None)));
        assert_eq!(of("[::1]:80"), Ok(("::1".to_owned(), Some(80))));
        assert_eq!(of("[::1]"), Ok(("::1".to_owned(), None)));
        for text in [
            "a:", "a:0", "a:080", "a:+80", "a:65536", "a: 80", "::1", "::1:80", ":80", "a:b:80",
            "[::1]80",
        ] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
