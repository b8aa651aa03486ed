//! What comes from the other side: each message goes to the part that it is for.

use std::time::Duration;

use offshoot_mxp::{FailureBody, MessageFlags, MessageKind};

use super::action::SessionAction;
use super::outgoing::Origin;
use super::{PeerSession, is_request};
use crate::control::{self, ControlBody, CreditBody, document, failure_of};
use crate::error::{ConnectionEnd, PeerStreamError, failure};
use crate::message::PeerMessage;

impl PeerSession {
    /// Bytes came, which need not be a whole message yet; or the other side reads, while nothing is read from it.
    pub fn heard(&mut self, now: Duration) {
        if let Some(connection) = &mut self.connection {
            connection.last_received = now;
        }
    }

    /// A message came.
    pub fn receive(&mut self, now: Duration, message: PeerMessage) {
        let Some(connection) = self.connection.as_mut().filter(|it| !it.ending) else { return };
        connection.last_received = now;
        if let Err(error) = self.dispatch(now, message) {
            self.end(ConnectionEnd::Protocol(error));
        }
        self.pump();
        self.finish_drain();
    }

    fn dispatch(&mut self, now: Duration, message: PeerMessage) -> Result<(), String> {
        let id = message.id;
        if id == 0 {
            return self.control(message);
        }
        match message.kind {
            kind if is_request(kind) => {
                self.begin(id)?;
                let time = self.connection.as_mut().and_then(|it| it.time.take());
                if self.draining {
                    let reason = failure("draining", "this side takes no more requests");
                    self.out.push(control::error(id, &reason), Origin::Reply(id));
                    return Ok(());
                }
                let (out, actions) = (&mut self.out, &mut self.actions);
                self.requests.receive(now, message, time, &self.limits, out, actions);
                Ok(())
            }
            MessageKind::Event => {
                match message.flags.has(MessageFlags::REQUIRES_ACK) {
                    true => self.begin_again(id)?,
                    false => self.begin(id)?,
                }
                self.inbox.receive(message, &self.limits, &mut self.actions)
            }
            MessageKind::StreamOpen => {
                self.begin(id)?;
                self.stream_opened(message);
                Ok(())
            }
            MessageKind::Response => {
                match self.calls.answered(id, Ok(message), &mut self.actions) {
                    true => Ok(()),
                    false => self.late(id, true),
                }
            }
            MessageKind::Error => self.failed(&message),
            MessageKind::StreamChunk if self.streams.has(id) => {
                self.streams.receive(message, &mut self.actions)
            }
            MessageKind::StreamClose => {
                let error = PeerStreamError::Closed(failure_of(&message));
                let is_known = self.streams.closed(id, error, &mut self.actions)
                    || self.requests.cancel(id, &mut self.actions);
                if is_known { Ok(()) } else { self.late(id, false) }
            }
            MessageKind::Ack => self.acknowledged(&message),
            _ => self.late(id, false),
        }
    }

    fn control(&mut self, message: PeerMessage) -> Result<(), String> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        match message.kind {
            MessageKind::Ack => Ok(()),
            MessageKind::Error => {
                let FailureBody { error, code } = failure_of(&message);
                connection.ending = true;
                self.out.clear();
                let reason = ConnectionEnd::Remote { code, error };
                self.actions.push_back(SessionAction::Close { reason });
                Ok(())
            }
            MessageKind::Event if message.flags.has(MessageFlags::REQUIRES_ACK) => {
                connection.pong = true;
                Ok(())
            }
            MessageKind::Event => {
                let control: ControlBody = message.json().map_err(|error| error.to_string())?;
                if let Some(milliseconds) = control.deadline {
                    connection.time = Some(Duration::from_millis(milliseconds));
                }
                connection.peer_drains |= control.drain == Some(true);
                Ok(())
            }
            kind => Err(format!("a {kind:?} with the id 0")),
        }
    }

    /// A number that the other side gives for the first time.
    fn begin(&mut self, id: u64) -> Result<(), String> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        if self.numbers.is_own(id) || id <= connection.last {
            return Err(format!("{id} is no new number of this peer"));
        }
        connection.last = id;
        Ok(())
    }

    /// A number that the other side may have given before: an event that is sent again.
    fn begin_again(&mut self, id: u64) -> Result<(), String> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        if self.numbers.is_own(id) {
            return Err(format!("{id} is no number of this peer"));
        }
        connection.last = connection.last.max(id);
        Ok(())
    }

    /// Something about a number that is not open: late, or never there.
    fn late(&self, id: u64, own: bool) -> Result<(), String> {
        let last = self.connection.as_ref().map_or(0, |it| it.last);
        let was_theirs = !own && !self.numbers.is_own(id) && id <= last;
        match self.numbers.was_taken(id) || was_theirs {
            true => Ok(()),
            false => Err(format!("nothing has the number {id}")),
        }
    }

    fn stream_opened(&mut self, message: PeerMessage) {
        let window = self.connection.as_ref().map_or(0, |it| it.peer.window);
        let code = match self.draining {
            true => Some("draining"),
            false if self.streams.count().1 >= self.limits.streams => Some("busy"),
            false => None,
        };
        if let Some(code) = code {
            let reason = failure(code, "this side takes no more streams");
            let close = document(MessageKind::StreamClose, message.id, &reason);
            self.out.push(close, Origin::Reply(message.id));
            return;
        }
        self.streams.insert(message.id, false, window);
        self.actions.push_back(SessionAction::Stream { message });
    }

    fn failed(&mut self, message: &PeerMessage) -> Result<(), String> {
        let (id, reason) = (message.id, failure_of(message));
        if self.outbox.has(id) {
            self.outbox.acknowledged(id, Some(reason), &mut self.actions);
            return Ok(());
        }
        match self.calls.answered(id, Err(reason), &mut self.actions) {
            true => Ok(()),
            false => self.late(id, true),
        }
    }

    /// Credit has a payload; the acknowledgement of an event has none.
    fn acknowledged(&mut self, message: &PeerMessage) -> Result<(), String> {
        let id = message.id;
        if message.payload.is_empty() {
            let is_known = self.numbers.was_taken(id);
            self.outbox.acknowledged(id, None, &mut self.actions);
            return if is_known { Ok(()) } else { Err(format!("{id} was not sent")) };
        }
        let CreditBody { credit } = message.json().map_err(|error| error.to_string())?;
        if self.streams.has(id) {
            self.streams.credited(id, credit);
            return Ok(());
        }
        self.late(id, false)
    }
}
