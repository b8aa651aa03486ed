//! Requests of the other side.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use offshoot_mxp::{FailureBody, MessageKind};

use super::action::SessionAction;
use super::outgoing::{Origin, Outgoing};
use crate::control;
use crate::error::failure;
use crate::limits::PeerLimits;
use crate::message::{PeerBody, PeerMessage};

#[derive(Debug)]
struct OpenRequest {
    bytes: usize,
    trace: u64,
    deadline: Duration,
    /// Its answer waits to be written.
    answered: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    open: BTreeMap<u64, OpenRequest>,
    deadlines: BTreeSet<(Duration, u64)>,
    bytes: usize,
}

impl Requests {
    /// A request came, with so much time or none.
    pub(crate) fn receive(
        &mut self,
        now: Duration,
        message: PeerMessage,
        time: Option<Duration>,
        limits: &PeerLimits,
        out: &mut Outgoing,
        actions: &mut VecDeque<SessionAction>,
    ) {
        let bytes = message.cost();
        let is_full = self.open.len() >= limits.calls
            || self.bytes.saturating_add(bytes) > limits.request_bytes;
        if is_full {
            let reason = failure("busy", "too many requests are open");
            out.push(control::error(message.id, &reason), Origin::Reply(message.id));
            return;
        }
        let time = time.unwrap_or(limits.call_time).min(limits.call_time);
        let deadline = now.saturating_add(time);
        let trace = message.trace;
        self.open.insert(message.id, OpenRequest { bytes, trace, deadline, answered: false });
        self.deadlines.insert((deadline, message.id));
        self.bytes += bytes;
        actions.push_back(SessionAction::Request { message, time });
    }

    /// The handler is done; nobody may want to know.
    pub(crate) fn answer(
        &mut self,
        id: u64,
        result: Result<PeerBody, FailureBody>,
        most: usize,
        out: &mut Outgoing,
    ) {
        let Some(request) = self.open.get_mut(&id).filter(|it| !it.answered) else { return };
        request.answered = true;
        self.deadlines.remove(&(request.deadline, id));
        let result = result.and_then(|body| match body.bytes.len() <= most {
            true => Ok(body),
            false => Err(failure("internal", "the response is longer than the caller accepts")),
        });
        let mut message = match result {
            Ok(body) => body.message(MessageKind::Response, id),
            Err(reason) => control::error(id, &reason),
        };
        if message.trace == 0 {
            message.trace = request.trace;
        }
        out.push(message, Origin::Reply(id));
    }

    /// The answer is on its way.
    pub(crate) fn written(&mut self, id: u64) {
        if self.open.get(&id).is_some_and(|request| request.answered) {
            self.remove(id);
        }
    }

    /// The other side gave up; whether there was such a request.
    pub(crate) fn cancel(&mut self, id: u64, actions: &mut VecDeque<SessionAction>) -> bool {
        match self.open.get(&id) {
            None => false,
            Some(request) if request.answered => true,
            Some(_) => {
                self.remove(id);
                actions.push_back(SessionAction::CancelRequest { id });
                true
            }
        }
    }

    /// Ends those whose time is over.
    pub(crate) fn expire(
        &mut self,
        now: Duration,
        most: usize,
        out: &mut Outgoing,
        actions: &mut VecDeque<SessionAction>,
    ) {
        while let Some((_, id)) = self.deadlines.first().copied().filter(|it| it.0 <= now) {
            actions.push_back(SessionAction::CancelRequest { id });
            self.answer(id, Err(failure("deadline", "its time was over")), most, out);
        }
    }

    /// The connection is gone.
    pub(crate) fn detach(&mut self, actions: &mut VecDeque<SessionAction>) {
        for (id, request) in std::mem::take(&mut self.open) {
            if !request.answered {
                actions.push_back(SessionAction::CancelRequest { id });
            }
        }
        *self = Self::default();
    }

    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }

    fn remove(&mut self, id: u64) {
        if let Some(request) = self.open.remove(&id) {
            self.bytes -= request.bytes;
            self.deadlines.remove(&(request.deadline, id));
        }
    }
}
