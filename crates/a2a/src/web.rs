//! HTTP to others: which addresses may be connected to, and one connection for each request.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::uri::{PathAndQuery, Scheme};
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::reach::{A2aAddress, A2aAddressPolicy};

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebError {
    /// Nothing can be sent there at all.
    #[error("{url}: {why}")]
    Address { url: String, why: &'static str },
    /// The policy does not permit it.
    #[error("{host}: none of its addresses may be connected to")]
    Forbidden { host: String },
    /// There was no connection, so nothing was sent.
    #[error("{host}: {source}")]
    Connect { host: String, source: io::Error },
    /// The connection broke off.
    #[error("{host}: {why}")]
    Broken { host: String, why: String },
    /// It took too long.
    #[error("{host}: timed out after {after:?}")]
    Timeout { host: String, after: Duration },
    /// The answer was too long.
    #[error("{host}: the answer has more than {limit} bytes")]
    TooLarge { host: String, limit: usize },
}

impl WebError {
    /// Whether the other side cannot have seen the request.
    pub(crate) fn is_unsent(&self) -> bool {
        matches!(self, Self::Connect { .. })
    }
}

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) is_tls: bool,
    authority: String,
    path: PathAndQuery,
}

impl Target {
    /// The target that an address names.
    pub(crate) fn parse(url: &str) -> Result<Self, WebError> {
        let refused = |why| {
            let url = url.chars().take(200).collect();
            WebError::Address { url, why }
        };
        let uri: Uri = url.parse().map_err(|_| refused("it is no address"))?;
        let authority = uri.authority().ok_or_else(|| refused("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(refused("an address has no login"));
        }
        let is_tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(refused("an address starts with https:// or http://")),
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(refused("it names no host"));
        }
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        Ok(Self { host, port, is_tls, authority: authority.as_str().to_owned(), path })
    }

    /// The same host with more behind the path. A query does not stay.
    pub(crate) fn below(&self, rest: &str) -> Result<Self, WebError> {
        let whole = format!("{}{rest}", self.path.path().trim_end_matches('/'));
        let path = whole.parse().map_err(|_| WebError::Address {
            url: whole.chars().take(200).collect(),
            why: "it is no path",
        })?;
        Ok(Self { path, ..self.clone() })
    }

    /// Whether both are the same server.
    pub(crate) fn has_origin_of(&self, other: &Self) -> bool {
        self.port == other.port
            && self.is_tls == other.is_tls
            && self.host.eq_ignore_ascii_case(&other.host)
    }

    pub(crate) fn path(&self) -> &str {
        self.path.as_str()
    }

    pub(crate) fn authority(&self) -> HeaderValue {
        HeaderValue::from_str(&self.authority)
            .unwrap_or_else(|_| HeaderValue::from_static("localhost"))
    }

    /// Whether the policy permits an address that is a number, and so is known before anything is looked up.
    pub(crate) fn is_permitted(&self, policy: &dyn A2aAddressPolicy) -> bool {
        self.host.parse().map_or(true, |ip| policy.permits(&self.address(ip)))
    }

    fn address(&self, ip: IpAddr) -> A2aAddress<'_> {
        A2aAddress { host: &self.host, ip: ip.to_canonical(), port: self.port, is_tls: self.is_tls }
    }
}

/// Sends requests where the policy permits it.
#[derive(Clone)]
pub(crate) struct Web {
    policy: Arc<dyn A2aAddressPolicy>,
    tls: Tls,
}

/// The certificates that servers are checked against, read when they are needed first.
#[derive(Clone, Default)]
struct Tls(Arc<OnceLock<Result<Arc<ClientConfig>, String>>>);

trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

impl Web {
    /// `tls` stands for the certificates that the system trusts.
    pub(crate) fn new(policy: Arc<dyn A2aAddressPolicy>, tls: Option<Arc<ClientConfig>>) -> Self {
        let own = Tls::default();
        if let Some(config) = tls {
            own.0.get_or_init(|| Ok(config));
        }
        Self { policy, tls: own }
    }

    /// Sends a request on a connection of its own and waits for the head of the answer. No redirect is followed: it would take
    /// credentials elsewhere.
    pub(crate) async fn send(
        &self,
        target: &Target,
        request: Request<Full<Bytes>>,
        timeout: Duration,
    ) -> Result<Response<Incoming>, WebError> {
        let sending = async {
            let stream = self.connect(target).await?;
            let broken = |error: hyper::Error| WebError::Broken {
                host: target.host.clone(),
                why: error.to_string(),
            };
            let (mut sender, connection) =
                hyper::client::conn::http1::handshake(TokioIo::new(stream))
                    .await
                    .map_err(broken)?;
            tokio::spawn(async move {
                // Whoever waits for an answer on it is told.
                drop(connection.await);
            });
            sender.send_request(request).await.map_err(broken)
        };
        let late = |_| WebError::Timeout { host: target.host.clone(), after: timeout };
        tokio::time::timeout(timeout, sending).await.map_err(late)?
    }

    async fn connect(&self, target: &Target) -> Result<Box<dyn Duplex>, WebError> {
        let failed = |source| WebError::Connect { host: target.host.clone(), source };
        let stream = self.dial(target).await?;
        stream.set_nodelay(true).map_err(failed)?;
        if !target.is_tls {
            return Ok(Box::new(stream));
        }
        let config = self.tls.config().map_err(|why| failed(io::Error::other(why)))?;
        let name = ServerName::try_from(target.host.clone())
            .map_err(|_| failed(io::Error::other("no certificate can have this name")))?;
        let stream = TlsConnector::from(config).connect(name, stream).await.map_err(failed)?;
        Ok(Box::new(stream))
    }

    /// What a name leads to is known only now, so the policy is asked now; the address that was checked is the one that is used.
    async fn dial(&self, target: &Target) -> Result<TcpStream, WebError> {
        let failed = |source| WebError::Connect { host: target.host.clone(), source };
        let found = tokio::net::lookup_host((target.host.as_str(), target.port)).await;
        let mut last = None;
        for address in found.map_err(failed)? {
            if !self.policy.permits(&target.address(address.ip())) {
                continue;
            }
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = Some(error),
            }
        }
        match last {
            Some(source) => Err(failed(source)),
            None => Err(WebError::Forbidden { host: target.host.clone() }),
        }
    }
}

/// The body of an answer, if it is not too long and comes in time.
pub(crate) async fn whole(
    target: &Target,
    body: Incoming,
    limit: usize,
    timeout: Duration,
) -> Result<Bytes, WebError> {
    let host = || target.host.clone();
    let reading = Limited::new(body, limit).collect();
    match tokio::time::timeout(timeout, reading).await {
        Err(_) => Err(WebError::Timeout { host: host(), after: timeout }),
        Ok(Ok(read)) => Ok(read.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(WebError::TooLarge { host: host(), limit })
        }
        Ok(Err(error)) => Err(WebError::Broken { host: host(), why: error.to_string() }),
    }
}

impl Tls {
    fn config(&self) -> Result<Arc<ClientConfig>, String> {
        self.0.get_or_init(|| trusted().map(Arc::new)).clone()
    }
}

/// Trusts the certificates that the system trusts.
fn trusted() -> Result<ClientConfig, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err("there are no certificates to check servers against".to_owned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be used: {error}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::A2aReach;

    #[test]
    fn addresses_are_read() {
        let target = Target::parse("http://[::1]:81/a/b?c=d").unwrap();
        assert_eq!((target.host.as_str(), target.port, target.is_tls), ("::1", 81, false));
        assert_eq!(target.path(), "/a/b?c=d");
        assert_eq!(target.below("/tasks/1").unwrap().path(), "/a/b/tasks/1");
        let other = Target::parse("https://Example.com").unwrap();
        assert_eq!((other.port, other.path()), (443, "/"));
        assert!(other.has_origin_of(&Target::parse("https://example.com:443/x").unwrap()));
        assert!(!other.has_origin_of(&Target::parse("http://example.com:443/x").unwrap()));
        for wrong in
            ["", "/a", "ftp://a/", "http://", "http://me:pw@a/", "http://a b/", "file:///a"]
        {
            assert!(Target::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_checked_at_once() {
        let ok = |url| Target::parse(url).unwrap().is_permitted(&A2aReach::Loopback);
        assert!(ok("http://127.0.0.1/") && ok("http://[::ffff:127.0.0.1]/"));
        assert!(!ok("http://10.0.0.1/") && !ok("http://[::ffff:10.0.0.1]/"));
        // A name is checked when it is looked up.
        assert!(ok("http://example.com/"));
    }
}
