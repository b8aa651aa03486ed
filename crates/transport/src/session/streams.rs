//! Streams of either side, with credit.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use offshoot_mxp::{FailureBody, MessageFlags, MessageKind, OVERHEAD};

use super::action::SessionAction;
use super::outgoing::{Origin, Outgoing};
use crate::control::{CreditBody, document};
use crate::error::{PeerStreamError, failure};
use crate::message::PeerMessage;

/// The longest chunk that is sent.
const CHUNK: usize = 64 << 10;

/// What a chunk costs besides its payload.
const COST: u64 = OVERHEAD as u64;

#[derive(Debug)]
struct OpenStream {
    /// This side opened it.
    own: bool,
    /// What the other side may still send.
    granted: u64,
    /// What was received and not read, with its cost.
    unread: u64,
    /// What was read and not granted again.
    read: u64,
    /// Grant as soon as all was read.
    flush: bool,
    /// The other side finished.
    received_all: bool,
    /// What this side may still send.
    credit: u64,
    pending: VecDeque<Bytes>,
    pending_bytes: usize,
    /// The last piece that was written has to be acknowledged at once.
    wants_ack: bool,
    /// Nothing more will be written.
    finishing: bool,
    /// The last chunk was sent.
    sent_all: bool,
    /// A writer waits.
    blocked: bool,
    /// Nobody reads any more; what was written is still sent.
    abandoned: bool,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Streams {
    open: BTreeMap<u64, OpenStream>,
    window: u64,
    own: usize,
    /// Where the next turn begins.
    turn: u64,
}

impl Streams {
    pub(crate) fn new(window: u64) -> Self {
        Self { open: BTreeMap::new(), window, own: 0, turn: 0 }
    }

    pub(crate) fn insert(&mut self, id: u64, own: bool, credit: u64) {
        self.own += usize::from(own);
        let stream = OpenStream {
            own,
            granted: self.window,
            unread: 0,
            read: 0,
            flush: false,
            received_all: false,
            credit,
            pending: VecDeque::new(),
            pending_bytes: 0,
            wants_ack: false,
            finishing: false,
            sent_all: false,
            blocked: false,
            abandoned: false,
        };
        self.open.insert(id, stream);
    }

    pub(crate) fn has(&self, id: u64) -> bool {
        self.open.contains_key(&id)
    }

    /// How many this side opened, and the other side.
    pub(crate) fn count(&self) -> (usize, usize) {
        (self.own, self.open.len() - self.own)
    }

    /// A chunk came for a stream that is open.
    pub(crate) fn receive(
        &mut self,
        message: PeerMessage,
        actions: &mut VecDeque<SessionAction>,
    ) -> Result<(), String> {
        let Some(stream) = self.open.get_mut(&message.id) else { return Ok(()) };
        let cost = message.payload.len() as u64 + COST;
        if stream.received_all {
            return Err(format!("a chunk behind the last one of stream {}", message.id));
        }
        let granted = stream.granted.checked_sub(cost);
        stream.granted =
            granted.ok_or_else(|| format!("a chunk without credit for stream {}", message.id))?;
        stream.unread += cost;
        stream.flush |= message.flags.has(MessageFlags::REQUIRES_ACK);
        let last = message.flags.has(MessageFlags::FINAL);
        stream.received_all = last;
        let id = message.id;
        if stream.abandoned {
            self.read(id, message.payload.len());
            self.retire(id);
            return Ok(());
        }
        actions.push_back(SessionAction::StreamData { id, bytes: message.payload, last });
        self.retire(id);
        Ok(())
    }

    /// The other side grants more.
    pub(crate) fn credited(&mut self, id: u64, credit: u64) {
        if let Some(stream) = self.open.get_mut(&id) {
            stream.credit = stream.credit.saturating_add(credit);
        }
    }

    /// The reader took a chunk with so many bytes.
    pub(crate) fn read(&mut self, id: u64, bytes: usize) {
        if let Some(stream) = self.open.get_mut(&id) {
            let cost = (bytes as u64 + COST).min(stream.unread);
            stream.unread -= cost;
            stream.read += cost;
        }
    }

    /// Takes bytes to be sent; false if the writer has to wait until the stream is writable.
    pub(crate) fn write(
        &mut self,
        id: u64,
        bytes: Bytes,
        flush: bool,
        last: bool,
    ) -> Result<bool, PeerStreamError> {
        let window = self.window;
        let stream = self.open.get_mut(&id).ok_or(PeerStreamError::Disconnected)?;
        if stream.finishing {
            return Err(PeerStreamError::Finished);
        }
        stream.pending_bytes += bytes.len();
        if !bytes.is_empty() {
            stream.pending.push_back(bytes);
        }
        stream.wants_ack = flush;
        stream.finishing = last;
        stream.blocked = stream.pending_bytes as u64 > window;
        Ok(!stream.blocked)
    }

    /// Ends a stream of either side.
    pub(crate) fn close(&mut self, id: u64, reason: Option<&FailureBody>, out: &mut Outgoing) {
        if self.forget(id) {
            let message = match reason {
                Some(reason) => document(MessageKind::StreamClose, id, reason),
                None => PeerMessage::new(MessageKind::StreamClose, id, Bytes::new()),
            };
            out.push(message, Origin::Own);
        }
    }

    /// Nobody holds it any more. What was written and finished is still sent.
    pub(crate) fn abandon(&mut self, id: u64, out: &mut Outgoing) {
        match self.open.get_mut(&id) {
            Some(stream) if stream.finishing && !stream.sent_all => stream.abandoned = true,
            Some(_) => {
                let reason = failure("cancelled", "nobody reads the stream any more");
                self.close(id, Some(&reason), out);
            }
            None => {}
        }
    }

    /// The other side ended it; whether it was open.
    pub(crate) fn closed(
        &mut self,
        id: u64,
        error: PeerStreamError,
        actions: &mut VecDeque<SessionAction>,
    ) -> bool {
        let was_open = self.forget(id);
        if was_open {
            actions.push_back(SessionAction::StreamEnded { id, error });
        }
        was_open
    }

    /// The connection is gone, and all streams with it.
    pub(crate) fn detach(&mut self, actions: &mut VecDeque<SessionAction>) {
        for id in std::mem::take(&mut self.open).into_keys() {
            let error = PeerStreamError::Disconnected;
            actions.push_back(SessionAction::StreamEnded { id, error });
        }
        self.own = 0;
    }

    /// Credit that is to be granted.
    pub(crate) fn take_credit(&mut self) -> Option<PeerMessage> {
        let window = self.window;
        let is_due = |stream: &OpenStream| {
            let flush = stream.flush && stream.unread == 0 && stream.read > 0;
            !stream.received_all && (stream.read >= window / 2 || flush)
        };
        let (id, stream) = self.open.iter_mut().find(|(_, stream)| is_due(stream))?;
        let credit = std::mem::take(&mut stream.read);
        stream.flush = false;
        stream.granted += credit;
        Some(document(MessageKind::Ack, *id, &CreditBody { credit }))
    }

    /// The next chunk; streams take turns.
    pub(crate) fn take_chunk(
        &mut self,
        most: usize,
        out: &mut Outgoing,
        actions: &mut VecDeque<SessionAction>,
    ) -> Option<PeerMessage> {
        let is_ready = |stream: &OpenStream| {
            let has_more = !stream.pending.is_empty() || (stream.finishing && !stream.sent_all);
            let least = COST + u64::from(!stream.pending.is_empty());
            has_more && stream.credit >= least
        };
        let mut turns = self.open.range(self.turn..).chain(self.open.range(..self.turn));
        let id = turns.find(|(_, stream)| is_ready(stream)).map(|(id, _)| *id)?;
        self.turn = id + 1;
        let stream = self.open.get_mut(&id)?;
        let credit = usize::try_from(stream.credit - COST).unwrap_or(usize::MAX);
        let longest = credit.min(CHUNK).min(most);
        let payload = match stream.pending.front_mut() {
            None => Bytes::new(),
            Some(first) if first.len() <= longest => stream.pending.pop_front()?,
            Some(first) => first.split_to(longest),
        };
        stream.credit -= payload.len() as u64 + COST;
        stream.pending_bytes -= payload.len();
        let mut message = PeerMessage::new(MessageKind::StreamChunk, id, payload);
        if stream.pending.is_empty() {
            if stream.finishing {
                message = message.with(MessageFlags::FINAL);
                stream.sent_all = true;
            }
            if stream.wants_ack {
                message = message.with(MessageFlags::REQUIRES_ACK);
                stream.wants_ack = false;
            }
        }
        if stream.blocked && stream.pending_bytes as u64 <= self.window {
            stream.blocked = false;
            actions.push_back(SessionAction::StreamWritable { id });
        }
        let is_left = stream.abandoned && stream.sent_all && !stream.received_all;
        self.retire(id);
        if is_left {
            self.close(id, None, out);
        }
        Some(message)
    }

    fn retire(&mut self, id: u64) {
        if self.open.get(&id).is_some_and(|stream| stream.received_all && stream.sent_all) {
            self.forget(id);
        }
    }

    fn forget(&mut self, id: u64) -> bool {
        let removed = self.open.remove(&id);
        self.own -= usize::from(removed.as_ref().is_some_and(|stream| stream.own));
        removed.is_some()
    }
}
