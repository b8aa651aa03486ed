//! What one side grants the other, and itself.

use std::time::Duration;

use offshoot_mxp::MAX_PAYLOAD;
use serde::{Deserialize, Serialize};

/// The least window of a stream.
pub(crate) const LEAST_WINDOW: u64 = 4096;

/// Limits of one session. `docs/design/transport.md` says what happens when one is passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerLimits {
    /// The longest payload that is accepted, at most 16 MiB.
    pub message: usize,
    /// Open requests of the other side.
    pub calls: usize,
    /// Bytes of open requests of the other side.
    pub request_bytes: usize,
    /// Events that were accepted and wait for the handler.
    pub events: usize,
    /// Bytes of these.
    pub event_bytes: usize,
    /// Open streams that the other side opened.
    pub streams: usize,
    /// What the other side may send of one stream before it was read; at least 4096.
    pub window: u64,
    /// Bytes that wait to be written.
    pub queue_bytes: usize,
    /// Own calls that wait to be sent.
    pub pending: usize,
    /// The time of a request that came without a deadline, and the longest of any.
    pub call_time: Duration,
    /// Silence after which the other side is asked whether it is there.
    pub keep_alive: Duration,
    /// Silence after which the connection is lost.
    pub idle: Duration,
}

impl Default for PeerLimits {
    fn default() -> Self {
        Self {
            message: MAX_PAYLOAD,
            calls: 256,
            request_bytes: 64 << 20,
            events: 256,
            event_bytes: 32 << 20,
            streams: 64,
            window: 256 << 10,
            queue_bytes: 32 << 20,
            pending: 1024,
            call_time: Duration::from_secs(600),
            keep_alive: Duration::from_secs(10),
            idle: Duration::from_secs(30),
        }
    }
}

impl PeerLimits {
    /// What the other side is told.
    pub(crate) fn offered(&self) -> OfferedLimits {
        OfferedLimits {
            message: self.message.min(MAX_PAYLOAD),
            calls: self.calls,
            events: self.events,
            event_bytes: self.event_bytes,
            streams: self.streams,
            window: self.window.max(LEAST_WINDOW),
        }
    }
}

/// What one side may do, as the other side says in its handshake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedLimits {
    /// The longest payload.
    pub message: usize,
    /// Open requests.
    pub calls: usize,
    /// Acknowledged events in flight.
    pub events: usize,
    /// Bytes of these.
    pub event_bytes: usize,
    /// Open streams.
    pub streams: usize,
    /// Bytes of one stream that were not read.
    pub window: u64,
}
