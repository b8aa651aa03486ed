//! Requests over the network: HTTP/1.1 on hyper, TLS by rustls, a connection for each.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use http::header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderName, HeaderValue, Method};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::{Transport, WireRequest, WireResponse};
use crate::address::Address;
use crate::error::{ErrorKind, ProviderError, shown};

/// How this crate names itself.
const AGENT: &str = concat!("offshoot/", env!("CARGO_PKG_VERSION"));

/// Sends requests over the network.
#[derive(Clone)]
pub(crate) struct Network {
    shared: Arc<Shared>,
}

struct Shared {
    address: Address,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    /// What every request has: the key, which is marked as such.
    key: Option<(HeaderName, HeaderValue)>,
    connect: Duration,
}

impl Network {
    pub(crate) fn new(
        address: Address,
        key: Option<(HeaderName, String)>,
        connect: Duration,
    ) -> Result<Self, ProviderError> {
        let tls = match address.is_tls {
            true => {
                let name = ServerName::try_from(address.host.clone()).map_err(|_| {
                    ProviderError::new(ErrorKind::BadRequest, "the base address names no host")
                })?;
                Some((connector()?, name))
            }
            false => None,
        };
        let key = key.map(|(name, value)| {
            let mut value = HeaderValue::from_str(&value).map_err(|_| {
                ProviderError::new(ErrorKind::Auth, "the key has characters that no header has")
            })?;
            value.set_sensitive(true);
            Ok::<_, ProviderError>((name, value))
        });
        let shared = Shared { address, tls, key: key.transpose()?, connect };
        Ok(Self { shared: Arc::new(shared) })
    }
}

impl Transport for Network {
    fn send(
        &self,
        request: WireRequest,
    ) -> BoxFuture<'static, Result<WireResponse, ProviderError>> {
        let shared = Arc::clone(&self.shared);
        async move { shared.send(request).await }.boxed()
    }
}

impl Shared {
    async fn send(&self, request: WireRequest) -> Result<WireResponse, ProviderError> {
        let failed = |error: hyper::Error| network(&error);
        let has_body = request.method != Method::GET;
        let body = match has_body {
            true => serde_json::to_vec(&request.body).map_err(|error| {
                let message = format!("the request is no JSON: {error}");
                ProviderError::new(ErrorKind::BadRequest, message)
            })?,
            false => Vec::new(),
        };
        let mut built = http::Request::builder()
            .method(request.method)
            .uri(format!("{}{}", self.address.path, request.path))
            .header(HOST, &self.address.authority)
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, "text/event-stream, application/json");
        if has_body {
            built = built.header(CONTENT_TYPE, "application/json");
        }
        for (name, value) in request.headers.into_iter().chain(self.key.clone()) {
            built = built.header(name, value);
        }
        let built = built.body(Full::new(Bytes::from(body))).map_err(|error| {
            ProviderError::new(ErrorKind::BadRequest, format!("the request is no HTTP: {error}"))
        })?;
        let stream = match timeout(self.connect, self.connect()).await {
            Ok(stream) => stream?,
            Err(_) => {
                let message = format!("no connection within {:?}", self.connect);
                return Err(ProviderError::new(ErrorKind::Timeout, message));
            }
        };
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
        // Whoever waits for an answer is told what goes wrong here.
        let task = EndsWithOwner(tokio::spawn(async move { drop(connection.await) }));
        let response = sender.send_request(built).await.map_err(failed)?;
        let (parts, body) = response.into_parts();
        let body = body.into_data_stream().map(move |piece| {
            // The connection lasts as long as this does.
            let _connection = &task;
            piece.map_err(|error| network(&error))
        });
        Ok(WireResponse {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: body.boxed(),
        })
    }

    async fn connect(&self) -> Result<Box<dyn Duplex>, ProviderError> {
        let stream = self.dial().await.map_err(|error| network(&error))?;
        stream.set_nodelay(true).map_err(|error| network(&error))?;
        match &self.tls {
            Some((connector, name)) => {
                let stream = connector.connect(name.clone(), stream).await;
                Ok(Box::new(stream.map_err(|error| network(&error))?))
            }
            None => Ok(Box::new(stream)),
        }
    }

    async fn dial(&self) -> io::Result<TcpStream> {
        let Address { host, port, stays_here, .. } = &self.address;
        let mut last = None;
        let found = tokio::net::lookup_host((host.as_str(), *port)).await?;
        // What a name leads to is known only now.
        let found: Vec<_> =
            found.filter(|address| !*stays_here || address.ip().is_loopback()).collect();
        for address in &found {
            // An address that does not answer leaves time for the others.
            let share = self.connect / u32::try_from(found.len()).unwrap_or(u32::MAX);
            match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = Some(error),
                Err(_) => last = Some(io::ErrorKind::TimedOut.into()),
            }
        }
        let nowhere =
            || io::Error::other(format!("{} leads to no address of this machine", shown(host)));
        Err(last.unwrap_or_else(nowhere))
    }
}

/// A connection, with TLS or without.
trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// A task that ends when nobody wants its work any more.
struct EndsWithOwner(JoinHandle<()>);

impl Drop for EndsWithOwner {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An error with all that caused it.
fn network(error: &(dyn std::error::Error + 'static)) -> ProviderError {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        cause = error.source();
    }
    ProviderError::new(ErrorKind::Network, shown(&message))
}

/// Trusts the certificates that the system trusts.
fn connector() -> Result<TlsConnector, ProviderError> {
    let failed = |what: String| ProviderError::new(ErrorKind::Network, what).into_final();
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
