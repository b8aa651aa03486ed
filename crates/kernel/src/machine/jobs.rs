//! Jobs that are due.

use super::{KernelMachine, Reply, Turn};
use crate::event::KernelEvent;
use crate::input::{KernelRefusal, KernelReply};
use crate::job::{KernelJob, MissedRuns};
use crate::life::LifeState;
use crate::task::{TaskClass, TaskMessage, TaskSource};

use super::admit::check_name;

impl KernelMachine {
    /// A job was set or removed.
    pub(super) fn index_job(&mut self, name: &str) {
        let state = self.state.jobs.get(name);
        match state.and_then(|state| state.job.times(state.set_ms)) {
            Some(times) => drop(self.flight.times.insert(name.to_owned(), times)),
            None => drop(self.flight.times.remove(name)),
        }
        self.index_due(name);
    }

    /// Notes when a job is due next.
    fn index_due(&mut self, name: &str) {
        self.flight.due.retain(|(_, other)| other != name);
        let last = self.state.jobs.get(name).map(|state| state.last_ms);
        let times = self.flight.times.get(name);
        if let Some(next) = times.zip(last).and_then(|(times, last)| times.after(last)) {
            self.flight.due.insert((next, name.to_owned()));
        }
    }

    pub(super) fn jobs_run(&self) -> bool {
        self.flight.booted && self.state.life == LifeState::Active
    }
}

impl Turn<'_> {
    pub(super) fn set_job(&mut self, job: KernelJob) -> Reply {
        check_name("the name of the job", &job.name)?;
        job.check()?;
        self.check_size("the job", &job)?;
        let limit = self.state().limits.jobs;
        if !self.state().jobs.contains_key(&job.name) && self.state().jobs.len() >= limit {
            return Err(KernelRefusal::Full { what: "the list of jobs", limit });
        }
        let name = job.name.clone();
        self.record(KernelEvent::JobSet { job: Box::new(job) });
        self.machine.index_job(&name);
        Ok(KernelReply::Done)
    }

    pub(super) fn remove_job(&mut self, name: String) -> Reply {
        if !self.state().jobs.contains_key(&name) {
            return Err(KernelRefusal::Unknown { what: "job", name });
        }
        self.record(KernelEvent::JobRemoved { name: name.clone() });
        self.machine.index_job(&name);
        Ok(KernelReply::Done)
    }

    /// Runs what is due.
    pub(super) fn jobs_due(&mut self) {
        if !self.machine.jobs_run() {
            return;
        }
        let now = self.now.wall_ms;
        while let Some((at, name)) = self.machine.flight.due.first().cloned() {
            if at > now {
                break;
            }
            self.flight().due.pop_first();
            self.job_due(&name);
            self.machine.index_due(&name);
        }
    }

    fn job_due(&mut self, name: &str) {
        let Some(state) = self.state().jobs.get(name) else { return };
        let times = self.machine.flight.times.get(name);
        let now = self.now.wall_ms;
        let Some(due) = times.and_then(|times| state.job.due(times, state.last_ms, now)) else {
            return;
        };
        let room = match state.job.missed {
            MissedRuns::Skip { .. } | MissedRuns::RunOnce => 1,
            MissedRuns::RunAll { bound } => bound as usize,
        };
        let room = room.saturating_sub(state.open.len());
        let job = state.job.clone();
        let left_out = due.run.len().saturating_sub(room);
        let run = due.run[left_out..].to_vec();
        // It is recorded first: whatever becomes of the runs, this time is over.
        let missed = due.missed + left_out as u64;
        self.record(KernelEvent::JobDue { name: name.to_owned(), due_ms: due.latest, missed });
        for due_ms in run {
            let source = TaskSource::Job { name: name.to_owned(), due_ms };
            let message = TaskMessage {
                sender: format!("job:{name}"),
                key: None,
                class: TaskClass::Tick,
                body: job.body.clone(),
                deadline_ms: None,
                promise: job.promise,
                retry: job.retry,
                budget: job.budget,
            };
            if self.accept(source, message, 0).is_err() {
                // No room or budget for a run is a run that was missed.
                let name = name.to_owned();
                self.record(KernelEvent::JobDue { name, due_ms, missed: 1 });
            }
        }
    }
}
