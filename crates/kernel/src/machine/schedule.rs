//! Which tasks start, and what their times do.

use super::{Attempt, AttemptEnd, KernelMachine, StopReason, Turn};
use crate::amount::Resource;
use crate::event::KernelEvent;
use crate::input::KernelOutput;
use crate::ledger::HoldId;
use crate::question::{AnsweredBy, AskedQuestion};
use crate::task::{DeathCause, TaskId, TaskOutcome, TaskPhase};

impl KernelMachine {
    /// A task is in the queue if it is ready, and has a timer for what comes by itself.
    pub(super) fn index_task(&mut self, id: TaskId) {
        let Some(task) = self.state.tasks.get(&id) else { return };
        if let Some(deadline) = task.message.deadline_ms {
            self.flight.timers.insert((deadline, id));
        }
        match &task.phase {
            TaskPhase::Queued { not_before_ms: 0 } => {
                if self.flight.queued.insert(id) {
                    self.flight.queue.push(id, task.message.class, &task.message.sender);
                }
            }
            TaskPhase::Queued { not_before_ms } => {
                self.flight.timers.insert((*not_before_ms, id));
            }
            TaskPhase::Asking { key } => {
                let at = task.questions.get(key).and_then(AskedQuestion::falls_back_at);
                self.flight.timers.extend(at.map(|at| (at, id)));
            }
            TaskPhase::Running | TaskPhase::Waiting { .. } => {}
        }
    }

    pub(super) fn enqueue(&mut self, id: TaskId) {
        let Some(task) = self.state.tasks.get(&id) else { return };
        if matches!(task.phase, TaskPhase::Queued { .. }) && self.flight.queued.insert(id) {
            self.flight.queue.push(id, task.message.class, &task.message.sender);
        }
    }
}

impl Turn<'_> {
    pub(super) fn look_at_timers(&mut self) {
        let now = self.now.wall_ms;
        while let Some((at, id)) = self.machine.flight.timers.first().copied() {
            if at > now {
                break;
            }
            self.flight().timers.pop_first();
            self.timer(id);
        }
    }

    fn timer(&mut self, id: TaskId) {
        let now = self.now.wall_ms;
        let Some(task) = self.state().task(id) else { return };
        if task.message.deadline_ms.is_some_and(|deadline| deadline <= now) {
            let running = task.phase == TaskPhase::Running;
            if running {
                self.stop(id, StopReason::Deadline);
            } else {
                let why = "not done by its deadline".to_owned();
                self.die(id, DeathCause::Deadline, why, AttemptEnd::default());
            }
            return;
        }
        match &task.phase {
            TaskPhase::Queued { not_before_ms } if *not_before_ms <= now => {
                self.machine.enqueue(id);
            }
            TaskPhase::Asking { key } => {
                let asked = task.questions.get(key);
                let over = asked.and_then(AskedQuestion::falls_back_at).is_some_and(|at| at <= now);
                let fallback = asked.and_then(|asked| asked.question.fallback.clone());
                if let Some(fallback) = fallback.filter(|_| over) {
                    let (key, by) = (key.clone(), AnsweredBy::Fallback);
                    self.record(KernelEvent::Answered { id, key, answer: fallback.answer, by });
                    self.machine.index_task(id);
                }
            }
            _ => {}
        }
    }

    /// Attempts whose time is over are stopped; those that do not end are dropped.
    pub(super) fn look_at_attempts(&mut self) {
        let now = self.now.mono_ms;
        let silence = self.state().limits.heartbeat_ms;
        let mut stop = Vec::new();
        let mut dropped = Vec::new();
        for (id, attempt) in &self.machine.flight.running {
            match &attempt.stopping {
                Some((_, drop_at)) if *drop_at <= now => dropped.push(*id),
                Some(_) => {}
                None if attempt.until <= now => {
                    let ms = attempt.until - attempt.began;
                    let by_budget = ms < self.machine.state.limits.task_ms;
                    let reason = if by_budget { StopReason::Budget } else { StopReason::Time(ms) };
                    stop.push((*id, reason));
                }
                None => {
                    let silent = |silence| attempt.beat.saturating_add(silence) <= now;
                    let hung = silence.filter(|silence| silent(*silence));
                    stop.extend(hung.map(|silence| (*id, StopReason::Hung(silence))));
                }
            }
        }
        for (id, reason) in stop {
            self.stop(id, reason);
        }
        for id in dropped {
            let reason = self.machine.flight.running.get(&id).and_then(|a| a.stopping.clone());
            let ran_ms = self.release(id);
            if let Some((reason, _)) = reason {
                self.stopped(id, reason, AttemptEnd { ran_ms, crash: false });
            }
        }
    }

    /// Has an attempt end, unless it is to end already.
    pub(super) fn stop(&mut self, id: TaskId, reason: StopReason) {
        let now = self.now.mono_ms;
        let grace = self.state().limits.grace_ms;
        let Some(attempt) = self.flight().running.get_mut(&id) else { return };
        if attempt.stopping.is_none() {
            attempt.stopping = Some((reason, now.saturating_add(grace)));
            let number = attempt.number;
            self.outputs.push(KernelOutput::Stop(id, number));
        }
    }

    /// What becomes of a task whose attempt was stopped, and did not succeed all the same.
    pub(super) fn stopped(&mut self, id: TaskId, reason: StopReason, end: AttemptEnd) {
        match reason {
            StopReason::Cancel => self.end(id, TaskOutcome::Cancelled, end.ran_ms),
            StopReason::Deadline => {
                self.die(id, DeathCause::Deadline, "not done by its deadline".to_owned(), end);
            }
            StopReason::Budget => {
                let why = "its budget of time is used up".to_owned();
                self.die(id, DeathCause::OverBudget, why, end);
            }
            StopReason::Hung(silence) => {
                let why = format!("hung: no heartbeat for {silence} ms");
                self.broke_off(id, why, AttemptEnd { crash: true, ..end });
            }
            StopReason::Time(ms) => {
                let why = format!("timed out after {ms} ms");
                self.broke_off(id, why, AttemptEnd { crash: true, ..end });
            }
        }
    }

    /// The attempt of a task does not run any more; says how long it did.
    pub(super) fn release(&mut self, id: TaskId) -> Option<u64> {
        let now = self.now.mono_ms;
        let attempt = self.flight().running.remove(&id)?;
        self.outputs.push(KernelOutput::Release(id, attempt.number));
        self.unpark();
        Some(now.saturating_sub(attempt.began))
    }

    /// What waited for reserved time looks again.
    pub(super) fn unpark(&mut self) {
        let parked = std::mem::take(&mut self.flight().parked);
        for id in parked {
            self.machine.enqueue(id);
        }
    }

    /// Another attempt follows after a wait, if there are any left.
    pub(super) fn try_again(
        &mut self,
        id: TaskId,
        cause: DeathCause,
        why: String,
        end: AttemptEnd,
    ) {
        let Some(task) = self.state().task(id) else { return };
        let (attempt, retry) = (task.attempt, task.message.retry);
        if attempt >= retry.attempts {
            return self.die(id, cause, why, end);
        }
        let random = mix(self.machine.seed ^ mix(id.0) ^ mix(u64::from(attempt) << 32));
        let wait_ms = retry.wait_ms(attempt, random);
        // 0 stands for at once, whatever the time.
        let not_before_ms = self.now.wall_ms.saturating_add(wait_ms).max(1);
        let AttemptEnd { ran_ms, crash } = end;
        self.record(KernelEvent::Retrying { id, why, not_before_ms, ran_ms, crash });
        self.machine.index_task(id);
    }

    /// Starts tasks as long as there are slots.
    pub(super) fn start_tasks(&mut self) {
        while self.machine.can_start() {
            let limit = self.state().limits.concurrency;
            let flight = self.flight();
            if flight.slots == 0 || flight.running.len() >= limit {
                break;
            }
            let Some(id) = flight.queue.pop() else { break };
            flight.queued.remove(&id);
            self.start(id);
        }
        // Slots that nothing needs go back.
        let unused = std::mem::take(&mut self.flight().slots);
        if unused > 0 {
            self.outputs.push(KernelOutput::Unused(unused));
        }
    }

    fn start(&mut self, id: TaskId) {
        let now = self.now;
        let task = self.state().task(id);
        let Some(task) = task.filter(|task| matches!(task.phase, TaskPhase::Queued { .. })) else {
            return;
        };
        let limit = self.state().limits.task_ms;
        let ledger = &self.state().ledger;
        let account = task.account;
        let left = ledger.left(account, Resource::Ms).unwrap_or(u64::MAX);
        let ms = limit.min(left);
        if ms == 0 {
            // An attempt that runs gives back what it does not need.
            if !self.machine.flight.running.is_empty() {
                self.flight().parked.push(id);
            } else {
                let why = "its budget of time is used up".to_owned();
                self.die(id, DeathCause::OverBudget, why, AttemptEnd::default());
            }
            return;
        }
        let hold = HoldId(self.state().last_hold + 1);
        self.record(KernelEvent::Started { id, hold, ms });
        let Some(task) = self.state().task(id).cloned() else { return };
        let number = task.attempt;
        let until = now.mono_ms.saturating_add(ms);
        let attempt =
            Attempt { number, began: now.mono_ms, beat: now.mono_ms, until, stopping: None };
        let flight = self.flight();
        flight.slots -= 1;
        flight.running.insert(id, attempt);
        self.outputs.push(KernelOutput::Run(Box::new(task)));
    }
}

/// Spreads a number over all bits.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
