//! What keeps the proxy from starting.

use std::io;

/// Why the proxy could not be started.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    /// A socket that was handed in cannot be used.
    #[error("cannot use the {what} of the network proxy: {error}")]
    Socket {
        /// Which one.
        what: &'static str,
        /// What the system says.
        error: io::Error,
    },
    /// No thread or no event queue is to be had.
    #[error("cannot start the network proxy: {0}")]
    Runtime(io::Error),
    /// The local certificate authority could not be made.
    #[error("cannot make certificates for the network proxy: {0}")]
    Certificates(String),
    /// There are no certificates that servers could be checked against.
    #[error("cannot check the certificates of servers: this system has no root certificates ({0})")]
    NoRoots(String),
    /// A header cannot be put into a request.
    #[error("cannot use the credential for {host}: {problem}")]
    Credential {
        /// The host that it is for.
        host: String,
        /// What is wrong with it; never its value.
        problem: &'static str,
    },
}
