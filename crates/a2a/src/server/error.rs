//! Why a server does not begin.

use std::net::SocketAddr;

use crate::store::A2aStoreError;

/// Why a server does not begin.
#[derive(Debug, thiserror::Error)]
pub enum A2aServerError {
    /// The address cannot be listened on.
    #[error("{address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// Other machines could reach it.
    #[error("{address} is reached from other machines; set `listen_anywhere`, or use 127.0.0.1")]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// Nobody has to show a token, and other machines could reach it.
    #[error("{address} is reached from other machines: give clients tokens")]
    OpenAnywhere {
        /// The address.
        address: SocketAddr,
    },
    /// A token is no token.
    #[error("the token of {client}: {why}")]
    Token {
        /// Whose token.
        client: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The store does not work.
    #[error(transparent)]
    Store(#[from] A2aStoreError),
}
