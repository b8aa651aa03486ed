//! QUIC: one bidirectional stream of one connection.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ConnectionError, Endpoint, RecvStream, SendStream, TransportConfig};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connect::{Connector, LABEL};
use crate::error::{IdentityError, PeerConnectError};
use crate::handshake::ChannelProof;
use crate::pipe::Channel;

/// Longer than the session waits itself.
const IDLE: Duration = Duration::from_secs(120);

/// The two halves of a stream, and what has to live as long.
struct QuicDuplex {
    send: SendStream,
    receive: RecvStream,
    connection: quinn::Connection,
    /// The client's endpoint has one connection.
    _endpoint: Option<Endpoint>,
}

impl Drop for QuicDuplex {
    fn drop(&mut self) {
        self.connection.close(0u32.into(), b"");
    }
}

impl AsyncRead for QuicDuplex {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        AsyncRead::poll_read(Pin::new(&mut self.receive), context, buffer)
    }
}

impl AsyncWrite for QuicDuplex {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        AsyncWrite::poll_write(Pin::new(&mut self.send), context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_flush(Pin::new(&mut self.send), context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_shutdown(Pin::new(&mut self.send), context)
    }
}

fn transport() -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.max_concurrent_uni_streams(0u32.into());
    transport.max_concurrent_bidi_streams(1u32.into());
    transport.datagram_receive_buffer_size(None);
    // It is a number of milliseconds that fits.
    transport.max_idle_timeout(IDLE.try_into().ok());
    Arc::new(transport)
}

/// Connects to a server and waits for the stream that it opens.
pub(crate) async fn connect(
    connector: &Connector,
    place: SocketAddr,
    tls: Arc<ClientConfig>,
) -> Result<Channel, PeerConnectError> {
    let broken = |error| connector.broken(error);
    let crypto = QuicClientConfig::try_from(tls)
        .map_err(|error| IdentityError::Certificate(error.to_string()))?;
    let mut config = quinn::ClientConfig::new(Arc::new(crypto));
    config.transport_config(transport());
    let any: SocketAddr = match place.is_ipv6() {
        true => (Ipv6Addr::UNSPECIFIED, 0).into(),
        false => (Ipv4Addr::UNSPECIFIED, 0).into(),
    };
    let endpoint = Endpoint::client(any).map_err(broken)?;
    let connecting = endpoint.connect_with(config, place, &connector.server_name);
    let connecting = connecting.map_err(|error| broken(io::Error::other(error)))?;
    let connection = connecting.await.map_err(|error| broken(error.into()))?;
    let (send, receive) = connection.accept_bi().await.map_err(|error| broken(error.into()))?;
    let name = Some(connector.server(&certificates(&connection))?);
    let binding = Some(binding(&connection).map_err(broken)?);
    let _endpoint = Some(endpoint);
    let bytes = Box::new(QuicDuplex { send, receive, connection, _endpoint });
    Ok(Channel { bytes, proof: ChannelProof { binding, name } })
}

/// Listens on an address.
pub(crate) fn listen(place: SocketAddr, tls: Arc<ServerConfig>) -> io::Result<Endpoint> {
    let crypto = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(transport());
    Endpoint::server(config, place)
}

/// Finishes the handshake of a client, and opens the stream. The certificate is read by the caller.
pub(crate) async fn accept(
    incoming: quinn::Incoming,
) -> io::Result<(Channel, Vec<CertificateDer<'static>>)> {
    let connection = incoming.await?;
    let (send, receive) = connection.open_bi().await?;
    let certificates = certificates(&connection);
    let binding = Some(binding(&connection)?);
    let bytes = Box::new(QuicDuplex { send, receive, connection, _endpoint: None });
    Ok((Channel { bytes, proof: ChannelProof { binding, name: None } }, certificates))
}

fn certificates(connection: &quinn::Connection) -> Vec<CertificateDer<'static>> {
    let identity = connection.peer_identity();
    let chain = identity.and_then(|it| it.downcast::<Vec<CertificateDer<'static>>>().ok());
    chain.map_or_else(Vec::new, |chain| *chain)
}

fn binding(connection: &quinn::Connection) -> io::Result<[u8; 32]> {
    let mut binding = [0; 32];
    let exported = connection.export_keying_material(&mut binding, LABEL, b"");
    exported.map_err(|_error| io::Error::other("TLS exports no keying material"))?;
    Ok(binding)
}

/// What TLS says in an error of QUIC, if it was TLS.
pub(crate) fn tls_reason(
    error: &(dyn std::error::Error + Send + Sync + 'static),
) -> Option<String> {
    let connection = match error.downcast_ref::<quinn::ReadError>() {
        Some(quinn::ReadError::ConnectionLost(connection)) => connection,
        Some(_) => return None,
        None => error.downcast_ref::<ConnectionError>()?,
    };
    let is_tls = |code: quinn::TransportErrorCode| (0x100..0x200).contains(&u64::from(code));
    match connection {
        ConnectionError::TransportError(error) if is_tls(error.code) => Some(error.to_string()),
        ConnectionError::ConnectionClosed(close) if is_tls(close.error_code) => {
            Some(close.to_string())
        }
        _ => None,
    }
}
