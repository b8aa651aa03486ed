//! What a command tried to reach and did not, as the kernel counts it in the network namespace of its own.

use std::ffi::CStr;

use offshoot_vocabulary::Network;
use rustix::fs::{Mode, OFlags};

/// The counters of IPv4: a line of names and a line of numbers for each protocol.
const TABLE: &CStr = c"/proc/net/snmp";
/// The counters of IPv6: a name and a number a line.
const LIST: &CStr = c"/proc/net/snmp6";
/// What is counted in the one: no route leads there, and nobody receives what went to a port of the loopback interface,
/// where many systems have their name server.
const IN_TABLE: [(&[u8], &[u8]); 2] = [(b"Ip:", b"OutNoRoutes"), (b"Udp:", b"NoPorts")];
/// The same in the other.
const IN_LIST: [&[u8]; 2] = [b"Ip6OutNoRoutes", b"Udp6NoPorts"];

/// What is counted where a proxy listens at the allowed ports of every address: nobody listens at the port.
const BESIDE_PROXY: [(&[u8], &[u8]); 2] = [(b"Tcp:", b"AttemptFails"), (b"Udp:", b"NoPorts")];

/// How often something was sent, or a connection begun, that could not leave.
pub(super) fn unreached(network: Network) -> i64 {
    let mut text = [0u8; 16 * 1024];
    let counters = match network {
        Network::None => IN_TABLE,
        Network::Proxy => BESIDE_PROXY,
        Network::Host => return 0,
    };
    let table = read(TABLE, &mut text);
    let counted: i64 = counters.iter().map(|(line, name)| in_table(table, line, name)).sum();
    let list = read(LIST, &mut text);
    counted + IN_LIST.iter().map(|name| in_list(list, name)).sum::<i64>()
}

/// As much of a file as there is room for; nothing where it cannot be read.
fn read<'a>(path: &CStr, text: &'a mut [u8]) -> &'a [u8] {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(path, flags, Mode::empty()) else { return &[] };
    let mut length = 0;
    while let Ok(got @ 1..) = rustix::io::read(&file, &mut text[length..]) {
        length += got;
    }
    &text[..length]
}

/// The number below a name, in the lines that begin with a word.
fn in_table(text: &[u8], line: &[u8], name: &[u8]) -> i64 {
    let mut lines = text.split(|byte| *byte == b'\n').filter(|found| found.starts_with(line));
    let (Some(names), Some(numbers)) = (lines.next(), lines.next()) else { return 0 };
    let mut pairs = words(names).zip(words(numbers));
    pairs.find(|(found, _)| *found == name).map_or(0, |(_, digits)| number(digits))
}

/// The number behind a name.
fn in_list(text: &[u8], name: &[u8]) -> i64 {
    for line in text.split(|byte| *byte == b'\n') {
        let mut words = words(line);
        if words.next() == Some(name) {
            return words.next().map_or(0, number);
        }
    }
    0
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn number(digits: &[u8]) -> i64 {
    std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        let table = b"Ip: Forwarding OutNoRoutes\nIp: 2 5\nUdp: InDatagrams NoPorts\nUdp: 4 3\nUdpLite: InDatagrams NoPorts\nUdpLite: 0 9\n";
        assert_eq!(in_table(table, b"Ip:", b"OutNoRoutes"), 5);
        assert_eq!(in_table(table, b"Udp:", b"NoPorts"), 3);
        assert_eq!(in_table(table, b"Tcp:", b"NoPorts"), 0);
        let list = b"Ip6OutNoRoutes                  \t7\nUdp6NoPorts \t2\n";
        assert_eq!(in_list(list, b"Ip6OutNoRoutes"), 7);
        assert_eq!(in_list(list, b"Ip6"), 0);
    }
}
