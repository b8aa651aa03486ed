//! The kernel as a state machine, without I/O.

mod admit;
mod attempt;
mod jobs;
mod letters;
mod life;
mod schedule;

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{KernelEvent, KernelRecord};
use crate::input::{Handled, KernelInput, KernelOutput, KernelRefusal, KernelReply};
use crate::job::JobTimes;
use crate::queue::ReadyQueue;
use crate::state::KernelState;
use crate::task::{DeathCause, TaskId, TaskOutcome, TaskSource};
use crate::time::Moment;

/// The kernel: inputs go in, records and what is to be done come out. It does nothing itself.
#[derive(Debug)]
pub struct KernelMachine {
    state: KernelState,
    seed: u64,
    flight: Flight,
}

/// What this process has in flight. It is no state: another process has none of it.
#[derive(Debug, Default)]
struct Flight {
    opened: bool,
    /// Whether `on_bootstrap` ran in this process.
    booted: bool,
    booting: bool,
    shutting_down: bool,
    /// Whether the agent is over.
    over: bool,
    queue: ReadyQueue,
    /// Tasks that are in `queue`, so that none is in it twice.
    queued: BTreeSet<TaskId>,
    /// Tasks that wait until reserved time is given back.
    parked: Vec<TaskId>,
    /// When tasks need a look, by wall time.
    timers: BTreeSet<(u64, TaskId)>,
    /// The due times of jobs, read once.
    times: BTreeMap<String, JobTimes>,
    /// When jobs are due next.
    due: BTreeSet<(u64, String)>,
    running: BTreeMap<TaskId, Attempt>,
    /// Slots of the host that were granted and are not used.
    slots: usize,
}

/// An attempt that runs.
#[derive(Debug)]
struct Attempt {
    number: u32,
    began: u64,
    beat: u64,
    /// When its time is over.
    until: u64,
    /// Why it is to end, and when it is dropped.
    stopping: Option<(StopReason, u64)>,
}

#[derive(Clone, Debug, PartialEq)]
enum StopReason {
    Cancel,
    Deadline,
    Hung(u64),
    Time(u64),
    Budget,
}

/// When the machine wants a [`KernelInput::Tick`], if nothing happens before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelWake {
    /// By wall time.
    pub wall_ms: Option<u64>,
    /// By monotonic time.
    pub mono_ms: Option<u64>,
}

/// One input: what it leads to is gathered in here.
struct Turn<'m> {
    machine: &'m mut KernelMachine,
    now: Moment,
    records: Vec<KernelRecord>,
    outputs: Vec<KernelOutput>,
}

type Reply = Result<KernelReply, KernelRefusal>;

impl KernelMachine {
    /// The machine of an agent with this state. The seed is for the waits between attempts.
    #[must_use]
    pub fn new(state: KernelState, seed: u64) -> Self {
        Self { state, seed, flight: Flight::default() }
    }

    /// What the agent came to.
    #[must_use]
    pub fn state(&self) -> &KernelState {
        &self.state
    }

    /// Takes an input, and says what is to be done.
    pub fn handle(&mut self, now: Moment, input: KernelInput) -> Handled {
        let mut turn = Turn { machine: self, now, records: Vec::new(), outputs: Vec::new() };
        let reply = turn.take(input);
        turn.advance();
        Handled { records: turn.records, outputs: turn.outputs, reply }
    }

    /// How many more slots of the host the agent could use.
    #[must_use]
    pub fn wants(&self) -> usize {
        if !self.can_start() {
            return 0;
        }
        let free = self.state.limits.concurrency.saturating_sub(self.flight.running.len());
        self.flight.queue.len().min(free).saturating_sub(self.flight.slots)
    }

    /// How many attempts run.
    #[must_use]
    pub fn running(&self) -> usize {
        self.flight.running.len()
    }

    /// When the machine wants a tick.
    #[must_use]
    pub fn wake(&self) -> KernelWake {
        if self.flight.over {
            return KernelWake::default();
        }
        let timer = self.flight.timers.first().map(|(at, _)| *at);
        let due = self.flight.due.first().map(|(at, _)| *at).filter(|_| self.jobs_run());
        let drain = self
            .state
            .retiring_since
            .filter(|_| !self.flight.shutting_down)
            .map(|since| since.saturating_add(self.state.limits.drain_ms));
        let wall_ms = [timer, due, drain].into_iter().flatten().min();
        let heartbeat = self.state.limits.heartbeat_ms;
        let attempts = self.flight.running.values().map(|attempt| match &attempt.stopping {
            Some((_, drop_at)) => *drop_at,
            None => heartbeat
                .map(|silence| attempt.beat.saturating_add(silence))
                .map_or(attempt.until, |silent| silent.min(attempt.until)),
        });
        KernelWake { wall_ms, mono_ms: attempts.min() }
    }

    fn can_start(&self) -> bool {
        self.flight.booted && !self.flight.over && self.state.life.works()
    }
}

impl Turn<'_> {
    fn state(&self) -> &KernelState {
        &self.machine.state
    }

    fn flight(&mut self) -> &mut Flight {
        &mut self.machine.flight
    }

    /// Makes an event, which is all that changes the state.
    fn record(&mut self, event: KernelEvent) {
        let number = self.machine.state.records + 1;
        // Times of records never go back, even if the clock does.
        let at = self.now.wall_ms.max(self.machine.state.last_at);
        let record = KernelRecord::new(number, at, event);
        self.machine.state.apply(&record);
        self.records.push(record);
    }

    fn take(&mut self, input: KernelInput) -> Reply {
        if matches!(input, KernelInput::Open(_)) == self.machine.flight.opened {
            return Err(KernelRefusal::Order);
        }
        let over = self.machine.flight.over;
        match input {
            KernelInput::Open(_)
            | KernelInput::Life(_)
            | KernelInput::Send(_)
            | KernelInput::Tick
            | KernelInput::DropLetter(_) => {}
            _ if over => return Err(KernelRefusal::NotAccepting(self.state().life)),
            _ => {}
        }
        match input {
            KernelInput::Open(settings) => self.open(*settings),
            KernelInput::Life(step) => self.step(step),
            KernelInput::HookEnded(hook, result) => Ok(self.hook_ended(hook, result)),
            KernelInput::Send(message) => self.send(*message),
            KernelInput::Tick => Ok(KernelReply::Done),
            KernelInput::Grant => {
                self.flight().slots += 1;
                Ok(KernelReply::Done)
            }
            KernelInput::Cancel(id) => self.cancel(id),
            KernelInput::Answer(id, key, answer, by) => self.answer(id, key, answer, by),
            KernelInput::Resend(id) => self.resend(id),
            KernelInput::DropLetter(id) => self.drop_letter(id),
            KernelInput::SetJob(job) => self.set_job(*job),
            KernelInput::RemoveJob(name) => self.remove_job(name),
            KernelInput::SetBudget(budget) => {
                self.record(KernelEvent::BudgetSet { budget });
                Ok(KernelReply::Done)
            }
            KernelInput::Attempt(id, attempt, input) => self.attempt(id, attempt, input),
        }
    }

    /// What comes next, until nothing does.
    fn advance(&mut self) {
        if !self.machine.flight.opened || self.machine.flight.over {
            return;
        }
        self.look_at_timers();
        self.look_at_attempts();
        self.look_at_crashes();
        self.jobs_due();
        self.start_tasks();
        self.drain();
    }

    /// Whether a value is small enough.
    fn check_size(
        &self,
        what: &'static str,
        value: &impl serde::Serialize,
    ) -> Result<(), KernelRefusal> {
        let limit = self.state().limits.value_bytes;
        // What cannot be written has no size that fits.
        let bytes = serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len());
        if bytes > limit {
            return Err(KernelRefusal::TooLarge { what, bytes, limit });
        }
        Ok(())
    }

    /// Closes a task.
    fn end(&mut self, id: TaskId, outcome: TaskOutcome, ran_ms: Option<u64>) {
        self.finish(id, outcome.clone(), KernelEvent::Ended { id, outcome, ran_ms });
    }

    /// Makes an open task a dead letter.
    fn die(&mut self, id: TaskId, cause: DeathCause, why: String, end: AttemptEnd) {
        let AttemptEnd { ran_ms, crash } = end;
        let outcome = TaskOutcome::Dead { cause, why: why.clone() };
        self.finish(id, outcome, KernelEvent::Died { id, cause, why, ran_ms, crash });
        while self.state().letters.len() > self.state().limits.dead_letters.max(1) {
            let Some((oldest, _)) = self.state().letters.first_key_value() else { break };
            let (id, limit) = (*oldest, self.state().limits.dead_letters);
            let why = format!("more than {limit} dead letters");
            self.record(KernelEvent::LetterDropped { id, why });
        }
    }

    /// A task is closed by an event: its sub-tasks end, and its parent may go on.
    fn finish(&mut self, id: TaskId, outcome: TaskOutcome, event: KernelEvent) {
        let Some(task) = self.state().task(id) else { return };
        let children: Vec<TaskId> = task.children.values().map(|child| child.id).collect();
        let parent = match &task.source {
            TaskSource::Parent { task, .. } => Some(*task),
            TaskSource::Message | TaskSource::Job { .. } => None,
        };
        self.record(event);
        self.outputs.push(KernelOutput::Closed(id, outcome));
        for child in children {
            // One that is closed is no longer there to be cancelled.
            drop(self.cancel(child));
        }
        if let Some(parent) = parent {
            self.machine.index_task(parent);
        }
        self.unpark();
    }
}

/// How an attempt was when it ended.
#[derive(Clone, Copy, Debug, Default)]
struct AttemptEnd {
    ran_ms: Option<u64>,
    crash: bool,
}
