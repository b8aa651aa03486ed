//! Where a server is.

use std::net::IpAddr;

use http::uri::Scheme;
use http::{HeaderValue, Uri};

use crate::error::{ErrorKind, ProviderError, shown};

/// The base address of a server.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// What comes before the paths of the interface, without a slash at its end.
    pub(crate) path: String,
    pub(crate) authority: HeaderValue,
    pub(crate) is_tls: bool,
    /// Nothing but this machine may be connected to, whatever the name leads to: there is no TLS.
    pub(crate) stays_here: bool,
}

impl Address {
    /// The address in a text. Without TLS it must be of this machine, unless `plain_http`.
    pub(crate) fn new(url: &str, plain_http: bool) -> Result<Self, ProviderError> {
        let unusable = |what: &str| {
            let message = format!("the base address {} cannot be used: {what}", shown(url));
            ProviderError::new(ErrorKind::BadRequest, message)
        };
        let uri: Uri = url.parse().map_err(|_| unusable("it is no address"))?;
        let authority = uri.authority().ok_or_else(|| unusable("it names no host"))?;
        if authority.as_str().contains('@') {
            let error = ProviderError::new(
                ErrorKind::BadRequest,
                "the base address cannot be used: a login does not belong there",
            );
            return Err(error.with_hint("give the key by itself"));
        }
        if uri.query().is_some() {
            return Err(unusable("it has a query"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let is_tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(unusable("an address starts with https:// or http://")),
        };
        if !is_tls && !plain_http && !is_loopback(&host) {
            let error = unusable("http:// goes to other machines in the clear");
            return Err(
                error.with_hint("use https://, or allow plain HTTP if the server needs no key")
            );
        }
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let path = uri.path().trim_end_matches('/').to_owned();
        let authority =
            HeaderValue::from_str(authority.as_str()).map_err(|_| unusable("it names no host"))?;
        Ok(Self { host, port, path, authority, is_tls, stays_here: !is_tls && !plain_http })
    }

    /// The same address, for requests with a key: those stay on this machine unless there is TLS.
    pub(crate) fn with_key(mut self) -> Result<Self, ProviderError> {
        if !self.is_tls && !is_loopback(&self.host) {
            let message = format!("a key does not go to {} without TLS", shown(&self.host));
            return Err(
                ProviderError::new(ErrorKind::BadRequest, message).with_hint("use https://")
            );
        }
        self.stays_here = !self.is_tls;
        Ok(self)
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(url: &str, plain_http: bool, key: bool) -> Option<String> {
        let address = Address::new(url, plain_http);
        let address = if key { address.and_then(Address::with_key) } else { address };
        address.err().map(|error| error.to_string())
    }

    #[test]
    fn keys_go_by_tls_or_stay_here() {
        for url in [
            "https://example.com/v1",
            "http://127.0.0.1:80/v1",
            "http://localhost",
            "http://[::1]:9",
        ] {
            assert_eq!(problem(url, false, true), None, "{url}");
        }
        for url in ["http://example.com/v1", "http://10.0.0.1", "http://127.0.0.1.example.com"] {
            assert!(problem(url, false, false).unwrap().contains("in the clear"), "{url}");
            assert_eq!(problem(url, true, false), None, "{url}");
            assert!(problem(url, true, true).unwrap().contains("without TLS"), "{url}");
        }
        // A name that claims to be this machine is looked at again when it is connected to.
        assert!(Address::new("http://localhost", true).unwrap().with_key().unwrap().stays_here);
    }

    #[test]
    fn what_is_no_address_is_told() {
        for (url, what) in [
            ("ftp://example.com/", "starts with https://"),
            ("/v1", "names no host"),
            ("https://me:secret@example.com/", "a login does not belong"),
            ("https://example.com/?key=1", "has a query"),
            ("http://exa mple/", "is no address"),
        ] {
            let problem = problem(url, false, false).unwrap();
            assert!(problem.contains(what), "{problem}");
            assert!(!problem.contains("secret"), "{problem}");
        }
        assert_eq!(Address::new("https://example.com/v1/", false).unwrap().path, "/v1");
    }
}
