//! Who may ask: tokens, and the names under which the server is reached.

use std::net::SocketAddr;

use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::{HeaderMap, HeaderValue};

use super::error::A2aServerError;
use crate::wire::{A2aCard, A2aScopes, A2aSecurityRequirement, A2aSecurityScheme};

/// Shorter tokens can be guessed.
const SHORTEST: usize = 16;
/// The client that everybody is if nobody has a token.
const ANYBODY: &str = "anybody";

/// Who may ask.
#[derive(Clone)]
pub enum A2aAccess {
    /// Everybody who reaches the server, which has to be on loopback. All are one client.
    Open,
    /// Those who have a token: names of clients, and their tokens.
    Tokens(Vec<(String, String)>),
}

impl A2aAccess {
    /// Clients and their tokens, which have at least 16 bytes.
    pub fn tokens<N: Into<String>, T: Into<String>>(
        tokens: impl IntoIterator<Item = (N, T)>,
    ) -> Self {
        let tokens = tokens.into_iter().map(|(name, token)| (name.into(), token.into()));
        Self::Tokens(tokens.collect())
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }

    pub(super) fn check(&self) -> Result<(), A2aServerError> {
        let Self::Tokens(tokens) = self else { return Ok(()) };
        for (client, token) in tokens {
            let why = match token {
                _ if client.is_empty() => "the client needs a name",
                token if token.len() < SHORTEST => "it has less than 16 bytes",
                token if !token.bytes().all(|byte| byte.is_ascii_graphic()) => {
                    "it has other bytes than visible ASCII"
                }
                _ => continue,
            };
            return Err(A2aServerError::Token { client: client.clone(), why });
        }
        Ok(())
    }

    /// The client that a request is from, and whether a token says so.
    pub(super) fn client(&self, headers: &HeaderMap) -> Option<(String, bool)> {
        let Self::Tokens(tokens) = self else { return Some((ANYBODY.to_owned(), false)) };
        let given = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes)?;
        let (scheme, given) = given.split_at_checked(7)?;
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            return None;
        }
        // All are compared, so that the time says nothing about which one it is.
        let mut found = None;
        for (name, token) in tokens {
            if is_same(given, token.as_bytes()) {
                found = Some(name);
            }
        }
        found.map(|name| (name.clone(), true))
    }

    /// Says in a card what is wanted.
    pub(super) fn describe(&self, card: &mut A2aCard) {
        if self.is_open() {
            return;
        }
        let name = "bearer".to_owned();
        card.security_schemes.insert(name.clone(), A2aSecurityScheme::bearer());
        let schemes = [(name, A2aScopes::default())].into();
        card.security_requirements = vec![A2aSecurityRequirement { schemes }];
    }
}

impl std::fmt::Debug for A2aAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Open => f.write_str("Open"),
            Self::Tokens(tokens) => {
                f.debug_list().entries(tokens.iter().map(|(name, _)| name)).finish()
            }
        }
    }
}

/// Compares in a time that says nothing about where they differ.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    let differs = given.iter().zip(token).fold(0, |differs, (one, other)| differs | (one ^ other));
    given.len() == token.len() && std::hint::black_box(differs) == 0
}

/// Names under which the server is reached: a page of another site that has its own name lead here is refused.
#[derive(Debug)]
pub(super) struct Names {
    hosts: Vec<String>,
    port: u16,
}

impl Names {
    pub(super) fn new(bound: SocketAddr, more: &[String]) -> Self {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into();
        hosts.push(match bound {
            SocketAddr::V4(address) => address.ip().to_string(),
            SocketAddr::V6(address) => format!("[{}]", address.ip()),
        });
        hosts.extend(more.iter().map(|host| host.to_ascii_lowercase()));
        Self { hosts, port: bound.port() }
    }

    /// What is wrong with where a request says it goes and comes from.
    pub(super) fn problem(&self, headers: &HeaderMap) -> Option<&'static str> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Some("one Host header is needed");
        };
        if !host.to_str().is_ok_and(|host| self.is_mine(host)) {
            return Some("the server has another name than the Host header says");
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let is_foreign = |origin: &HeaderValue| {
            let origin = origin.to_str().unwrap_or_default();
            let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            !host.is_some_and(|host| self.is_mine(host))
        };
        origins.any(is_foreign).then_some("pages of other sites may not ask")
    }

    fn is_mine(&self, authority: &str) -> bool {
        let authority = authority.to_ascii_lowercase();
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                (host, port.parse().ok())
            }
            _ => (authority.as_str(), None),
        };
        // A proxy before the server has a port of its own, so its name is enough.
        let is_own = self.hosts[..4].iter().any(|own| own == host);
        let is_proxy = self.hosts[4..].iter().any(|own| own == host || *own == authority);
        is_proxy || (is_own && port.is_none_or(|port: u16| port == self.port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (http::HeaderName::from_static(name), value.parse().unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn only_a_whole_token_names_a_client() {
        let access = A2aAccess::tokens([("a", "0123456789abcdef"), ("b", "fedcba9876543210")]);
        let who = |value: &str| access.client(&headers(&[("authorization", value)]));
        assert_eq!(who("Bearer fedcba9876543210"), Some(("b".to_owned(), true)));
        assert_eq!(who("bearer 0123456789abcdef"), Some(("a".to_owned(), true)));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
            "Basic 0123456789abcdef",
            "0123456789abcdef",
        ] {
            assert_eq!(who(wrong), None, "{wrong}");
        }
        assert_eq!(access.client(&HeaderMap::new()), None);
        assert!(!format!("{access:?}").contains("0123456789abcdef"));
        for short in ["", "short", "0123456789abcde", "0123456789abcdef with a blank"] {
            assert!(A2aAccess::tokens([("a", short)]).check().is_err());
        }
        assert!(A2aAccess::tokens([("", "0123456789abcdef")]).check().is_err());
        assert!(access.check().is_ok());
    }

    #[test]
    fn hosts_and_origins_are_checked() {
        let names =
            Names::new(SocketAddr::from(([127, 0, 0, 1], 80)), &["Agent.example".to_owned()]);
        let ok = |pairs: &[(&'static str, &str)]| names.problem(&headers(pairs)).is_none();
        for host in ["localhost:80", "127.0.0.1", "[::1]:80", "LOCALHOST", "agent.example:443"] {
            assert!(ok(&[("host", host)]), "{host}");
        }
        for host in
            ["evil.example", "localhost:81", "localhost.evil.example", "", "agent.example.org"]
        {
            assert!(!ok(&[("host", host)]), "{host}");
        }
        assert!(!ok(&[]));
        assert!(ok(&[("host", "localhost"), ("origin", "http://localhost:80")]));
        for origin in ["null", "http://evil.example", "http://localhost:81", "file://"] {
            assert!(!ok(&[("host", "localhost"), ("origin", origin)]), "{origin}");
        }
    }
}
