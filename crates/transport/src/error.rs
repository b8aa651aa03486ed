//! What can go wrong between two peers.

use std::net::SocketAddr;
use std::time::Duration;

use offshoot_mxp::{FailureBody, MessageError};

/// A name, a token, a certificate or an address that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// Not a name of a peer.
    #[error("{0:?} is no name of a peer; use 1 to 128 of a-z, 0-9, '.', '-' and '_'")]
    Name(String),
    /// A token that could be guessed.
    #[error("a token has at least {least} bytes, and this one has {found}")]
    ShortToken {
        /// So many are needed.
        least: usize,
        /// So many are there.
        found: usize,
    },
    /// A certificate or key that TLS refuses.
    #[error("the certificate or its key cannot be used: {0}")]
    Certificate(String),
    /// Not a fingerprint.
    #[error(
        "{0:?} is no fingerprint; use the 64 hexadecimal digits of the SHA-256 of the certificate"
    )]
    Fingerprint(String),
    /// Not an address.
    #[error(
        "{0:?} is no address of a peer; use tls://HOST:PORT, quic://HOST:PORT or tcp://127.0.0.1:PORT"
    )]
    Address(String),
    /// Plain TCP over a network.
    #[error("{0} is not a loopback address; use tls:// or quic://")]
    PlainOffLoopback(SocketAddr),
    /// Plain TCP that nobody asked for.
    #[error("plain TCP has to be asked for: set `allow_plain`, or use tls:// or quic://")]
    PlainNotAllowed,
    /// QUIC in a build that has none.
    #[error("this build has no QUIC; use tls://")]
    NoQuic,
    /// TLS without a certificate, or plain TCP without tokens.
    #[error("{0}")]
    Missing(&'static str),
}

/// A connection that did not come about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeerConnectError {
    /// What was given cannot be used.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Nothing is there, or it broke off.
    #[error("cannot connect to {address}: {error}")]
    Io {
        /// Where.
        address: String,
        /// Why.
        error: std::io::Error,
    },
    /// TLS refused one side.
    #[error("{address} and this side do not trust each other: {reason}")]
    Tls {
        /// Where.
        address: String,
        /// Why.
        reason: String,
    },
    /// The other side refused the handshake.
    #[error("the other side refused the handshake: {error} ({code})")]
    Refused {
        /// For programs.
        code: String,
        /// For people.
        error: String,
    },
    /// The other side does not say what it should.
    #[error("the other side does not follow the protocol: {0}")]
    Protocol(String),
    /// It took too long.
    #[error("the handshake was not over after {0:?}")]
    Slow(Duration),
    /// The client was closed.
    #[error("the client is closed")]
    Closed,
}

impl PeerConnectError {
    /// Whether another attempt with the same options can succeed.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Identity(_) | Self::Tls { .. } | Self::Protocol(_) | Self::Closed => true,
            Self::Refused { code, .. } => code != "busy" && code != "draining",
            Self::Io { .. } | Self::Slow(_) => false,
        }
    }
}

/// Whether the other side handled a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallHandled {
    /// It did not, and will not.
    No,
    /// Nobody knows.
    Maybe,
    /// It did.
    Yes,
}

/// A call without a response.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerCallError {
    /// The other side answered with an error.
    #[error("{} ({})", .0.error, .0.code)]
    Refused(FailureBody),
    /// Its time was over.
    #[error("no response within the deadline")]
    Deadline {
        /// Whether the other side handled it.
        handled: CallHandled,
    },
    /// The connection was lost.
    #[error("the connection was lost before the response came")]
    Disconnected {
        /// Whether the other side handled it.
        handled: CallHandled,
    },
    /// The payload is longer than the other side accepts.
    #[error("a payload of {found} bytes is longer than the {most} that the other side accepts")]
    TooLong {
        /// So long it is.
        found: usize,
        /// So long it may be.
        most: usize,
    },
    /// Too many calls wait.
    #[error("{0} calls wait already; wait for some, or raise `pending`")]
    TooMany(usize),
    /// Not a request.
    #[error("a message of this kind is no request")]
    Kind,
    /// This side takes no more calls.
    #[error("the session is being drained or closed")]
    Closed,
}

impl PeerCallError {
    /// Whether the other side handled the request.
    pub fn handled(&self) -> CallHandled {
        match self {
            Self::Refused(failure) => match failure.code.as_str() {
                "busy" | "draining" => CallHandled::No,
                "deadline" | "cancelled" | "internal" => CallHandled::Maybe,
                _ => CallHandled::Yes,
            },
            Self::Deadline { handled } | Self::Disconnected { handled } => *handled,
            Self::TooLong { .. } | Self::TooMany(_) | Self::Kind | Self::Closed => CallHandled::No,
        }
    }
}

/// An event that was not delivered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerSendError {
    /// The other side's handler failed.
    #[error("{} ({})", .0.error, .0.code)]
    Refused(FailureBody),
    /// There is no connection, and nobody asked for an acknowledgement.
    #[error("there is no connection; send it acknowledged, or try again")]
    NotConnected,
    /// The payload is longer than the other side accepts.
    #[error("a payload of {found} bytes is longer than the {most} that the other side accepts")]
    TooLong {
        /// So long it is.
        found: usize,
        /// So long it may be.
        most: usize,
    },
    /// The session ended before it was acknowledged.
    #[error("the session ended before the event was acknowledged")]
    Closed,
}

/// A stream that cannot be opened, written or read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerStreamError {
    /// The other side ended it.
    #[error("the other side closed the stream: {} ({})", .0.error, .0.code)]
    Closed(FailureBody),
    /// The connection was lost.
    #[error("the connection was lost")]
    Disconnected,
    /// There is no connection.
    #[error("there is no connection")]
    NotConnected,
    /// Too many are open.
    #[error("{0} streams are open already, as many as the other side accepts")]
    TooMany(usize),
    /// The payload is longer than the other side accepts.
    #[error("a payload of {found} bytes is longer than the {most} that the other side accepts")]
    TooLong {
        /// So long it is.
        found: usize,
        /// So long it may be.
        most: usize,
    },
    /// Written after its end.
    #[error("the stream was finished")]
    Finished,
    /// One side takes no more streams.
    #[error("the session is being drained")]
    Draining,
}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionEnd {
    /// The other side broke the protocol.
    #[error("the other side broke the protocol: {0}")]
    Protocol(String),
    /// The other side ended it.
    #[error("the other side ended the connection: {error} ({code})")]
    Remote {
        /// For programs.
        code: String,
        /// For people.
        error: String,
    },
    /// Nothing was heard for too long.
    #[error("nothing was heard for {0:?}")]
    Idle(Duration),
    /// All that was open is done.
    #[error("drained")]
    Drained,
    /// A newer connection of the same session took over.
    #[error("a newer connection took over")]
    Replaced,
    /// The bytes ended or could not be written.
    #[error("{0}")]
    Io(String),
    /// This side closed it.
    #[error("closed")]
    Closed,
}

impl From<MessageError> for ConnectionEnd {
    fn from(error: MessageError) -> Self {
        Self::Protocol(error.to_string())
    }
}

/// A failure with a code, for handlers.
pub(crate) fn failure(code: &str, error: impl Into<String>) -> FailureBody {
    FailureBody { error: error.into(), code: code.to_owned() }
}
