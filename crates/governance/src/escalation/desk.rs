//! Escalations with their store and with whoever is asked.

use std::sync::Arc;

use crate::engine::GovernanceEngine;
use crate::escalation::error::EscalationError;
use crate::escalation::record::{
    EscalationAnswer, EscalationEvent, EscalationRecord, EscalationState,
};
use crate::escalation::store::EscalationStore;
use crate::event::{GovernanceEvent, GovernanceEventKind};
use crate::observer::GovernanceObserver;
use crate::request::GovernanceRequest;
use crate::verdict::GovernanceVerdict;

/// Tells somebody that an answer is wanted. It does not wait for one.
pub trait EscalationAsker: Send + Sync {
    /// Passes the question on. It may be called again for the same record.
    fn ask(&self, record: &EscalationRecord) -> Result<(), EscalationError>;
}

/// One that several share.
impl<A: EscalationAsker + ?Sized> EscalationAsker for Arc<A> {
    fn ask(&self, record: &EscalationRecord) -> Result<(), EscalationError> {
        (**self).ask(record)
    }
}

/// Stores escalations, asks, takes answers and uses grants. Everything is stored before it is told to anybody.
pub struct EscalationDesk<S, A> {
    store: S,
    asker: A,
    observer: Arc<dyn GovernanceObserver>,
}

impl<S: EscalationStore, A: EscalationAsker> EscalationDesk<S, A> {
    /// A desk with a store, somebody who passes questions on, and an observer of what happens.
    pub fn new(store: S, asker: A, observer: Arc<dyn GovernanceObserver>) -> Self {
        Self { store, asker, observer }
    }

    /// Stores a question and passes it on. If that fails the question is stored all the same: [`Self::remind`] passes it on again.
    pub fn open(
        &self,
        id: &str,
        request: &GovernanceRequest,
        verdict: &GovernanceVerdict,
        now_ms: u64,
    ) -> Result<EscalationRecord, EscalationError> {
        let record = EscalationRecord::open(id, request, verdict, now_ms)?;
        if !self.store.replace(None, &record)? {
            return Err(EscalationError::Exists { id: id.to_owned() });
        }
        self.asker.ask(&record)?;
        Ok(record)
    }

    /// Passes all open questions on once more, as after a restart. Returns how many; what goes wrong with one keeps no other back.
    pub fn remind(&self, now_ms: u64) -> Result<usize, EscalationError> {
        self.expire(now_ms)?;
        let mut failure = None;
        let mut asked = 0;
        for record in self.store.pending()? {
            match self.asker.ask(&record) {
                Ok(()) => asked += 1,
                Err(error) => failure = Some(error),
            }
        }
        failure.map_or(Ok(asked), Err)
    }

    /// Takes an answer.
    pub fn answer(
        &self,
        id: &str,
        answer: EscalationAnswer,
        now_ms: u64,
    ) -> Result<EscalationRecord, EscalationError> {
        let kind = match answer.grant {
            true => GovernanceEventKind::Granted,
            false => GovernanceEventKind::Refused,
        };
        self.step(id, now_ms, kind, |record| {
            record.apply(now_ms, EscalationEvent::Answer(answer.clone()))
        })
        .map(|(record, ())| record)
    }

    /// Has questions expire whose time is over, and returns them.
    pub fn expire(&self, now_ms: u64) -> Result<Vec<EscalationRecord>, EscalationError> {
        let mut expired = Vec::new();
        for before in self.store.pending()? {
            let mut after = before.clone();
            after.apply(now_ms, EscalationEvent::Tick)?;
            if after == before {
                continue;
            }
            // Whoever else changed it meanwhile has told so.
            if self.store.replace(Some(&before), &after)? {
                self.tell(&after, GovernanceEventKind::Expired, now_ms)?;
                expired.push(after);
            }
        }
        Ok(expired)
    }

    /// Uses a grant, after the engine decided again. Where what happened cannot be recorded the grant is used up, and nothing is allowed.
    pub fn redeem(
        &self,
        engine: &GovernanceEngine,
        request: &GovernanceRequest,
        id: &str,
        now_ms: u64,
    ) -> Result<GovernanceVerdict, EscalationError> {
        let redeemed = self.step(id, now_ms, GovernanceEventKind::Used, |record| {
            engine.redeem(request, record, now_ms)
        });
        redeemed.map(|(_, verdict)| verdict)
    }

    /// One step of a record. It is stored if anything changed, also where the step was refused because its time is over.
    fn step<T>(
        &self,
        id: &str,
        now_ms: u64,
        kind: GovernanceEventKind,
        step: impl FnOnce(&mut EscalationRecord) -> Result<T, EscalationError>,
    ) -> Result<(EscalationRecord, T), EscalationError> {
        let before = self.store.get(id)?;
        let before = before.ok_or_else(|| EscalationError::Unknown { id: id.to_owned() })?;
        let mut after = before.clone();
        let done = step(&mut after);
        if after != before {
            if !self.store.replace(Some(&before), &after)? {
                return Err(EscalationError::Changed { id: id.to_owned() });
            }
            let has_expired =
                before.state == EscalationState::Pending && after.state == EscalationState::Expired;
            if has_expired {
                self.tell(&after, GovernanceEventKind::Expired, now_ms)?;
            }
            if done.is_ok() {
                self.tell(&after, kind, now_ms)?;
            }
        }
        done.map(|done| (after, done))
    }

    fn tell(
        &self,
        record: &EscalationRecord,
        kind: GovernanceEventKind,
        now_ms: u64,
    ) -> Result<(), EscalationError> {
        let event = GovernanceEvent::of_escalation(record, kind, now_ms);
        self.observer.observe(&event).map_err(|error| EscalationError::Record(error.to_string()))
    }
}
