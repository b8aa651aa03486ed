//! What one command may cost.

use std::time::Duration;

/// Bounds of the proxy. All of them are in force at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EgressLimits {
    /// How many connections are served at once; further ones wait in the backlog of their socket. Each needs two
    /// descriptors.
    pub connections: usize,
    /// The longest head of a request or an answer, in bytes.
    pub head_size: usize,
    /// How long a client may take for the head of a request, the greeting of SOCKS or of TLS.
    pub head_time: Duration,
    /// How long a connection may wait for its next request.
    pub keep_alive: Duration,
    /// How long finding and reaching a server may take.
    pub connect_time: Duration,
    /// How long a connection stays open on which neither side sends anything.
    pub idle: Duration,
    /// The same once one side has said that it sends nothing any more.
    pub half_closed: Duration,
    /// How many connections the report lists.
    pub recorded: usize,
    /// How many names get a made-up address.
    pub names: usize,
}

impl Default for EgressLimits {
    fn default() -> Self {
        Self {
            connections: 1024,
            head_size: 64 << 10,
            head_time: Duration::from_secs(15),
            keep_alive: Duration::from_secs(60),
            connect_time: Duration::from_secs(20),
            idle: Duration::from_secs(600),
            half_closed: Duration::from_secs(60),
            recorded: 1000,
            names: 16_384,
        }
    }
}
