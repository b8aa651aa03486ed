//! Where a server is, and how it is connected to.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use http::uri::{PathAndQuery, Scheme};
use http::{HeaderValue, Uri};
use offshoot_engine::text::line;
use offshoot_engine::{Error, Result};
use offshoot_protocol::ExitCode;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A connection to a server, with TLS or without.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// Where a server is.
pub(super) struct Address {
    host: String,
    port: u16,
    path: PathAndQuery,
    authority: HeaderValue,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    /// Nothing but this machine may be connected to: there is no TLS.
    stays_here: bool,
}

impl Address {
    /// The address in a text.
    pub(super) fn new(url: &str, plain_http: bool) -> Result<Self> {
        let unusable = |what: &str| Error::usage(format!("{}: {what}", line(url)));
        let uri: Uri = url.parse().map_err(|_| unusable("it is no address"))?;
        let authority = uri.authority().ok_or_else(|| unusable("it names no host"))?;
        if authority.as_str().contains('@') {
            let what =
                "a login does not belong in an address: `header` names the variable that has it";
            return Err(unusable(what));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let is_tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(unusable("an address starts with https:// or http://")),
        };
        if !is_tls && !plain_http && !is_loopback(&host) {
            let what = "http:// goes to other machines in the clear: use https://, or say plain_http = true";
            return Err(unusable(what));
        }
        let name = || ServerName::try_from(host.clone()).map_err(|_| unusable("it names no host"));
        let tls = match is_tls {
            true => Some((connector()?, name()?)),
            false => None,
        };
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        let authority =
            HeaderValue::from_str(authority.as_str()).map_err(|_| unusable("it names no host"))?;
        Ok(Self { host, port, path, authority, tls, stays_here: !is_tls && !plain_http })
    }

    pub(super) fn path(&self) -> &str {
        self.path.as_str()
    }

    pub(super) fn authority(&self) -> &HeaderValue {
        &self.authority
    }

    /// Connects to the server.
    pub(super) async fn connect(&self) -> io::Result<Box<dyn Duplex>> {
        let stream = self.dial().await?;
        stream.set_nodelay(true)?;
        match &self.tls {
            Some((connector, name)) => Ok(Box::new(connector.connect(name.clone(), stream).await?)),
            None => Ok(Box::new(stream)),
        }
    }

    async fn dial(&self) -> io::Result<TcpStream> {
        let found = tokio::net::lookup_host((self.host.as_str(), self.port)).await?;
        let mut last = None;
        for address in found {
            // What a name leads to is known only now.
            if self.stays_here && !address.ip().is_loopback() {
                continue;
            }
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = Some(error),
            }
        }
        let nowhere = || {
            io::Error::other(format!("{} leads to no address of this machine", line(&self.host)))
        };
        Err(last.unwrap_or_else(nowhere))
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// Trusts the certificates that the system trusts.
fn connector() -> Result<TlsConnector> {
    let failed = |what: String| Error::new(ExitCode::Failure, what);
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        return Err(failed(format!("there are no certificates to check servers against{why}")));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(format!("TLS cannot be used: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(url: &str, plain_http: bool) -> Option<String> {
        Address::new(url, plain_http).err().map(|error| error.message)
    }

    #[test]
    fn only_this_machine_is_spoken_to_without_tls() {
        for here in [
            "http://127.0.0.1:3001/mcp",
            "http://localhost/mcp",
            "http://[::1]:1/",
            "http://127.9.9.9",
        ] {
            assert_eq!(problem(here, false), None, "{here}");
        }
        for there in
            ["http://example.com/mcp", "http://10.0.0.1/mcp", "http://127.0.0.1.example.com/"]
        {
            assert!(problem(there, false).unwrap().contains("plain_http = true"), "{there}");
            assert_eq!(problem(there, true), None, "{there}");
        }
    }

    #[test]
    fn what_is_no_address_is_told() {
        for (url, what) in [
            ("ftp://example.com/", "starts with https://"),
            ("/mcp", "names no host"),
            ("https://me:secret@example.com/", "a login does not belong"),
            ("http://127.0.0.1@example.com/", "a login does not belong"),
            ("http://exa mple/", "it is no address"),
        ] {
            assert!(problem(url, false).unwrap().contains(what), "{url}");
        }
    }
}
