//! Connections between agents: calls, streams and acknowledged messages over TLS, QUIC or within one process.
//!
//! A [`PeerListener`] accepts, a [`PeerClient`] connects and connects again, and [`pair()`] joins two agents of one process. All give
//! [`PeerConnection`]s, and what the other side wants goes to a [`PeerHandler`]. Either side may call, send events and open streams. The
//! [`PeerSession`] does all that is not I/O. `docs/design/transport.md` says what is on the wire.

mod address;
mod backoff;
mod client;
mod command;
mod connect;
mod connection;
mod control;
mod driver;
mod error;
mod frame;
mod handler;
mod handshake;
mod hex;
mod identity;
mod limits;
mod listener;
mod message;
mod name;
mod pair;
mod pipe;
#[cfg(feature = "quic")]
mod quic;
mod session;
mod sessions;
mod stream;
mod token;
mod verify;

pub use address::{PeerAddress, PeerWay};
pub use backoff::Backoff;
pub use client::{PeerClient, PeerClientOptions};
pub use connection::{PeerCall, PeerConnection};
pub use error::{
    CallHandled, ConnectionEnd, IdentityError, PeerCallError, PeerConnectError, PeerSendError,
    PeerStreamError,
};
pub use handler::{NoHandler, PeerHandler};
pub use handshake::{AdmittedPeer, ChannelProof, ClientHandshake, PeerSessionId};
pub use handshake::{ServerHandshake, WelcomedPeer};
pub use identity::{CertificateFingerprint, PeerIdentity, PeerTrust};
pub use limits::{OfferedLimits, PeerLimits};
pub use listener::{PeerListener, PeerListenerOptions, PeerServer};
pub use message::{PeerBody, PeerMessage};
pub use name::PeerName;
pub use offshoot_mxp::{FailureBody, MessageFlags, MessageKind};
pub use pair::{PeerEnd, pair};
pub use rustls::pki_types::{CertificateDer, PrivateKeyDer};
pub use session::{OutgoingCall, PeerSession, PeerSide, PeerTicket, SessionAction};
pub use stream::{PeerStream, PeerStreamReader, PeerStreamWriter};
pub use token::{PeerToken, TokenTable};
