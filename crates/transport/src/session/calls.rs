//! Calls of this side.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use offshoot_mxp::{FailureBody, MessageKind};

use super::action::{PeerTicket, SessionAction};
use super::outgoing::{Numbers, Origin, Outgoing};
use crate::control::document;
use crate::error::{CallHandled, PeerCallError, failure};
use crate::limits::OfferedLimits;
use crate::message::{PeerBody, PeerMessage};

/// An idempotent call is sent so often at most.
const ATTEMPTS: u32 = 3;

/// A request that is to be sent.
#[derive(Clone, Debug)]
pub struct OutgoingCall {
    /// What it is: a call, or something for a registry.
    pub kind: MessageKind,
    /// Its payload.
    pub body: PeerBody,
    /// When it fails, counted as all times of the session are.
    pub deadline: Option<Duration>,
    /// Whether it may be handled twice.
    pub idempotent: bool,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Place {
    Waiting,
    Queued(u64),
    Written(u64),
}

#[derive(Debug)]
struct OwnCall {
    call: OutgoingCall,
    attempts: u32,
    /// One attempt was written, so it may have been handled.
    written: bool,
    place: Place,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct OwnCalls {
    calls: BTreeMap<PeerTicket, OwnCall>,
    by_id: BTreeMap<u64, PeerTicket>,
    /// Tickets in their order; those that are gone are skipped.
    waiting: VecDeque<PeerTicket>,
    waiting_count: usize,
    deadlines: BTreeSet<(Duration, PeerTicket)>,
}

impl OwnCalls {
    pub(crate) fn add(
        &mut self,
        ticket: PeerTicket,
        call: OutgoingCall,
        most: usize,
    ) -> Result<(), PeerCallError> {
        if self.waiting_count >= most {
            return Err(PeerCallError::TooMany(most));
        }
        if let Some(deadline) = call.deadline {
            self.deadlines.insert((deadline, ticket));
        }
        self.calls
            .insert(ticket, OwnCall { call, attempts: 0, written: false, place: Place::Waiting });
        self.waiting.push_back(ticket);
        self.waiting_count += 1;
        Ok(())
    }

    /// Sends what waits, as far as the other side accepts it.
    pub(crate) fn pump(
        &mut self,
        peer: &OfferedLimits,
        numbers: &mut Numbers,
        out: &mut Outgoing,
        actions: &mut VecDeque<SessionAction>,
    ) {
        while self.by_id.len() < peer.calls {
            let Some(ticket) = self.waiting.pop_front() else { return };
            let Some(own) = self.calls.get_mut(&ticket) else { continue };
            self.waiting_count -= 1;
            let (found, most) = (own.call.body.bytes.len(), peer.message);
            if found > most {
                let result = Err(PeerCallError::TooLong { found, most });
                self.finish(ticket, result, actions);
                continue;
            }
            let id = numbers.take();
            own.place = Place::Queued(id);
            own.attempts += 1;
            let message = own.call.body.clone().message(own.call.kind, id);
            out.push_timed(message, Origin::Call(ticket), own.call.deadline);
            self.by_id.insert(id, ticket);
        }
    }

    /// It is on its way.
    pub(crate) fn written(&mut self, ticket: PeerTicket) {
        if let Some(own) = self.calls.get_mut(&ticket)
            && let Place::Queued(id) = own.place
        {
            own.place = Place::Written(id);
            own.written = true;
        }
    }

    /// An answer came; whether somebody waits for it.
    pub(crate) fn answered(
        &mut self,
        id: u64,
        result: Result<PeerMessage, FailureBody>,
        actions: &mut VecDeque<SessionAction>,
    ) -> bool {
        let Some(ticket) = self.by_id.get(&id).copied() else { return false };
        // Either side may notice first that the time is over.
        let refused = |failure: FailureBody| match failure.code.as_str() {
            "deadline" => PeerCallError::Deadline { handled: CallHandled::Maybe },
            _ => PeerCallError::Refused(failure),
        };
        self.finish(ticket, result.map_err(refused), actions);
        true
    }

    /// Ends a call that nobody waits for any more.
    pub(crate) fn cancel(&mut self, ticket: PeerTicket, out: &mut Outgoing) -> CallHandled {
        let Some(own) = self.calls.get(&ticket) else { return CallHandled::No };
        let handled = if own.written { CallHandled::Maybe } else { CallHandled::No };
        match own.place {
            Place::Waiting => {}
            Place::Queued(_) if out.remove_call(ticket) => {}
            Place::Queued(id) | Place::Written(id) => {
                let reason = failure("cancelled", "nobody waits for the response");
                out.push(document(MessageKind::StreamClose, id, &reason), Origin::Own);
            }
        }
        self.remove(ticket);
        handled
    }

    /// Ends calls whose time is over.
    pub(crate) fn expire(
        &mut self,
        now: Duration,
        out: &mut Outgoing,
        actions: &mut VecDeque<SessionAction>,
    ) {
        while let Some((_, ticket)) = self.deadlines.first().copied().filter(|it| it.0 <= now) {
            let handled = self.cancel(ticket, out);
            let result = Err(PeerCallError::Deadline { handled });
            actions.push_back(SessionAction::CallDone { ticket, result });
        }
    }

    /// The connection is gone: what was not written waits again, and so does what may be sent twice.
    pub(crate) fn detach(&mut self, actions: &mut VecDeque<SessionAction>) {
        for (_, ticket) in std::mem::take(&mut self.by_id).into_iter().rev() {
            let Some(own) = self.calls.get_mut(&ticket) else { continue };
            let written = matches!(own.place, Place::Written(_));
            if written && (!own.call.idempotent || own.attempts >= ATTEMPTS) {
                let result = Err(PeerCallError::Disconnected { handled: CallHandled::Maybe });
                self.finish(ticket, result, actions);
                continue;
            }
            own.place = Place::Waiting;
            self.waiting.push_front(ticket);
            self.waiting_count += 1;
        }
    }

    /// Nothing is sent any more.
    pub(crate) fn close(&mut self, actions: &mut VecDeque<SessionAction>) {
        for (ticket, own) in std::mem::take(&mut self.calls) {
            let handled = if own.written { CallHandled::Maybe } else { CallHandled::No };
            let result = Err(PeerCallError::Disconnected { handled });
            actions.push_back(SessionAction::CallDone { ticket, result });
        }
        *self = Self::default();
    }

    /// When the next one's time is over.
    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// How many were sent and not answered.
    pub(crate) fn open(&self) -> usize {
        self.by_id.len()
    }

    /// Bytes of calls that are kept.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting_count
    }

    fn finish(
        &mut self,
        ticket: PeerTicket,
        result: Result<PeerMessage, PeerCallError>,
        actions: &mut VecDeque<SessionAction>,
    ) {
        self.remove(ticket);
        actions.push_back(SessionAction::CallDone { ticket, result });
    }

    fn remove(&mut self, ticket: PeerTicket) {
        let Some(own) = self.calls.remove(&ticket) else { return };
        if let Some(deadline) = own.call.deadline {
            self.deadlines.remove(&(deadline, ticket));
        }
        match own.place {
            // Its ticket is skipped later; but not those of many calls.
            Place::Waiting => {
                self.waiting_count = self.waiting_count.saturating_sub(1);
                if self.waiting.len() > 2 * self.waiting_count + 16 {
                    self.waiting.retain(|ticket| self.calls.contains_key(ticket));
                }
            }
            Place::Queued(id) | Place::Written(id) => {
                self.by_id.remove(&id);
            }
        }
    }
}
