//! Messages that wait to be written, in order.

use std::collections::VecDeque;
use std::time::Duration;

use offshoot_mxp::MessageKind;

use super::action::PeerTicket;
use crate::message::PeerMessage;

/// What a queued message costs besides its bytes.
const QUEUED: usize = 128;

/// Where a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The connection, or a stream.
    Own,
    /// A call of this side.
    Call(PeerTicket),
    /// The answer to a request of the other side.
    Reply(u64),
}

#[derive(Debug)]
struct Queued {
    message: PeerMessage,
    origin: Origin,
    deadline: Option<Duration>,
}

/// Numbers of messages: odd for clients, even for servers.
#[derive(Debug)]
pub(crate) struct Numbers {
    next: u64,
}

impl Numbers {
    pub(crate) fn new(first: u64) -> Self {
        Self { next: first }
    }

    /// A new one. There are enough for a million a second over a hundred thousand years.
    pub(crate) fn take(&mut self) -> u64 {
        let id = self.next;
        self.next += 2;
        id
    }

    /// Whether this side numbers so.
    pub(crate) fn is_own(&self, id: u64) -> bool {
        id % 2 == self.next % 2
    }

    /// Whether this side gave the number to a message.
    pub(crate) fn was_taken(&self, id: u64) -> bool {
        self.is_own(id) && id < self.next
    }
}

/// The queue of one connection.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    frames: VecDeque<Queued>,
    /// A message whose deadline was written.
    ready: Option<Queued>,
    own_bytes: usize,
    reply_bytes: usize,
}

impl Outgoing {
    pub(crate) fn push(&mut self, message: PeerMessage, origin: Origin) {
        self.push_timed(message, origin, None);
    }

    pub(crate) fn push_timed(
        &mut self,
        message: PeerMessage,
        origin: Origin,
        deadline: Option<Duration>,
    ) {
        let queued = Queued { message, origin, deadline };
        *self.bytes_of(origin) += queued.message.cost() + QUEUED;
        self.frames.push_back(queued);
    }

    /// The next message, and where it comes from.
    pub(crate) fn take(&mut self, now: Duration) -> Option<(PeerMessage, Origin)> {
        let queued = match self.ready.take() {
            Some(ready) => ready,
            None => {
                let first = self.frames.pop_front()?;
                if let Some(deadline) = first.deadline {
                    let left = deadline.saturating_sub(now).as_millis().max(1);
                    let left = u64::try_from(left).unwrap_or(u64::MAX);
                    self.ready = Some(first);
                    // A `ControlBody`, written by hand since each call has one.
                    let json = format!("{{\"deadline\":{left}}}");
                    let control = PeerMessage::new(MessageKind::Event, 0, json.into());
                    return Some((control, Origin::Own));
                }
                first
            }
        };
        *self.bytes_of(queued.origin) -= queued.message.cost() + QUEUED;
        Some((queued.message, queued.origin))
    }

    /// Takes a call out again that was not written.
    pub(crate) fn remove_call(&mut self, ticket: PeerTicket) -> bool {
        let is_it = |queued: &Queued| queued.origin == Origin::Call(ticket);
        let Some(index) = self.frames.iter().position(is_it) else {
            return false;
        };
        let removed = self.frames.remove(index).map_or(0, |it| it.message.cost() + QUEUED);
        self.own_bytes -= removed;
        true
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.ready.is_none()
    }

    pub(crate) fn own_bytes(&self) -> usize {
        self.own_bytes
    }

    pub(crate) fn reply_bytes(&self) -> usize {
        self.reply_bytes
    }

    fn bytes_of(&mut self, origin: Origin) -> &mut usize {
        match origin {
            Origin::Reply(_) => &mut self.reply_bytes,
            Origin::Own | Origin::Call(_) => &mut self.own_bytes,
        }
    }
}
