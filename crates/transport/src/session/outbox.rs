//! Acknowledged events of this side: kept until the other side has handled them.

use std::collections::VecDeque;

use offshoot_mxp::{FailureBody, MessageFlags, MessageKind};

use super::action::{PeerTicket, SessionAction};
use super::outgoing::{Numbers, Origin, Outgoing};
use crate::error::PeerSendError;
use crate::limits::OfferedLimits;
use crate::message::{PeerBody, PeerMessage};

#[derive(Debug)]
struct Kept {
    ticket: PeerTicket,
    message: PeerMessage,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct EventOutbox {
    /// Without a number yet.
    waiting: VecDeque<(PeerTicket, PeerBody)>,
    /// With a number, in its order.
    numbered: VecDeque<Kept>,
    /// So many of these the other side has, or gets by this connection.
    sent: usize,
    sent_bytes: usize,
    bytes: usize,
}

impl EventOutbox {
    pub(crate) fn add(&mut self, ticket: PeerTicket, body: PeerBody) {
        self.bytes += body.bytes.len();
        self.waiting.push_back((ticket, body));
    }

    /// Sends what the other side does not have, as far as it accepts it.
    pub(crate) fn pump(
        &mut self,
        peer: &OfferedLimits,
        numbers: &mut Numbers,
        out: &mut Outgoing,
        actions: &mut VecDeque<SessionAction>,
    ) {
        loop {
            let next = match self.numbered.get(self.sent) {
                Some(kept) => kept.message.payload.len(),
                None => match self.waiting.front() {
                    Some((_, body)) => body.bytes.len(),
                    None => return,
                },
            };
            let most = peer.message.min(peer.event_bytes);
            if next > most && self.sent == self.numbered.len() {
                if let Some((ticket, _)) = self.waiting.pop_front() {
                    self.bytes -= next;
                    let result = Err(PeerSendError::TooLong { found: next, most });
                    actions.push_back(SessionAction::EventDone { ticket, result });
                }
                continue;
            }
            if self.sent >= peer.events || self.sent_bytes + next > peer.event_bytes {
                return;
            }
            if self.sent == self.numbered.len() {
                let Some((ticket, body)) = self.waiting.pop_front() else { return };
                let message = body.message(MessageKind::Event, numbers.take());
                let message = message.with(MessageFlags::REQUIRES_ACK);
                self.numbered.push_back(Kept { ticket, message });
            }
            let message = self.numbered[self.sent].message.clone();
            self.sent += 1;
            self.sent_bytes += next;
            out.push(message, Origin::Own);
        }
    }

    /// A new connection: the other side has what is numbered up to here.
    pub(crate) fn attach(&mut self, received: u64) {
        let has = |kept: &&Kept| kept.message.id <= received;
        self.sent = self.numbered.iter().take_while(has).count();
        let sizes = self.numbered.iter().take(self.sent).map(|kept| kept.message.payload.len());
        self.sent_bytes = sizes.sum();
    }

    /// Everything up to a number was handled; or one failed. Whether one of that number was kept.
    pub(crate) fn acknowledged(
        &mut self,
        id: u64,
        mut failed: Option<FailureBody>,
        actions: &mut VecDeque<SessionAction>,
    ) -> bool {
        let mut found = false;
        while let Some(first) = self.numbered.front().filter(|kept| kept.message.id <= id) {
            // What was not sent on this connection cannot have been handled.
            if self.sent == 0 {
                return found;
            }
            let (ticket, length) = (first.ticket, first.message.payload.len());
            let is_it = first.message.id == id;
            found |= is_it;
            let failure = if is_it { failed.take() } else { None };
            let result = failure.map_or(Ok(()), |failure| Err(PeerSendError::Refused(failure)));
            actions.push_back(SessionAction::EventDone { ticket, result });
            self.numbered.pop_front();
            self.sent -= 1;
            self.sent_bytes -= length;
            self.bytes -= length;
        }
        found
    }

    /// Whether an event of this number is kept.
    pub(crate) fn has(&self, id: u64) -> bool {
        self.numbered.binary_search_by_key(&id, |kept| kept.message.id).is_ok()
    }

    /// Nothing is sent any more.
    pub(crate) fn close(&mut self, actions: &mut VecDeque<SessionAction>) {
        let numbered = self.numbered.iter().map(|kept| kept.ticket);
        for ticket in numbered.chain(self.waiting.iter().map(|(ticket, _)| *ticket)) {
            let result = Err(PeerSendError::Closed);
            actions.push_back(SessionAction::EventDone { ticket, result });
        }
        *self = Self::default();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.numbered.is_empty() && self.waiting.is_empty()
    }
}
