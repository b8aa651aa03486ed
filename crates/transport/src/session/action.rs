//! What a session wants done.

use std::time::Duration;

use bytes::Bytes;

use crate::error::{ConnectionEnd, PeerCallError, PeerSendError, PeerStreamError};
use crate::message::PeerMessage;

/// The caller's own number of a call or an event.
pub type PeerTicket = u64;

/// What a session wants done, in this order.
#[derive(Debug, PartialEq)]
pub enum SessionAction {
    /// Run the handler for a request, and answer it within the time.
    Request {
        /// The request.
        message: PeerMessage,
        /// So much time is left.
        time: Duration,
    },
    /// Stop the handler of a request; nobody wants its answer.
    CancelRequest {
        /// Which.
        id: u64,
    },
    /// Run the handler for an event, and say when it is done. No other event comes before that.
    Event {
        /// The event.
        message: PeerMessage,
    },
    /// Run the handler for a stream that the other side opened.
    Stream {
        /// What it said.
        message: PeerMessage,
    },
    /// A piece of a stream came.
    StreamData {
        /// Which stream.
        id: u64,
        /// The piece.
        bytes: Bytes,
        /// Whether nothing follows.
        last: bool,
    },
    /// A stream may be written again.
    StreamWritable {
        /// Which.
        id: u64,
    },
    /// A stream is over, without having been finished.
    StreamEnded {
        /// Which.
        id: u64,
        /// Why.
        error: PeerStreamError,
    },
    /// A call has its result.
    CallDone {
        /// Which.
        ticket: PeerTicket,
        /// What came of it.
        result: Result<PeerMessage, PeerCallError>,
    },
    /// An acknowledged event has its result.
    EventDone {
        /// Which.
        ticket: PeerTicket,
        /// What came of it.
        result: Result<(), PeerSendError>,
    },
    /// Write what is there, and close the connection.
    Close {
        /// Why.
        reason: ConnectionEnd,
    },
}
