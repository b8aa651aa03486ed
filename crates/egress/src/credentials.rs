//! Headers that the proxy adds for some hosts, so that a command never holds what is in them.

use std::fmt;

use crate::error::EgressError;
use crate::host::Host;

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Secret {
    /// Keeps a text.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// A header for one host.
#[derive(Clone, Debug)]
pub struct Credential {
    /// The host, and no other.
    pub host: Host,
    /// The port, and no other; any if there is none.
    pub port: Option<u16>,
    /// The name of the header, such as `authorization`.
    pub header: String,
    /// Its whole value, such as `Bearer ...`.
    pub value: Secret,
    /// Whether it may also be sent where everybody on the way can read it.
    pub plain_http: bool,
}

/// All headers that the proxy adds. Whoever calls reads the values; nothing here looks at files or the environment.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    list: Vec<Credential>,
}

impl Credentials {
    /// Takes headers that can be put into a request as they are.
    pub fn new(list: Vec<Credential>) -> Result<Self, EgressError> {
        for credential in &list {
            let fail = |problem| {
                Err(EgressError::Credential { host: credential.host.to_string(), problem })
            };
            if !is_token(&credential.header) {
                return fail(
                    "the name of the header has other characters than letters, digits and hyphens",
                );
            }
            if FRAMING.iter().any(|name| name.eq_ignore_ascii_case(&credential.header)) {
                return fail("the header belongs to the connection, not to the request");
            }
            let value = credential.value.reveal();
            if value.is_empty() || value.trim() != value {
                return fail("the value is empty or has spaces around it");
            }
            if !value.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
                return fail(
                    "the value has line breaks or other characters that no header can hold",
                );
            }
        }
        Ok(Self { list })
    }

    /// What is added to a request for a host.
    pub(crate) fn of<'a>(
        &'a self,
        host: &'a Host,
        port: u16,
        encrypted: bool,
    ) -> impl Iterator<Item = &'a Credential> {
        self.list.iter().filter(move |credential| {
            credential.host == *host
                && credential.port.is_none_or(|own| own == port)
                && (encrypted || credential.plain_http)
        })
    }
}

/// Headers by which a connection is cut into messages: nobody may set those.
const FRAMING: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credential(header: &str, value: &str) -> Credential {
        let host = Host::parse("a.test").unwrap();
        let (header, value) = (header.to_owned(), Secret::new(value));
        Credential { host, port: None, header, value, plain_http: false }
    }

    #[test]
    fn nobody_sees_a_secret() {
        let all = Credentials::new(vec![credential("authorization", "Bearer hush")]).unwrap();
        assert!(!format!("{all:?}").contains("hush"));
        let error =
            Credentials::new(vec![credential("authorization", "hush\r\nx: y")]).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hush"));
    }

    #[test]
    fn only_headers_are_taken() {
        for (header, value) in [
            ("", "a"),
            ("a b", "a"),
            ("a:", "a"),
            ("host", "a"),
            ("Transfer-Encoding", "a"),
            ("a", ""),
            ("a", " b"),
            ("a", "b\n"),
            ("a", "b\0"),
            ("a", "é"),
        ] {
            assert!(
                Credentials::new(vec![credential(header, value)]).is_err(),
                "{header}: {value}"
            );
        }
    }

    #[test]
    fn each_host_has_its_own() {
        let all = Credentials::new(vec![credential("x-key", "1")]).unwrap();
        let of = |all: &Credentials, host: &str, encrypted| {
            all.of(&Host::parse(host).unwrap(), 443, encrypted).count()
        };
        assert_eq!(of(&all, "a.test", true), 1);
        assert_eq!(of(&all, "a.test", false), 0);
        assert_eq!(of(&all, "b.a.test", true), 0);
        for (port, expected) in [(443, 1), (8443, 0)] {
            let own = Credential { port: Some(port), ..credential("x-key", "1") };
            let own = Credentials::new(vec![own]).unwrap();
            assert_eq!(of(&own, "a.test", true), expected);
        }
    }
}
