//! What handles ask of the task that has the session.

use std::time::Duration;

use bytes::Bytes;
use offshoot_mxp::FailureBody;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::error::{PeerCallError, PeerSendError, PeerStreamError};
use crate::message::{PeerBody, PeerMessage};
use crate::session::PeerTicket;
use offshoot_mxp::MessageKind;

/// A piece of a stream, or its end.
pub(crate) type StreamItem = Result<(Bytes, bool), PeerStreamError>;

/// A stream that was opened: its number and what comes of it.
pub(crate) type OpenedStream = (u64, mpsc::UnboundedReceiver<StreamItem>);

/// What waits in a bounded queue.
pub(crate) enum Command {
    Call {
        ticket: PeerTicket,
        kind: MessageKind,
        body: PeerBody,
        deadline: Option<Instant>,
        idempotent: bool,
        reply: oneshot::Sender<Result<PeerMessage, PeerCallError>>,
    },
    Send {
        ticket: PeerTicket,
        body: PeerBody,
        acknowledged: bool,
        reply: oneshot::Sender<Result<(), PeerSendError>>,
    },
    Open {
        body: PeerBody,
        reply: oneshot::Sender<Result<OpenedStream, PeerStreamError>>,
    },
    Write {
        id: u64,
        bytes: Bytes,
        flush: bool,
        last: bool,
        reply: oneshot::Sender<Result<(), PeerStreamError>>,
    },
}

/// What must get through at once. There is at most one for each call, chunk and handle.
pub(crate) enum Notice {
    /// Nobody waits for a call.
    Cancel(PeerTicket),
    /// A chunk was read.
    Read(u64, usize),
    /// A stream is not needed any more.
    Abandon(u64),
    /// A stream is to be ended.
    CloseStream(u64, Option<FailureBody>),
    /// No more requests; what is open has so much time.
    Drain(Duration),
}
