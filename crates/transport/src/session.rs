//! One session without I/O: messages, time and calls in, messages and actions out.

mod action;
mod calls;
mod inbox;
mod outbox;
mod outgoing;
mod receive;
mod requests;
mod streams;

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use offshoot_mxp::{FailureBody, MessageFlags, MessageKind};

use self::calls::OwnCalls;
use self::inbox::EventInbox;
use self::outbox::EventOutbox;
use self::outgoing::{Numbers, Origin, Outgoing};
use self::requests::Requests;
use self::streams::Streams;
use crate::control::{self, ControlBody, document};
use crate::error::{
    CallHandled, ConnectionEnd, PeerCallError, PeerSendError, PeerStreamError, failure,
};
use crate::limits::{LEAST_WINDOW, OfferedLimits, PeerLimits};
use crate::message::{PeerBody, PeerMessage};

pub use self::action::{PeerTicket, SessionAction};
pub use self::calls::OutgoingCall;

/// Which end of a connection this is. It decides who has odd numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerSide {
    /// The one that connects.
    Client,
    /// The one that accepts.
    Server,
}

/// One session: what lasts over several connections, and the one connection that there is or is not.
///
/// All times are counted from one point that the caller chose. After each input, take the actions until there are none, and write messages
/// while there are any.
///
/// ```
/// use std::time::Duration;
/// use offshoot_transport::{PeerLimits, PeerSession, PeerSide, SessionAction};
///
/// let (limits, now) = (PeerLimits::default(), Duration::ZERO);
/// let mut client = PeerSession::new(PeerSide::Client, limits.clone());
/// let mut server = PeerSession::new(PeerSide::Server, limits.clone());
/// client.attach(now, true, 0, limits.clone().into());
/// server.attach(now, true, 0, limits.into());
/// client.send_event(1, "it rains".into(), true)?;
/// while let Some(message) = client.take_message(now) {
///     server.receive(now, message);
/// }
/// assert!(matches!(server.take_action(), Some(SessionAction::Event { .. })));
/// # Ok::<(), offshoot_transport::PeerSendError>(())
/// ```
#[derive(Debug)]
pub struct PeerSession {
    limits: PeerLimits,
    numbers: Numbers,
    calls: OwnCalls,
    requests: Requests,
    outbox: EventOutbox,
    inbox: EventInbox,
    streams: Streams,
    out: Outgoing,
    actions: VecDeque<SessionAction>,
    connection: Option<Connection>,
    /// This side takes no more requests, and starts none.
    draining: bool,
    closed: bool,
}

/// What belongs to one connection.
#[derive(Debug)]
struct Connection {
    peer: OfferedLimits,
    /// The last number of the other side.
    last: u64,
    last_received: Duration,
    last_ping: Duration,
    pong: bool,
    /// What the other side said of the request that comes next.
    time: Option<Duration>,
    /// The other side drains.
    peer_drains: bool,
    /// Only what is queued is written; nothing is read.
    ending: bool,
}

impl From<PeerLimits> for OfferedLimits {
    fn from(limits: PeerLimits) -> Self {
        limits.offered()
    }
}

impl PeerSession {
    /// A session without a connection.
    pub fn new(side: PeerSide, limits: PeerLimits) -> Self {
        let first = match side {
            PeerSide::Client => 1,
            PeerSide::Server => 2,
        };
        Self {
            numbers: Numbers::new(first),
            calls: OwnCalls::default(),
            requests: Requests::default(),
            outbox: EventOutbox::default(),
            inbox: EventInbox::default(),
            streams: Streams::new(limits.window.max(LEAST_WINDOW)),
            out: Outgoing::default(),
            actions: VecDeque::new(),
            connection: None,
            draining: false,
            closed: false,
            limits,
        }
    }

    /// A handshake is over. `resumed` is whether the other side still has the session, `received` the last event of this side that it has.
    pub fn attach(&mut self, now: Duration, resumed: bool, received: u64, peer: OfferedLimits) {
        self.detach();
        if !resumed {
            self.inbox.forget();
        }
        self.connection = Some(Connection {
            peer,
            last: 0,
            last_received: now,
            last_ping: now,
            pong: false,
            time: None,
            peer_drains: false,
            ending: false,
        });
        self.outbox.attach(received);
        self.inbox.attach();
        if self.draining {
            self.say_drain();
        }
        self.pump();
    }

    /// The connection is gone. Streams and requests end; own calls wait, or fail; acknowledged events wait.
    pub fn detach(&mut self) {
        if self.connection.take().is_some() {
            self.out.clear();
            self.requests.detach(&mut self.actions);
            self.streams.detach(&mut self.actions);
            self.calls.detach(&mut self.actions);
        }
    }

    /// The session is over: all that waits fails.
    pub fn close(&mut self) {
        self.detach();
        self.closed = true;
        self.calls.close(&mut self.actions);
        self.outbox.close(&mut self.actions);
    }

    /// Whether there is a connection.
    pub fn is_attached(&self) -> bool {
        self.connection.is_some()
    }

    /// The last event of the other side that was accepted, for the handshake.
    pub fn received(&self) -> u64 {
        self.inbox.received()
    }

    /// Events without acknowledgement that were dropped.
    pub fn dropped(&self) -> u64 {
        self.inbox.dropped()
    }

    /// What this side accepts, for the handshake.
    pub fn offered(&self) -> OfferedLimits {
        self.limits.offered()
    }

    // What this side does.

    /// Starts a call; its result comes as an action with the same ticket. Without a connection it waits for one.
    pub fn call(&mut self, ticket: PeerTicket, call: OutgoingCall) -> Result<(), PeerCallError> {
        if !is_request(call.kind) {
            return Err(PeerCallError::Kind);
        }
        if self.draining || self.closed {
            return Err(PeerCallError::Closed);
        }
        self.calls.add(ticket, call, self.limits.pending)?;
        self.pump();
        Ok(())
    }

    /// Ends a call that nobody waits for any more.
    pub fn cancel(&mut self, ticket: PeerTicket) -> CallHandled {
        let handled = self.calls.cancel(ticket, &mut self.out);
        self.pump();
        handled
    }

    /// Sends an event. An acknowledged one waits for a connection, and its result comes as an action.
    pub fn send_event(
        &mut self,
        ticket: PeerTicket,
        body: PeerBody,
        acknowledged: bool,
    ) -> Result<(), PeerSendError> {
        if self.closed {
            return Err(PeerSendError::Closed);
        }
        if acknowledged {
            self.outbox.add(ticket, body);
            self.pump();
            return Ok(());
        }
        let connection = self.connection.as_ref().filter(|it| !it.ending);
        let connection = connection.ok_or(PeerSendError::NotConnected)?;
        let (found, most) = (body.bytes.len(), connection.peer.message);
        if found > most {
            return Err(PeerSendError::TooLong { found, most });
        }
        let message = body.message(MessageKind::Event, self.numbers.take());
        self.out.push(message, Origin::Own);
        Ok(())
    }

    /// Opens a stream, and gives its number.
    pub fn open_stream(&mut self, body: PeerBody) -> Result<u64, PeerStreamError> {
        let Some(connection) = self.connection.as_ref().filter(|it| !it.ending) else {
            return Err(PeerStreamError::NotConnected);
        };
        if self.draining || connection.peer_drains {
            return Err(PeerStreamError::Draining);
        }
        if self.streams.count().0 >= connection.peer.streams {
            return Err(PeerStreamError::TooMany(connection.peer.streams));
        }
        let (found, most) = (body.bytes.len(), connection.peer.message);
        if found > most {
            return Err(PeerStreamError::TooLong { found, most });
        }
        let window = connection.peer.window;
        let id = self.numbers.take();
        self.out.push(body.message(MessageKind::StreamOpen, id), Origin::Own);
        self.streams.insert(id, true, window);
        Ok(id)
    }

    /// Writes to a stream. `flush` asks the reader to acknowledge at once, `last` says that nothing follows. False means that the writer has to wait
    /// until the stream is writable.
    pub fn write_stream(
        &mut self,
        id: u64,
        bytes: Bytes,
        flush: bool,
        last: bool,
    ) -> Result<bool, PeerStreamError> {
        self.streams.write(id, bytes, flush, last)
    }

    /// The reader took a chunk of a stream, which had so many bytes.
    pub fn stream_read(&mut self, id: u64, bytes: usize) {
        self.streams.read(id, bytes);
    }

    /// Ends a stream in both directions.
    pub fn close_stream(&mut self, id: u64, reason: Option<FailureBody>) {
        self.streams.close(id, reason.as_ref(), &mut self.out);
    }

    /// Nobody holds a stream any more. If it was finished, what was written is still sent.
    pub fn abandon_stream(&mut self, id: u64) {
        self.streams.abandon(id, &mut self.out);
    }

    /// The handler of a request is done.
    pub fn answer(&mut self, id: u64, result: Result<PeerBody, FailureBody>) {
        let most = self.connection.as_ref().map_or(0, |it| it.peer.message);
        self.requests.answer(id, result, most, &mut self.out);
    }

    /// The handler of the event is done.
    pub fn event_done(&mut self, result: Result<(), FailureBody>) {
        self.inbox.done(result, &mut self.actions);
    }

    /// Takes no more requests and streams, and starts none. The connection ends when all is done.
    pub fn drain(&mut self) {
        if !std::mem::replace(&mut self.draining, true) {
            self.say_drain();
        }
    }

    /// Whether nothing is open.
    pub fn is_idle(&self) -> bool {
        let has_calls = self.calls.open() + self.calls.waiting() + self.requests.open() > 0;
        let has_streams = self.streams.count() != (0, 0);
        !has_calls && !has_streams && self.is_quiet() && self.outbox.is_empty()
    }

    /// Ends the connection for a reason of this side; what is queued is written first.
    pub fn end(&mut self, reason: ConnectionEnd) {
        let Some(connection) = self.connection.as_mut().filter(|it| !it.ending) else { return };
        connection.ending = true;
        let code = match &reason {
            ConnectionEnd::Protocol(_) => Some("protocol"),
            ConnectionEnd::Replaced => Some("replaced"),
            ConnectionEnd::Idle(_) => Some("idle"),
            ConnectionEnd::Closed => Some("closed"),
            ConnectionEnd::Remote { .. } | ConnectionEnd::Drained | ConnectionEnd::Io(_) => None,
        };
        if let Some(code) = code {
            self.out.clear();
            self.out.push(control::error(0, &failure(code, reason.to_string())), Origin::Own);
        }
        self.actions.push_back(SessionAction::Close { reason });
    }

    // Time, and what is to be written.

    /// Time has passed.
    pub fn tick(&mut self, now: Duration) {
        self.calls.expire(now, &mut self.out, &mut self.actions);
        let most = self.connection.as_ref().map_or(0, |it| it.peer.message);
        self.requests.expire(now, most, &mut self.out, &mut self.actions);
        let (idle, keep_alive) = (self.limits.idle, self.limits.keep_alive);
        if let Some(connection) = self.connection.as_mut().filter(|it| !it.ending) {
            let silent = now.saturating_sub(connection.last_received);
            if silent >= idle {
                self.end(ConnectionEnd::Idle(idle));
            } else if silent >= keep_alive && now.saturating_sub(connection.last_ping) >= keep_alive
            {
                connection.last_ping = now;
                let ping = PeerMessage::new(MessageKind::Event, 0, Bytes::new());
                self.out.push(ping.with(MessageFlags::REQUIRES_ACK), Origin::Own);
            }
        }
        self.pump();
    }

    /// When [`Self::tick`] is to be called next.
    pub fn next_tick(&self) -> Option<Duration> {
        let connection = self.connection.as_ref().filter(|it| !it.ending);
        let alive = connection.map(|it| {
            let ping = it.last_received.max(it.last_ping).saturating_add(self.limits.keep_alive);
            ping.min(it.last_received.saturating_add(self.limits.idle))
        });
        let deadlines = [self.calls.next_deadline(), self.requests.next_deadline(), alive];
        deadlines.into_iter().flatten().min()
    }

    /// The next thing to be done.
    pub fn take_action(&mut self) -> Option<SessionAction> {
        self.actions.pop_front()
    }

    /// The next message to be written. Whoever takes one writes it, or the connection is lost.
    pub fn take_message(&mut self, now: Duration) -> Option<PeerMessage> {
        let connection = self.connection.as_mut()?;
        if !connection.ending {
            if std::mem::take(&mut connection.pong) {
                return Some(PeerMessage::new(MessageKind::Ack, 0, Bytes::new()));
            }
            let said = self.inbox.take_frame().or_else(|| self.streams.take_credit());
            if said.is_some() {
                return said;
            }
        }
        if let Some((message, origin)) = self.out.take(now) {
            match origin {
                Origin::Own => {}
                Origin::Call(ticket) => self.calls.written(ticket),
                Origin::Reply(id) => self.requests.written(id),
            }
            return Some(message);
        }
        let most = connection.peer.message;
        if !connection.ending
            && let Some(chunk) = self.streams.take_chunk(most, &mut self.out, &mut self.actions)
        {
            return Some(chunk);
        }
        self.finish_drain();
        None
    }

    /// Whether messages of the other side are to be read. Not while it does not read the answers to those before.
    pub fn wants_messages(&self) -> bool {
        self.out.reply_bytes() <= self.limits.queue_bytes
    }

    /// Whether there is room for further calls and events.
    pub fn wants_calls(&self) -> bool {
        self.out.own_bytes().saturating_add(self.outbox.bytes()) <= self.limits.queue_bytes
            && self.calls.waiting() < self.limits.pending
    }

    fn is_quiet(&self) -> bool {
        self.out.is_empty() && self.inbox.is_idle() && !self.inbox.has_frame()
    }

    fn say_drain(&mut self) {
        if self.connection.is_some() {
            let control = ControlBody { drain: Some(true), ..ControlBody::default() };
            self.out.push(document(MessageKind::Event, 0, &control), Origin::Own);
        }
    }

    /// Whoever was told to drain closes when it has nothing open.
    fn finish_drain(&mut self) {
        let Some(connection) = self.connection.as_ref().filter(|it| !it.ending) else { return };
        let has_open = self.calls.open() + self.requests.open() > 0
            || self.streams.count() != (0, 0)
            || !self.is_quiet();
        if connection.peer_drains && !has_open {
            self.end(ConnectionEnd::Drained);
        }
    }

    /// Sends what waits.
    fn pump(&mut self) {
        let Some(connection) = self.connection.as_ref().filter(|it| !it.ending) else { return };
        let (out, actions) = (&mut self.out, &mut self.actions);
        self.outbox.pump(&connection.peer, &mut self.numbers, out, actions);
        if !connection.peer_drains {
            self.calls.pump(&connection.peer, &mut self.numbers, out, actions);
        }
    }
}

fn is_request(kind: MessageKind) -> bool {
    matches!(
        kind,
        MessageKind::Call
            | MessageKind::AgentRegister
            | MessageKind::AgentDiscover
            | MessageKind::AgentHeartbeat
    )
}
