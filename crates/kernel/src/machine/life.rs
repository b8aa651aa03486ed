//! Opening, the steps of a life, and its end.

use std::collections::BTreeSet;

use super::{AttemptEnd, KernelMachine, Reply, Turn};
use crate::event::{KernelEvent, LifeHook};
use crate::input::{KernelOutput, KernelRefusal, KernelReply, KernelSettings};
use crate::ledger::AccountId;
use crate::life::{LifeState, LifeStep};
use crate::task::{DeathCause, DeliveryPromise, TaskId, TaskOutcome, TaskPhase};

impl Turn<'_> {
    pub(super) fn open(&mut self, settings: KernelSettings) -> Reply {
        let KernelSettings { limits, budget, jobs } = settings;
        for job in &jobs {
            job.check()?;
        }
        let mut names: BTreeSet<&str> = self.state().jobs.keys().map(String::as_str).collect();
        names.extend(jobs.iter().map(|job| job.name.as_str()));
        if names.len() > limits.jobs {
            return Err(KernelRefusal::Full { what: "the list of jobs", limit: limits.jobs });
        }
        self.flight().opened = true;
        if self.state().life == LifeState::Terminated {
            self.flight().over = true;
            self.outputs.push(KernelOutput::Over);
            return Ok(KernelReply::Done);
        }
        self.record(KernelEvent::Opened { limits: Box::new(limits) });
        let root = self.state().ledger.account(AccountId::AGENT);
        let wanted = budget.or(root.is_none().then(Default::default));
        if let Some(budget) = wanted.filter(|wanted| root.is_none_or(|root| root.budget != *wanted))
        {
            self.record(KernelEvent::BudgetSet { budget });
        }
        for job in jobs {
            if self.state().jobs.get(&job.name).is_none_or(|known| known.job != job) {
                self.record(KernelEvent::JobSet { job: Box::new(job) });
            }
        }
        self.recover();
        self.machine.index();
        // Hooks connect what a process needs, so each one runs them.
        if self.state().life != LifeState::Init {
            self.flight().booting = true;
            self.outputs.push(KernelOutput::RunHook(LifeHook::Bootstrap));
        }
        Ok(KernelReply::Done)
    }

    /// What ran when a process ended broke off.
    fn recover(&mut self) {
        let running = self.state().tasks.values().filter(|task| task.phase == TaskPhase::Running);
        let running: Vec<(TaskId, bool)> = running.map(|task| (task.id, task.cancel)).collect();
        for (id, cancel) in running {
            if cancel {
                self.end(id, TaskOutcome::Cancelled, None);
            } else {
                self.broke_off(id, "its process ended".to_owned(), AttemptEnd::default());
            }
        }
    }

    /// An attempt broke off: it is tried again if the promise allows.
    pub(super) fn broke_off(&mut self, id: TaskId, why: String, end: AttemptEnd) {
        let Some(task) = self.state().task(id) else { return };
        if task.message.promise == DeliveryPromise::Once {
            self.die(id, DeathCause::Interrupted, why, end);
        } else {
            self.try_again(id, DeathCause::Interrupted, why, end);
        }
    }

    pub(super) fn step(&mut self, step: LifeStep) -> Reply {
        let from = self.state().life;
        let refusal = KernelRefusal::Step { from, step };
        let to = from.after(step).ok_or(refusal.clone())?;
        if self.machine.flight.booting
            && !matches!(step, LifeStep::Abort | LifeStep::Suspend | LifeStep::Retire)
        {
            return Err(refusal);
        }
        match step {
            LifeStep::Boot => {
                self.flight().booting = true;
                self.outputs.push(KernelOutput::RunHook(LifeHook::Bootstrap));
            }
            LifeStep::Terminate => self.cut_drain("terminated before it was done"),
            LifeStep::Abort => {
                self.end_all(DeathCause::Aborted, "the agent was aborted");
                self.move_life(step, to, None);
                self.over();
            }
            _ => self.move_life(step, to, None),
        }
        Ok(KernelReply::Done)
    }

    pub(super) fn move_life(&mut self, step: LifeStep, to: LifeState, reason: Option<String>) {
        self.record(KernelEvent::LifeMoved { step, to, reason });
        self.outputs.push(KernelOutput::Announce(to));
    }

    fn over(&mut self) {
        self.flight().over = true;
        self.outputs.push(KernelOutput::Over);
    }

    pub(super) fn hook_ended(&mut self, hook: LifeHook, result: Result<(), String>) -> KernelReply {
        let failed = result.is_err();
        if let Err(why) = result {
            self.record(KernelEvent::HookFailed { hook, why });
        }
        match hook {
            LifeHook::Bootstrap => {
                let flight = self.flight();
                flight.booting = false;
                flight.booted = !failed;
                if self.state().life == LifeState::Init && !failed {
                    self.move_life(LifeStep::Boot, LifeState::Ready, None);
                }
            }
            LifeHook::Shutdown if self.state().life == LifeState::Retiring => {
                self.move_life(LifeStep::Terminate, LifeState::Terminated, None);
                self.over();
            }
            LifeHook::Shutdown => {}
        }
        KernelReply::Done
    }

    /// Retiring ends when nothing is open, or its time is over.
    pub(super) fn drain(&mut self) {
        if self.state().life != LifeState::Retiring || self.machine.flight.shutting_down {
            return;
        }
        let since = self.state().retiring_since.unwrap_or(0);
        let until = since.saturating_add(self.state().limits.drain_ms);
        if self.now.wall_ms >= until {
            self.cut_drain("not done when the time for retiring was over");
        } else if self.state().tasks.is_empty() && !self.machine.flight.booting {
            self.shut_down();
        }
    }

    fn cut_drain(&mut self, why: &str) {
        if !self.machine.flight.shutting_down {
            self.end_all(DeathCause::NotDrained, why);
            self.shut_down();
        }
    }

    fn shut_down(&mut self) {
        self.flight().shutting_down = true;
        self.outputs.push(KernelOutput::RunHook(LifeHook::Shutdown));
    }

    /// Makes all open tasks dead letters, the deepest first, so that parents know of their sub-tasks.
    fn end_all(&mut self, cause: DeathCause, why: &str) {
        let open: Vec<TaskId> = self.state().tasks.keys().rev().copied().collect();
        for id in open {
            let end = AttemptEnd { ran_ms: self.release(id), crash: false };
            if self.state().task(id).is_some() {
                self.die(id, cause, why.to_owned(), end);
            }
        }
    }

    /// More crashes than allowed suspend the agent.
    pub(super) fn look_at_crashes(&mut self) {
        if self.state().life != LifeState::Active {
            return;
        }
        let limit = self.state().limits.crashes;
        let since = self.state().last_at.saturating_sub(limit.window_ms);
        let recent = self.state().crashes.iter().filter(|at| **at >= since).count();
        if recent > limit.max {
            let reason = format!("{recent} crashes of hooks within {} ms", limit.window_ms);
            self.move_life(LifeStep::Suspend, LifeState::Suspended, Some(reason));
        }
    }
}

impl KernelMachine {
    /// What the state says is open goes into queue and timers.
    fn index(&mut self) {
        let ids: Vec<TaskId> = self.state.tasks.keys().copied().collect();
        for id in ids {
            self.index_task(id);
        }
        let jobs: Vec<String> = self.state.jobs.keys().cloned().collect();
        for name in jobs {
            self.index_job(&name);
        }
    }
}
