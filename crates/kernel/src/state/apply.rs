//! What each event does to the state.

use super::{AttemptHolds, JobState, KernelState};
use crate::amount::Amount;
use crate::event::{KernelEvent, KernelRecord};
use crate::ledger::AccountId;
use crate::life::{LifeState, LifeStep};
use crate::question::AskedQuestion;
use crate::task::{
    ChildTask, DeadLetter, EffectState, Task, TaskId, TaskOutcome, TaskPhase, TaskSource,
};

impl KernelState {
    /// Applies the next record. What does not fit the state is left out, so that no journal can make a reader panic.
    pub fn apply(&mut self, record: &KernelRecord) {
        self.records = record.number();
        self.last_at = record.at();
        let at = record.at();
        match record.event() {
            KernelEvent::Opened { limits } => self.limits = **limits,
            KernelEvent::LifeMoved { step, to, .. } => self.move_life(*step, *to, at),
            KernelEvent::HookFailed { .. } => {}
            KernelEvent::Accepted { task } => self.accept(task, at),
            KernelEvent::Started { id, hold, ms } => {
                self.counts.started += 1;
                self.last_hold = self.last_hold.max(hold.0);
                let Some(task) = self.tasks.get_mut(id) else { return };
                task.attempt = task.attempt.saturating_add(1);
                task.phase = TaskPhase::Running;
                let account = task.account;
                // It was checked before the event was made.
                if self.ledger.hold(*hold, account, Amount::ms(*ms)).is_ok() {
                    self.holds.entry(*id).or_default().time = Some(*hold);
                }
            }
            KernelEvent::Retrying { id, not_before_ms, ran_ms, crash, .. } => {
                self.counts.retried += 1;
                self.note_crash(*crash, at);
                self.end_attempt(*id, *ran_ms);
                let phase = TaskPhase::Queued { not_before_ms: *not_before_ms };
                self.with_task(*id, |task| task.phase = phase);
            }
            KernelEvent::Ended { id, outcome, ran_ms } => {
                match outcome {
                    TaskOutcome::Done { .. } => self.counts.done += 1,
                    TaskOutcome::Cancelled => self.counts.cancelled += 1,
                    TaskOutcome::Dead { .. } => {}
                }
                self.close(*id, outcome, *ran_ms, at);
            }
            KernelEvent::Died { id, cause, why, ran_ms, crash } => {
                self.counts.died += 1;
                self.note_crash(*crash, at);
                let outcome = TaskOutcome::Dead { cause: *cause, why: why.clone() };
                if let Some(task) = self.close(*id, &outcome, *ran_ms, at) {
                    let (cause, why) = (*cause, why.clone());
                    self.letters.insert(*id, DeadLetter { task, cause, why, died_ms: at });
                }
            }
            KernelEvent::Asked { id, question, ran_ms } => {
                self.end_attempt(*id, *ran_ms);
                let key = question.key.clone();
                let question = (**question).clone();
                let asked = AskedQuestion { question, asked_ms: at, answer: None, by: None };
                self.with_task(*id, |task| {
                    task.questions.insert(key.clone(), asked);
                    task.phase = TaskPhase::Asking { key };
                });
            }
            KernelEvent::Answered { id, key, answer, by } => self.with_task(*id, |task| {
                if let Some(asked) = task.questions.get_mut(key) {
                    asked.answer = Some(answer.clone());
                    asked.by = Some(by.clone());
                }
                if task.phase == (TaskPhase::Asking { key: key.clone() }) {
                    task.phase = TaskPhase::default();
                }
            }),
            KernelEvent::Waited { id, on, ran_ms } => {
                self.end_attempt(*id, *ran_ms);
                self.with_task(*id, |task| {
                    task.phase = TaskPhase::Waiting { on: on.clone() };
                    task.go_on_if_children_ended();
                });
            }
            KernelEvent::Progressed { id, value } => {
                self.with_task(*id, |task| task.progress = Some(value.clone()));
            }
            KernelEvent::EffectStarted { id, key } => self.with_task(*id, |task| {
                let started = EffectState::Started { attempt: task.attempt };
                task.effects.insert(key.clone(), started);
            }),
            KernelEvent::EffectEnded { id, key, value } => {
                let done = EffectState::Done { value: value.clone() };
                self.with_task(*id, |task| drop(task.effects.insert(key.clone(), done)));
            }
            KernelEvent::EffectFailed { id, key, why } => {
                let failed = EffectState::Failed { why: why.clone() };
                self.with_task(*id, |task| drop(task.effects.insert(key.clone(), failed)));
            }
            KernelEvent::CancelAsked { id } => self.with_task(*id, |task| task.cancel = true),
            KernelEvent::Held { hold, id, account, amount } => {
                self.last_hold = self.last_hold.max(hold.0);
                if self.ledger.hold(*hold, *account, *amount).is_ok() {
                    self.holds.entry(*id).or_default().others.insert(*hold);
                }
            }
            KernelEvent::Settled { hold, id, actual } => {
                self.ledger.settle(*hold, *actual);
                if let Some(holds) = self.holds.get_mut(id) {
                    holds.others.remove(hold);
                }
            }
            KernelEvent::BudgetSet { budget } => self.ledger.set_budget(*budget),
            KernelEvent::LetterResent { id } => self.resend(*id),
            KernelEvent::LetterDropped { id, .. } => drop(self.letters.remove(id)),
            KernelEvent::JobSet { job } => {
                let open = self.jobs.remove(&job.name).map(|old| old.open).unwrap_or_default();
                let job = (**job).clone();
                let name = job.name.clone();
                self.jobs.insert(name, JobState { job, set_ms: at, last_ms: at, missed: 0, open });
            }
            KernelEvent::JobRemoved { name } => drop(self.jobs.remove(name)),
            KernelEvent::JobDue { name, due_ms, missed } => {
                if let Some(job) = self.jobs.get_mut(name) {
                    job.last_ms = job.last_ms.max(*due_ms);
                    job.missed = job.missed.saturating_add(*missed);
                }
            }
            KernelEvent::Planned { plan, event } => {
                self.plans.entry(plan.clone()).or_default().apply(event);
            }
        }
    }

    fn move_life(&mut self, step: LifeStep, to: LifeState, at: u64) {
        self.life = to;
        match step {
            LifeStep::Retire => self.retiring_since = Some(at),
            LifeStep::Suspend => self.accepted_suspended = 0,
            LifeStep::Resume => self.crashes.clear(),
            _ => {}
        }
    }

    fn accept(&mut self, task: &Task, at: u64) {
        let limits = &self.limits;
        self.seen.forget(at.saturating_sub(limits.dedup_ms), limits.dedup_keys);
        self.counts.accepted += 1;
        self.last_task = self.last_task.max(task.id.0);
        if self.life == LifeState::Suspended && task.source == TaskSource::Message {
            self.accepted_suspended += 1;
        }
        if let (TaskSource::Message, Some(key)) = (&task.source, &task.message.key) {
            self.seen.open(&task.message.sender, key, task.id);
        }
        match &task.source {
            TaskSource::Message => {}
            TaskSource::Job { name, .. } => {
                if let Some(job) = self.jobs.get_mut(name) {
                    job.open.insert(task.id);
                }
            }
            TaskSource::Parent { task: parent, key } => {
                let child = ChildTask { id: task.id, outcome: None };
                self.with_task(*parent, |parent| drop(parent.children.insert(key.clone(), child)));
            }
        }
        self.insert(task.clone());
    }

    /// Adds an open task, with its account.
    fn insert(&mut self, task: Task) {
        if let (true, Some(budget)) = (task.has_account(), task.message.budget) {
            let parent = self.parent_account(&task.source);
            // It was checked before the event was made.
            drop(self.ledger.open(AccountId(task.id.0), parent, budget));
        }
        *self.of_sender.entry(task.message.sender.clone()).or_default() += 1;
        self.tasks.insert(task.id, task);
    }

    /// The account that a task draws on, or has its own account below.
    pub(crate) fn parent_account(&self, source: &TaskSource) -> AccountId {
        let TaskSource::Parent { task, .. } = source else { return AccountId::AGENT };
        let account = self.tasks.get(task).map_or(AccountId::AGENT, |parent| parent.account);
        // A dead letter whose parent is gone draws on the agent.
        if self.ledger.account(account).is_some() { account } else { AccountId::AGENT }
    }

    /// Takes a task out, and tells whoever waits for it.
    fn close(
        &mut self,
        id: TaskId,
        outcome: &TaskOutcome,
        ran_ms: Option<u64>,
        at: u64,
    ) -> Option<Task> {
        self.end_attempt(id, ran_ms);
        let task = self.tasks.remove(&id)?;
        self.holds.remove(&id);
        if task.has_account() {
            self.ledger.close(task.account);
        }
        if let Some(count) = self.of_sender.get_mut(&task.message.sender) {
            *count -= 1;
            if *count == 0 {
                self.of_sender.remove(&task.message.sender);
            }
        }
        match &task.source {
            TaskSource::Message => {
                if let Some(key) = &task.message.key {
                    self.seen.close(&task.message.sender, key, outcome.clone(), at);
                    self.seen.forget(0, self.limits.dedup_keys);
                }
            }
            TaskSource::Job { name, .. } => {
                if let Some(job) = self.jobs.get_mut(name) {
                    job.open.remove(&id);
                }
            }
            TaskSource::Parent { task: parent, key } => {
                let letter = self.letters.get_mut(parent).map(|letter| &mut letter.task);
                if let Some(parent) = self.tasks.get_mut(parent).or(letter) {
                    if let Some(child) = parent.children.get_mut(key) {
                        child.outcome = Some(outcome.clone());
                    }
                    parent.go_on_if_children_ended();
                }
            }
        }
        Some(task)
    }

    /// What an attempt reserved counts: time as long as it ran, the rest in full.
    fn end_attempt(&mut self, id: TaskId, ran_ms: Option<u64>) {
        let Some(AttemptHolds { time, others }) = self.holds.remove(&id) else { return };
        for hold in others {
            let held = self.ledger.held(hold).unwrap_or_default();
            self.ledger.settle(hold, held);
        }
        if let Some(hold) = time {
            let held = self.ledger.held(hold).unwrap_or_default();
            self.ledger.settle(hold, ran_ms.map_or(held, Amount::ms));
        }
    }

    fn resend(&mut self, id: TaskId) {
        let Some(letter) = self.letters.remove(&id) else { return };
        let mut task = letter.task;
        task.attempt = 0;
        task.cancel = false;
        task.phase = TaskPhase::default();
        if task.message.budget.is_none() {
            task.account = self.parent_account(&task.source);
        }
        // The one that it had is over.
        task.message.deadline_ms = None;
        if let (TaskSource::Message, Some(key)) = (&task.source, &task.message.key) {
            self.seen.open(&task.message.sender, key, id);
        }
        if let TaskSource::Job { name, .. } = &task.source
            && let Some(job) = self.jobs.get_mut(name)
        {
            job.open.insert(id);
        }
        // Effects of an earlier life are of an earlier attempt.
        for effect in task.effects.values_mut() {
            if let EffectState::Started { attempt } = effect {
                *attempt = 0;
            }
        }
        self.insert(task);
    }

    fn note_crash(&mut self, crash: bool, at: u64) {
        if !crash {
            return;
        }
        self.crashes.push_back(at);
        while self.crashes.len() > self.limits.crashes.max.saturating_add(1) {
            self.crashes.pop_front();
        }
    }

    fn with_task(&mut self, id: TaskId, change: impl FnOnce(&mut Task)) {
        if let Some(task) = self.tasks.get_mut(&id) {
            change(task);
        }
    }
}

impl Task {
    fn go_on_if_children_ended(&mut self) {
        let TaskPhase::Waiting { on } = &self.phase else { return };
        let ended =
            |key: &String| self.children.get(key).is_none_or(|child| child.outcome.is_some());
        if on.iter().all(ended) {
            self.phase = TaskPhase::default();
        }
    }
}
