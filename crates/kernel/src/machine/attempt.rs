//! What attempts do, and how they end.

use serde_json::Value;

use super::admit::{check_name, unknown_task};
use super::{AttemptEnd, Reply, StopReason, Turn};
use crate::amount::Amount;
use crate::event::KernelEvent;
use crate::input::{AttemptInput, AttemptReport, KernelRefusal, KernelReply};
use crate::ledger::HoldId;
use crate::plan::PlanEvent;
use crate::question::{AnsweredBy, TaskQuestion};
use crate::task::{DeathCause, DeliveryPromise, EffectState, TaskId, TaskOutcome, TaskPhase};

impl Turn<'_> {
    pub(super) fn attempt(&mut self, id: TaskId, number: u32, input: AttemptInput) -> Reply {
        let now = self.now.mono_ms;
        let attempt = self.flight().running.get_mut(&id);
        let Some(attempt) = attempt.filter(|attempt| attempt.number == number) else {
            return Err(KernelRefusal::Stale { id, attempt: number });
        };
        attempt.beat = now;
        match input {
            AttemptInput::End(report) => Ok(self.attempt_ended(id, report)),
            AttemptInput::Beat => Ok(KernelReply::Done),
            AttemptInput::Progress(value) => {
                self.check_size("the checkpoint of progress", &value)?;
                self.record(KernelEvent::Progressed { id, value });
                Ok(KernelReply::Done)
            }
            AttemptInput::BeginEffect(key) => self.begin_effect(id, number, key),
            AttemptInput::EndEffect(key, result) => self.end_effect(id, key, result),
            AttemptInput::Hold(amount) => self.hold(id, amount),
            AttemptInput::Settle(hold, actual) => self.settle(id, hold, actual),
            AttemptInput::Spawn(key, sub) => self.spawn(id, key, *sub),
            AttemptInput::Join(key) => {
                let task = self.state().task(id).ok_or_else(|| unknown_task(id))?;
                let child = task.children.get(&key);
                let unknown = KernelRefusal::Unknown { what: "sub-task", name: key };
                Ok(KernelReply::Child(child.ok_or(unknown)?.outcome.clone()))
            }
            AttemptInput::Plan(plan, events) => self.plan(plan, events),
        }
    }

    fn attempt_ended(&mut self, id: TaskId, report: AttemptReport) -> KernelReply {
        let stopping = self.machine.flight.running.get(&id).and_then(|a| a.stopping.clone());
        let reason = stopping.map(|(reason, _)| reason);
        let ran_ms = self.release(id);
        let end = AttemptEnd { ran_ms, crash: false };
        match report {
            AttemptReport::Done(answer) => match self.check_size("the answer", &answer) {
                Ok(()) => self.end(id, TaskOutcome::Done { answer }, ran_ms),
                Err(refusal) => self.die(id, DeathCause::Failed, refusal.to_string(), end),
            },
            AttemptReport::Panicked(why) => {
                self.broke_off(id, format!("panicked: {why}"), AttemptEnd { crash: true, ..end });
            }
            // It was told to end, and did.
            _ if reason.is_some() => self.stopped(id, reason.unwrap_or(StopReason::Cancel), end),
            AttemptReport::Cancelled | AttemptReport::Failed(_) => {
                let why = match report {
                    AttemptReport::Failed(why) => why,
                    _ => "gave up as if it were cancelled".to_owned(),
                };
                self.failed(id, why, end);
            }
            AttemptReport::Fatal(why) => self.die(id, DeathCause::Failed, why, end),
            AttemptReport::OverBudget(why) => self.die(id, DeathCause::OverBudget, why, end),
            AttemptReport::Asks(question) => self.asks(id, *question, end),
            AttemptReport::Waits(on) => {
                self.record(KernelEvent::Waited { id, on, ran_ms });
                self.machine.index_task(id);
            }
        }
        KernelReply::Done
    }

    /// The hook failed: it is tried again if the promise allows.
    fn failed(&mut self, id: TaskId, why: String, end: AttemptEnd) {
        let Some(task) = self.state().task(id) else { return };
        match task.message.promise {
            DeliveryPromise::Once => self.die(id, DeathCause::Failed, why, end),
            DeliveryPromise::AtLeastOnce => self.try_again(id, DeathCause::Failed, why, end),
        }
    }

    fn asks(&mut self, id: TaskId, question: TaskQuestion, end: AttemptEnd) {
        let sized = check_name("the key", &question.key)
            .and_then(|()| self.check_size("the question", &question));
        if let Err(refusal) = sized {
            return self.die(id, DeathCause::Failed, refusal.to_string(), end);
        }
        let question = Box::new(question);
        self.record(KernelEvent::Asked { id, question, ran_ms: end.ran_ms });
        self.machine.index_task(id);
    }

    pub(super) fn answer(&mut self, id: TaskId, key: String, answer: Value, by: String) -> Reply {
        let task = self.state().task(id).ok_or_else(|| unknown_task(id))?;
        if task.phase != (TaskPhase::Asking { key: key.clone() }) {
            return Err(KernelRefusal::NotAsking { id, key });
        }
        self.check_size("the answer", &answer)?;
        let by = AnsweredBy::Person(by);
        self.record(KernelEvent::Answered { id, key, answer, by });
        self.machine.index_task(id);
        Ok(KernelReply::Done)
    }

    pub(super) fn cancel(&mut self, id: TaskId) -> Reply {
        let task = self.state().task(id).ok_or_else(|| unknown_task(id))?;
        if task.phase == TaskPhase::Running && self.machine.flight.running.contains_key(&id) {
            if !task.cancel {
                self.record(KernelEvent::CancelAsked { id });
            }
            self.stop(id, StopReason::Cancel);
        } else {
            self.end(id, TaskOutcome::Cancelled, None);
        }
        Ok(KernelReply::Done)
    }

    fn begin_effect(&mut self, id: TaskId, number: u32, key: String) -> Reply {
        check_name("the key", &key)?;
        let limit = self.state().limits.effects_per_task;
        let task = self.state().task(id).ok_or_else(|| unknown_task(id))?;
        match task.effects.get(&key) {
            Some(EffectState::Done { value }) => {
                return Ok(KernelReply::Recorded(value.clone()));
            }
            Some(EffectState::Started { attempt }) if *attempt == number => {
                return Ok(KernelReply::Busy);
            }
            Some(EffectState::Started { .. }) => return Ok(KernelReply::Unknown),
            None if task.effects.len() >= limit => {
                return Err(KernelRefusal::Full { what: "the list of effects", limit });
            }
            Some(EffectState::Failed { .. }) | None => {}
        }
        self.record(KernelEvent::EffectStarted { id, key });
        Ok(KernelReply::Begin)
    }

    fn end_effect(&mut self, id: TaskId, key: String, result: Result<Value, String>) -> Reply {
        let task = self.state().task(id).ok_or_else(|| unknown_task(id))?;
        if !matches!(task.effects.get(&key), Some(EffectState::Started { .. })) {
            return Err(KernelRefusal::Unknown { what: "effect that began", name: key });
        }
        match result {
            Ok(value) => {
                self.check_size("the result of the effect", &value)?;
                self.record(KernelEvent::EffectEnded { id, key, value });
            }
            Err(why) => self.record(KernelEvent::EffectFailed { id, key, why }),
        }
        Ok(KernelReply::Done)
    }

    fn hold(&mut self, id: TaskId, amount: Amount) -> Reply {
        let task = self.state().task(id).ok_or_else(|| unknown_task(id))?;
        let account = task.account;
        self.state().ledger.check(account, &amount)?;
        let hold = HoldId(self.state().last_hold + 1);
        self.record(KernelEvent::Held { hold, id, account, amount });
        Ok(KernelReply::Held(hold))
    }

    fn settle(&mut self, id: TaskId, hold: HoldId, actual: Amount) -> Reply {
        let owns = self.state().holds.get(&id).is_some_and(|holds| holds.others.contains(&hold));
        if !owns {
            return Err(KernelRefusal::Unknown { what: "reservation", name: hold.0.to_string() });
        }
        let overrun = self.state().ledger.overrun(hold, &actual);
        self.record(KernelEvent::Settled { hold, id, actual });
        Ok(KernelReply::Settled(overrun))
    }

    fn plan(&mut self, plan: String, events: Vec<PlanEvent>) -> Reply {
        check_name("the name of the plan", &plan)?;
        let limit = self.state().limits.plans;
        if !self.state().plans.contains_key(&plan) && self.state().plans.len() >= limit {
            return Err(KernelRefusal::Full { what: "the list of plans", limit });
        }
        for event in events {
            self.record(KernelEvent::Planned { plan: plan.clone(), event: Box::new(event) });
        }
        Ok(KernelReply::Done)
    }
}
