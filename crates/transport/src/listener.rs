//! The side that accepts connections.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::address::{PeerAddress, PeerWay};
use crate::client::random;
use crate::connect::{LABEL, only_loopback};
use crate::connection::PeerConnection;
use crate::control::{self, HANDSHAKE_MESSAGE};
use crate::error::{IdentityError, PeerConnectError};
use crate::handler::PeerHandler;
use crate::handshake::{ChannelProof, ServerHandshake};
use crate::identity::{PeerIdentity, PeerTrust, name_of, server_config};
use crate::limits::PeerLimits;
use crate::pipe::{Channel, Pipe};
use crate::sessions::{Attachment, Sessions};
use crate::token::TokenTable;

/// After an accept that failed, wait so long: there may be too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// How a server accepts.
#[derive(Clone, Debug)]
pub struct PeerListenerOptions {
    /// Where to listen. The host is an IP address, or a name of one; port 0 takes any.
    pub address: PeerAddress,
    /// The own certificate; plain TCP has none.
    pub identity: Option<PeerIdentity>,
    /// Which clients are trusted by their certificates.
    pub trust: PeerTrust,
    /// Which clients are trusted by their tokens.
    pub tokens: TokenTable,
    /// Whether plain TCP may be used, on loopback.
    pub allow_plain: bool,
    /// Limits of each session.
    pub limits: PeerLimits,
    /// Connections at one time.
    pub connections: usize,
    /// Handshakes at one time.
    pub handshakes: usize,
    /// How long a handshake may take.
    pub handshake_time: Duration,
    /// How long a session lives without a connection.
    pub linger: Duration,
    /// Sessions of one name.
    pub sessions: usize,
    /// Those of them without a connection.
    pub detached: usize,
}

impl PeerListenerOptions {
    /// For an address, with nobody trusted yet.
    pub fn new(address: PeerAddress) -> Self {
        Self {
            address,
            identity: None,
            trust: PeerTrust::default(),
            tokens: TokenTable::default(),
            allow_plain: false,
            limits: PeerLimits::default(),
            connections: 256,
            handshakes: 32,
            handshake_time: Duration::from_secs(10),
            linger: Duration::from_secs(120),
            sessions: 64,
            detached: 8,
        }
    }
}

enum Socket {
    Plain(TcpListener),
    Tls(TcpListener, TlsAcceptor),
    #[cfg(feature = "quic")]
    Quic(quinn::Endpoint),
}

enum Arrival {
    Plain(TcpStream),
    Tls(TcpStream, TlsAcceptor),
    #[cfg(feature = "quic")]
    Quic(Box<quinn::Incoming>),
}

/// A socket that listens.
pub struct PeerListener {
    socket: Socket,
    options: PeerListenerOptions,
    address: SocketAddr,
}

impl PeerListener {
    /// Listens.
    pub async fn bind(options: PeerListenerOptions) -> Result<Self, PeerConnectError> {
        let place = place_of(&options.address).await?;
        let way = options.address.way;
        let broken = |error| broken(&options.address, error);
        if way == PeerWay::Plain {
            if !options.allow_plain {
                return Err(IdentityError::PlainNotAllowed.into());
            }
            only_loopback(place)?;
            if options.tokens.is_empty() {
                return Err(IdentityError::Missing("plain TCP needs a token on both sides").into());
            }
            let listener = TcpListener::bind(place).await.map_err(broken)?;
            let address = listener.local_addr().map_err(broken)?;
            return Ok(Self { socket: Socket::Plain(listener), options, address });
        }
        let hint = IdentityError::Missing("a server needs a certificate and its key");
        let identity = options.identity.as_ref().ok_or(hint)?;
        let tls = server_config(identity, &options.trust, !options.tokens.is_empty())?;
        let (socket, address) = match way {
            #[cfg(feature = "quic")]
            PeerWay::Quic => {
                let endpoint = crate::quic::listen(place, tls).map_err(broken)?;
                let address = endpoint.local_addr().map_err(broken)?;
                (Socket::Quic(endpoint), address)
            }
            #[cfg(not(feature = "quic"))]
            PeerWay::Quic => return Err(IdentityError::NoQuic.into()),
            PeerWay::Tls | PeerWay::Plain => {
                let listener = TcpListener::bind(place).await.map_err(broken)?;
                let address = listener.local_addr().map_err(broken)?;
                (Socket::Tls(listener, TlsAcceptor::from(tls)), address)
            }
        };
        Ok(Self { socket, options, address })
    }

    /// Where it listens, with the port that was taken.
    pub fn address(&self) -> PeerAddress {
        let host = match self.address.is_ipv6() {
            true => self.address.ip().to_string(),
            false => self.options.address.host.clone(),
        };
        PeerAddress { way: self.options.address.way, host, port: self.address.port() }
    }

    /// Accepts connections until the server is dropped or drained.
    pub fn serve(self, handler: impl PeerHandler) -> PeerServer {
        let address = self.address();
        let Self { socket, options, .. } = self;
        let (limits, most) = (options.limits.clone(), (options.sessions, options.detached));
        let sessions = Sessions::new(Arc::new(handler), limits, options.linger, most);
        let sessions = Arc::new(sessions);
        let accepting = CancellationToken::new();
        let accept = Accept {
            tokens: Arc::new(options.tokens.clone()),
            connections: Arc::new(Semaphore::new(options.connections)),
            handshakes: Arc::new(Semaphore::new(options.handshakes)),
            sessions: sessions.clone(),
            options,
        };
        let stop = accepting.clone();
        drop(tokio::spawn(async move {
            // Without anybody who accepts, the socket closes.
            stop.run_until_cancelled(Arc::new(accept).run(&socket)).await
        }));
        PeerServer { address, sessions, accepting }
    }
}

/// A listener that accepts connections. Dropping it ends all of its sessions.
pub struct PeerServer {
    address: PeerAddress,
    sessions: Arc<Sessions>,
    accepting: CancellationToken,
}

impl PeerServer {
    /// Where it listens.
    pub fn address(&self) -> &PeerAddress {
        &self.address
    }

    /// Handles of all sessions, also of those that have no connection at this moment.
    pub fn peers(&self) -> Vec<PeerConnection> {
        self.sessions.handles()
    }

    /// Accepts no more sessions and requests, waits until nothing is open, for so long at most, and ends all sessions.
    pub async fn drain(self, time: Duration) {
        // Sessions that are there may still come back for what is open.
        self.sessions.drain(time);
        // Either way all end with the server.
        drop(timeout(time, self.sessions.emptied()).await);
    }
}

impl Drop for PeerServer {
    fn drop(&mut self) {
        self.accepting.cancel();
        self.sessions.stop();
    }
}

struct Accept {
    options: PeerListenerOptions,
    tokens: Arc<TokenTable>,
    connections: Arc<Semaphore>,
    handshakes: Arc<Semaphore>,
    sessions: Arc<Sessions>,
}

impl Accept {
    async fn run(self: Arc<Self>, socket: &Socket) {
        loop {
            let arrival = match next(socket).await {
                Ok(Some(arrival)) => arrival,
                Ok(None) => return,
                Err(_error) => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let connection = self.connections.clone().try_acquire_owned();
            let handshake = self.handshakes.clone().try_acquire_owned();
            let (Ok(permit), Ok(handshake)) = (connection, handshake) else { continue };
            let accept = self.clone();
            drop(tokio::spawn(async move {
                let time = accept.options.handshake_time;
                let shaken = timeout(time, accept.shake(arrival, permit)).await;
                drop(handshake);
                if let Ok(Some(attachment)) = shaken {
                    accept.sessions.attach(attachment);
                }
            }));
        }
    }

    /// Who it is; nothing if that is not proven. Whoever fails is told why, as far as it may know.
    async fn shake(&self, arrival: Arrival, permit: OwnedSemaphorePermit) -> Option<Attachment> {
        let channel = self.channel(arrival).await.ok()?;
        let handshake = ServerHandshake::new(random().ok()?, self.tokens.clone(), channel.proof);
        let mut pipe = Pipe::new(channel.bytes, HANDSHAKE_MESSAGE);
        pipe.send(&handshake.greeting()).await.ok()?;
        let hello = pipe.receive().await.ok()?;
        match handshake.hello(&hello) {
            Ok(admitted) => Some(Attachment { pipe, admitted, permit, fresh: false }),
            Err(reason) => {
                pipe.send(&control::error(0, &reason)).await.ok()?;
                pipe.end().await;
                None
            }
        }
    }

    async fn channel(&self, arrival: Arrival) -> io::Result<Channel> {
        match arrival {
            Arrival::Plain(stream) => {
                stream.set_nodelay(true)?;
                Ok(Channel { bytes: Box::new(stream), proof: ChannelProof::default() })
            }
            Arrival::Tls(stream, acceptor) => {
                stream.set_nodelay(true)?;
                let stream = acceptor.accept(stream).await?;
                let (_, connection) = stream.get_ref();
                let binding = connection.export_keying_material([0; 32], LABEL, None);
                let binding = Some(binding.map_err(io::Error::other)?);
                let name = self.name(connection.peer_certificates().unwrap_or_default())?;
                let proof = ChannelProof { binding, name };
                Ok(Channel { bytes: Box::new(stream), proof })
            }
            #[cfg(feature = "quic")]
            Arrival::Quic(incoming) => {
                let (mut channel, certificates) = crate::quic::accept(*incoming).await?;
                channel.proof.name = self.name(&certificates)?;
                Ok(channel)
            }
        }
    }

    fn name(
        &self,
        certificates: &[CertificateDer<'_>],
    ) -> io::Result<Option<crate::name::PeerName>> {
        if certificates.is_empty() {
            return Ok(None);
        }
        name_of(certificates, &self.options.trust.pins).map(Some).map_err(io::Error::other)
    }
}

async fn next(socket: &Socket) -> io::Result<Option<Arrival>> {
    Ok(Some(match socket {
        Socket::Plain(listener) => Arrival::Plain(listener.accept().await?.0),
        Socket::Tls(listener, acceptor) => {
            Arrival::Tls(listener.accept().await?.0, acceptor.clone())
        }
        #[cfg(feature = "quic")]
        Socket::Quic(endpoint) => match endpoint.accept().await {
            Some(incoming) => Arrival::Quic(Box::new(incoming)),
            None => return Ok(None),
        },
    }))
}

async fn place_of(address: &PeerAddress) -> Result<SocketAddr, PeerConnectError> {
    let places = (address.host.as_str(), address.port);
    let mut places =
        tokio::net::lookup_host(places).await.map_err(|error| broken(address, error))?;
    let missing = || io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    places.next().ok_or_else(|| broken(address, missing()))
}

fn broken(address: &PeerAddress, error: io::Error) -> PeerConnectError {
    PeerConnectError::Io { address: address.to_string(), error }
}
