//! Events of the other side: each acknowledged one goes to the handler once, in order.

use std::collections::{BTreeMap, VecDeque};

use offshoot_mxp::{FailureBody, MessageFlags, MessageKind};

use super::action::SessionAction;
use crate::control;
use crate::limits::PeerLimits;
use crate::message::PeerMessage;

/// So many failures are kept, to tell them again after a reconnect.
const FAILURES: usize = 256;

#[derive(Debug)]
struct Running {
    id: u64,
    acknowledged: bool,
    bytes: usize,
}

/// All of them, and what is remembered of those before.
#[derive(Debug, Default)]
pub(crate) struct EventInbox {
    queue: VecDeque<PeerMessage>,
    running: Option<Running>,
    /// Of those that wait and the one that runs.
    bytes: usize,
    /// The last acknowledged event that was accepted.
    received: u64,
    /// The last acknowledged event that the handler is done with.
    handled: u64,
    /// What was said of that, on this connection.
    told: u64,
    failures: BTreeMap<u64, FailureBody>,
    to_tell: VecDeque<u64>,
    dropped: u64,
}

impl EventInbox {
    /// An event came. What does not fit is dropped if nobody wants to know, and else the other side sends more than it may.
    pub(crate) fn receive(
        &mut self,
        message: PeerMessage,
        limits: &PeerLimits,
        actions: &mut VecDeque<SessionAction>,
    ) -> Result<(), String> {
        let acknowledged = message.flags.has(MessageFlags::REQUIRES_ACK);
        if acknowledged && message.id <= self.received {
            self.tell_again(message.id);
            return Ok(());
        }
        let waiting = self.queue.len() + usize::from(self.running.is_some());
        let bytes = message.payload.len();
        let is_full =
            waiting >= limits.events || self.bytes.saturating_add(bytes) > limits.event_bytes;
        if acknowledged {
            // Events that nobody acknowledges make room for those that somebody does.
            if is_full && !self.make_room(bytes, limits) {
                return Err("more events than this side accepts".to_owned());
            }
            self.received = message.id;
        } else if is_full {
            self.dropped += 1;
            return Ok(());
        }
        self.bytes += bytes;
        self.queue.push_back(message);
        self.next(actions);
        Ok(())
    }

    /// The handler is done with the event that runs.
    pub(crate) fn done(
        &mut self,
        result: Result<(), FailureBody>,
        actions: &mut VecDeque<SessionAction>,
    ) {
        if let Some(running) = self.running.take() {
            self.bytes -= running.bytes;
            if running.acknowledged {
                self.handled = running.id;
                if let Err(failure) = result {
                    self.failures.insert(running.id, failure);
                    self.to_tell.push_back(running.id);
                    while self.failures.len() > FAILURES {
                        self.failures.pop_first();
                    }
                }
            }
        }
        self.next(actions);
    }

    /// What is to be said about events that were handled.
    pub(crate) fn take_frame(&mut self) -> Option<PeerMessage> {
        while let Some(id) = self.to_tell.pop_front() {
            if let Some(failure) = self.failures.get(&id) {
                self.told = self.told.max(id);
                return Some(control::error(id, failure));
            }
        }
        (self.handled > self.told).then(|| {
            self.told = self.handled;
            PeerMessage::new(MessageKind::Ack, self.handled, bytes::Bytes::new())
        })
    }

    /// Whether there is something to be said.
    pub(crate) fn has_frame(&self) -> bool {
        !self.to_tell.is_empty() || self.handled > self.told
    }

    /// A new connection: all is said again.
    pub(crate) fn attach(&mut self) {
        self.told = 0;
        self.to_tell = self.failures.keys().copied().collect();
    }

    /// The other side forgot the session, and numbers anew. What came before runs to its end, and nobody is told.
    pub(crate) fn forget(&mut self) {
        if let Some(running) = &mut self.running {
            running.acknowledged = false;
        }
        for message in &mut self.queue {
            message.flags = MessageFlags::NONE;
        }
        (self.received, self.handled, self.told) = (0, 0, 0);
        self.failures.clear();
        self.to_tell.clear();
    }

    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.running.is_none()
    }

    fn tell_again(&mut self, id: u64) {
        if id <= self.handled {
            if self.failures.contains_key(&id) && !self.to_tell.contains(&id) {
                self.to_tell.push_back(id);
            }
            self.told = self.told.min(id.saturating_sub(1));
        }
    }

    fn make_room(&mut self, bytes: usize, limits: &PeerLimits) -> bool {
        loop {
            let waiting = self.queue.len() + usize::from(self.running.is_some());
            let fits =
                waiting < limits.events && self.bytes.saturating_add(bytes) <= limits.event_bytes;
            if fits {
                return true;
            }
            let is_plain = |it: &PeerMessage| !it.flags.has(MessageFlags::REQUIRES_ACK);
            let Some(index) = self.queue.iter().position(is_plain) else {
                // The one that runs may be plain, too; it is not the other side's fault.
                let excused = self.running.as_ref().is_some_and(|it| !it.acknowledged);
                let own: usize = self.running.as_ref().map_or(0, |it| it.bytes);
                return excused
                    && self.queue.len() < limits.events
                    && self.bytes - own + bytes <= limits.event_bytes;
            };
            let removed = self.queue.remove(index).map_or(0, |it| it.payload.len());
            self.bytes -= removed;
            self.dropped += 1;
        }
    }

    fn next(&mut self, actions: &mut VecDeque<SessionAction>) {
        if self.running.is_some() {
            return;
        }
        if let Some(message) = self.queue.pop_front() {
            let acknowledged = message.flags.has(MessageFlags::REQUIRES_ACK);
            let bytes = message.payload.len();
            self.running = Some(Running { id: message.id, acknowledged, bytes });
            actions.push_back(SessionAction::Event { message });
        }
    }
}
