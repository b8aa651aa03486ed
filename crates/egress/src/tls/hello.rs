//! The greeting of a client of TLS: which name it asks for.

use crate::host::Host;

/// The longest greeting that is waited for.
const LONGEST: usize = 32 << 10;

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;

/// What the first bytes of a client of TLS are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hello {
    /// More bytes are needed.
    Partial,
    /// A whole greeting, and the name in it.
    Whole(Option<Host>),
    /// Not a greeting that a server would answer, or one with more than one meaning.
    Malformed(&'static str),
}

/// Reads the greeting from the start of a stream.
pub(crate) fn parse_hello(bytes: &[u8]) -> Hello {
    let mut message = Vec::new();
    let mut rest = bytes;
    loop {
        if let Some(length) = message_length(&message) {
            if length > LONGEST {
                return Hello::Malformed("the greeting of TLS is too long");
            }
            if let Some(body) = message.get(4..4 + length) {
                return parse_body(body)
                    .unwrap_or(Hello::Malformed("the greeting of TLS is damaged"));
            }
        }
        let Some((header, behind)) = rest.split_at_checked(5) else {
            return match rest {
                [] | [HANDSHAKE] | [HANDSHAKE, 3, ..] => Hello::Partial,
                _ => Hello::Malformed("this is not TLS"),
            };
        };
        if header[0] != HANDSHAKE || header[1] != 3 {
            return Hello::Malformed("this is not TLS");
        }
        let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
        if length == 0 || length > 1 << 14 {
            return Hello::Malformed("the greeting of TLS has a wrong length");
        }
        let part = &behind[..length.min(behind.len())];
        message.extend_from_slice(part);
        if message.first().is_some_and(|kind| *kind != CLIENT_HELLO) {
            return Hello::Malformed("TLS starts with another message than a greeting");
        }
        if part.len() < length {
            // It may end within this part: what is behind it in the same record is then damage, and found above next time.
            return match message_length(&message) {
                Some(length) if length > LONGEST => {
                    Hello::Malformed("the greeting of TLS is too long")
                }
                _ => Hello::Partial,
            };
        }
        rest = &behind[length..];
    }
}

fn message_length(message: &[u8]) -> Option<usize> {
    match message {
        [_, a, b, c, ..] => Some(usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c)),
        _ => None,
    }
}

/// Bytes that are read from the front.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, bytes: usize) -> Option<usize> {
        Some(self.take(bytes)?.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
    }

    /// A part that says its length in so many bytes before it.
    fn part(&mut self, bytes: usize) -> Option<Self> {
        let length = self.number(bytes)?;
        self.take(length).map(Cursor)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn parse_body(body: &[u8]) -> Option<Hello> {
    let mut body = Cursor(body);
    let _version_and_random = body.take(34)?;
    let _session = body.part(1)?;
    let _ciphers = body.part(2)?;
    let _compression = body.part(1)?;
    if body.is_empty() {
        return Some(Hello::Whole(None));
    }
    let mut extensions = body.part(2)?;
    if !body.is_empty() {
        return None;
    }
    let mut name = None;
    while !extensions.is_empty() {
        let kind = extensions.number(2)?;
        let content = extensions.part(2)?;
        if kind != usize::from(SERVER_NAME) {
            continue;
        }
        if name.is_some() {
            return Some(Hello::Malformed("the greeting of TLS names two servers"));
        }
        match server_name(content)? {
            Ok(host) => name = Some(host),
            Err(problem) => return Some(Hello::Malformed(problem)),
        }
    }
    Some(Hello::Whole(name))
}

/// The one name of the extension.
fn server_name(mut content: Cursor<'_>) -> Option<Result<Host, &'static str>> {
    let mut list = content.part(2)?;
    let kind = list.number(1)?;
    let name = list.part(2)?;
    if !list.is_empty() || !content.is_empty() || kind != usize::from(HOST_NAME) {
        return Some(Err("the greeting of TLS names two servers"));
    }
    let text = std::str::from_utf8(name.0).ok();
    let host = text.and_then(|text| Host::parse(text).ok());
    Some(host.ok_or("the greeting of TLS names no server that could be one"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A greeting with names of servers, in records of at most so many bytes.
    pub(crate) fn greeting(names: &[&str], record: usize) -> Vec<u8> {
        let mut extensions = vec![0, 23, 0, 0];
        for name in names {
            let length = name.len() as u16;
            extensions.extend([0, 0]);
            extensions.extend((length + 5).to_be_bytes());
            extensions.extend((length + 3).to_be_bytes());
            extensions.push(0);
            extensions.extend(length.to_be_bytes());
            extensions.extend(name.as_bytes());
        }
        let mut body = vec![3, 3];
        body.extend([7; 32]);
        body.extend([0, 0, 2, 0x13, 1, 1, 0]);
        body.extend((extensions.len() as u16).to_be_bytes());
        body.extend(extensions);
        let mut message = vec![1, 0];
        message.extend((body.len() as u16).to_be_bytes());
        message.extend(body);
        let records = message.chunks(record);
        records.fold(Vec::new(), |mut all, chunk| {
            all.extend([22, 3, 1]);
            all.extend((chunk.len() as u16).to_be_bytes());
            all.extend(chunk);
            all
        })
    }

    fn whole(name: &str) -> Hello {
        Hello::Whole(Some(Host::parse(name).unwrap()))
    }

    #[test]
    fn the_name_is_found_however_it_is_cut() {
        for record in [1, 2, 5, 40, 16_000] {
            let bytes = greeting(&["Example.com"], record);
            assert_eq!(parse_hello(&bytes), whole("example.com"));
            for length in 0..bytes.len() {
                assert_eq!(parse_hello(&bytes[..length]), Hello::Partial, "{record} {length}");
            }
        }
        assert_eq!(parse_hello(&greeting(&[], 100)), Hello::Whole(None));
    }

    #[test]
    fn what_has_two_meanings_is_refused() {
        for bytes in [
            greeting(&["a.test", "b.test"], 1000),
            greeting(&["127.1"], 1000),
            greeting(&["a\0.test"], 1000),
            greeting(&[""], 1000),
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            vec![22, 3, 1, 0, 0],
            vec![22, 3, 1, 0xff, 0xff],
            vec![22, 3, 1, 0, 4, 2, 0, 0, 0],
            vec![22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff],
            vec![22, 3, 1, 0, 5, 1, 0, 0, 1, 0],
            vec![22, 4],
        ] {
            assert!(matches!(parse_hello(&bytes), Hello::Malformed(_)), "{bytes:?}");
        }
    }
}
