//! SOCKS5: connections by name or by address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use tokio::time::{Instant, timeout_at};

use crate::host::Host;
use crate::opaque::{self, Way};
use crate::record::{Refusal, Route};
use crate::state::State;
use crate::wire::{Duplex, Source, send};

/// The first byte of everything in this protocol.
pub(crate) const VERSION: u8 = 5;

const CONNECT: u8 = 1;
const NO_PASSWORD: u8 = 0;
const NOTHING_SUITS: u8 = 0xff;

/// A message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parsed<T> {
    /// More bytes are needed.
    Partial,
    /// The message and its length.
    Whole(T, usize),
    Malformed(&'static str),
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SocksRequest {
    command: u8,
    /// Nothing if the text is no host.
    host: Option<Host>,
    port: u16,
}

/// Whether the client can do without a password.
pub(crate) fn parse_greeting(bytes: &[u8]) -> Parsed<bool> {
    match bytes {
        [VERSION, count, rest @ ..] => match rest.get(..usize::from(*count)) {
            Some(methods) => Parsed::Whole(methods.contains(&NO_PASSWORD), 2 + methods.len()),
            None => Parsed::Partial,
        },
        [] | [VERSION] => Parsed::Partial,
        _ => Parsed::Malformed("this is not SOCKS5"),
    }
}

/// What the client asks for.
pub(crate) fn parse_request(bytes: &[u8]) -> Parsed<SocksRequest> {
    let (command, kind, rest) = match bytes {
        [VERSION, command, 0, kind, rest @ ..] => (*command, *kind, rest),
        [] | [VERSION] | [VERSION, _] | [VERSION, _, 0] => return Parsed::Partial,
        _ => return Parsed::Malformed("this is not a request of SOCKS5"),
    };
    let (start, length) = match kind {
        1 => (0, 4),
        4 => (0, 16),
        3 => match rest.first() {
            Some(length) => (1, usize::from(*length)),
            None => return Parsed::Partial,
        },
        _ => return Parsed::Malformed("SOCKS5 knows no such kind of address"),
    };
    let end = start + length;
    let (Some(address), Some(port)) = (rest.get(start..end), rest.get(end..end + 2)) else {
        return Parsed::Partial;
    };
    let host = match kind {
        1 => <[u8; 4]>::try_from(address)
            .ok()
            .map(|octets| Host::from(IpAddr::from(Ipv4Addr::from(octets)))),
        4 => <[u8; 16]>::try_from(address)
            .ok()
            .map(|octets| Host::from(IpAddr::from(Ipv6Addr::from(octets)))),
        _ => std::str::from_utf8(address).ok().and_then(|text| Host::parse(text).ok()),
    };
    let port = u16::from_be_bytes([port[0], port[1]]);
    Parsed::Whole(SocksRequest { command, host, port }, 4 + end + 2)
}

/// Serves a client whose first byte said that it speaks SOCKS5.
pub(crate) async fn serve(state: Arc<State>, mut client: Duplex) {
    let limit = state.limits.head_time;
    let until = Instant::now() + limit;
    let refused = |refusal| state.ledger.open(Route::Socks, None, 0).refuse(refusal);
    match read(&mut client.read, until, parse_greeting).await {
        Ok(true) => {}
        Ok(false) => {
            refused(Refusal::Unsupported("passwords of SOCKS5"));
            drop(send(&mut client.write, &[VERSION, NOTHING_SUITS], limit).await);
            return;
        }
        Err(refusal) => return refused(refusal),
    }
    if send(&mut client.write, &[VERSION, NO_PASSWORD], limit).await.is_err() {
        return;
    }
    let request = match read(&mut client.read, until, parse_request).await {
        Ok(request) => request,
        Err(refusal) => return refused(refusal),
    };
    let port = request.port;
    let host = request.host.map(|host| state.meant(host));
    let mut record = state.ledger.open(Route::Socks, host.clone(), port);
    let dialled = match &host {
        _ if request.command != CONNECT => {
            Err(Refusal::Unsupported("other commands of SOCKS5 than CONNECT"))
        }
        None => Err(Refusal::Malformed("SOCKS5 names no host")),
        Some(host) => state.dial(host, port, &mut record).await,
    };
    let code = dialled.as_ref().err().map_or(0, code);
    let reply = [VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0];
    let sent = send(&mut client.write, &reply, limit).await;
    match (dialled, host) {
        (Ok(server), Some(host)) if sent.is_ok() => {
            let way = Way { host, port, route: Route::Socks };
            opaque::serve(state, client, server, way, record).await;
        }
        (Err(refusal), _) => record.refuse(refusal),
        _ => {}
    }
}

/// What SOCKS5 calls a refusal.
fn code(refusal: &Refusal) -> u8 {
    match refusal {
        Refusal::Upstream(_) => 4,
        Refusal::Unsupported(_) => 7,
        Refusal::Malformed(_) | Refusal::Limit(_) => 1,
        _ => 2,
    }
}

/// Reads one message.
async fn read<T>(
    source: &mut Source,
    until: Instant,
    parse: impl Fn(&[u8]) -> Parsed<T>,
) -> Result<T, Refusal> {
    loop {
        match parse(source.ahead()) {
            Parsed::Whole(message, length) => {
                source.consume(length);
                return Ok(message);
            }
            Parsed::Malformed(problem) => return Err(Refusal::Malformed(problem)),
            Parsed::Partial => {}
        }
        match timeout_at(until, source.fill()).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false) | Err(_)) => return Err(Refusal::Malformed("it ends early")),
            Err(_) => return Err(Refusal::Limit("the time for a greeting")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(bytes: &[u8]) -> Option<(Option<String>, u16)> {
        match parse_request(bytes) {
            Parsed::Whole(request, length) if length == bytes.len() => {
                Some((request.host.map(|host| host.to_string()), request.port))
            }
            _ => None,
        }
    }

    #[test]
    fn names_and_addresses_are_read() {
        let named = b"\x05\x01\x00\x03\x06A.test\x01\xbb";
        assert_eq!(request(named), Some((Some("a.test".to_owned()), 443)));
        assert_eq!(
            request(b"\x05\x01\x00\x01\x7f\0\0\x01\0\x50"),
            Some((Some("127.0.0.1".to_owned()), 80))
        );
        let mapped = b"\x05\x01\x00\x04\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\x01\0\x50";
        assert_eq!(request(mapped), Some((Some("127.0.0.1".to_owned()), 80)));
        for length in 0..named.len() {
            assert_eq!(parse_request(&named[..length]), Parsed::Partial, "{length}");
        }
        assert_eq!(request(b"\x05\x01\x00\x03\x05127.1\0\x50"), Some((None, 80)));
        assert_eq!(request(b"\x05\x01\x00\x03\x00\0\x50"), Some((None, 80)));
    }

    #[test]
    fn other_things_are_refused() {
        for bytes in [&b"\x04\x01"[..], b"\x05\x01\x01", b"\x05\x01\x00\x02", b"GET"] {
            assert!(matches!(parse_request(bytes), Parsed::Malformed(_)), "{bytes:?}");
        }
        assert_eq!(parse_greeting(b"\x05\x02\x00\x02"), Parsed::Whole(true, 4));
        assert_eq!(parse_greeting(b"\x05\x01\x02"), Parsed::Whole(false, 3));
        assert_eq!(parse_greeting(b"\x05\x00"), Parsed::Whole(false, 2));
        assert!(matches!(parse_greeting(b"\x04"), Parsed::Malformed(_)));
    }
}
