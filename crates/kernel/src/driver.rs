//! The loop that joins the machine with a journal, hooks, the clock and the host.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::command::{Command, Commands, ReplyTo, View};
use crate::context::TaskContext;
use crate::error::KernelError;
use crate::event::LifeHook;
use crate::hooks::AgentHooks;
use crate::host::{HostLimits, HostSlot};
use crate::input::{
    AttemptInput, AttemptReport, Handled, KernelInput, KernelOutput, KernelRefusal, KernelReply,
};
use crate::journal::{JournalError, KernelJournal};
use crate::life::LifeState;
use crate::machine::KernelMachine;
use crate::task::{Task, TaskId, TaskOutcome, TaskSource};
use crate::time::KernelClock;

/// So many commands share one append.
const BATCH: usize = 512;

/// So long the kernel sleeps at most while something waits for the wall clock, which may jump.
const LOOK_AT_CLOCK_MS: u64 = 30_000;

/// How `on_bootstrap` goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BootState {
    Running,
    Done,
    Failed(String),
}

/// What others see of the loop.
pub(crate) struct Announcements {
    pub(crate) life: watch::Sender<LifeState>,
    pub(crate) boot: watch::Sender<BootState>,
    /// Why the loop ended, if it did with an error.
    pub(crate) broken: watch::Sender<Option<JournalError>>,
}

pub(crate) struct Driver<H, J> {
    pub(crate) machine: KernelMachine,
    pub(crate) journal: J,
    pub(crate) hooks: Arc<H>,
    pub(crate) clock: Arc<dyn KernelClock>,
    pub(crate) host: HostLimits,
    pub(crate) inbox: mpsc::Receiver<Command>,
    pub(crate) commands: Commands,
    pub(crate) announce: Announcements,
    pub(crate) stop: CancellationToken,
    pub(crate) running: HashMap<(TaskId, u32), RunningTask>,
    /// Slots that were taken for tasks that did not start yet.
    pub(crate) slots: Vec<HostSlot>,
    pub(crate) waiters: HashMap<TaskId, Vec<oneshot::Sender<TaskOutcome>>>,
    /// Records since the last snapshot.
    pub(crate) uncompacted: u64,
}

/// A task that runs; dropping it ends it.
pub(crate) struct RunningTask {
    abort: AbortHandle,
    cancelled: CancellationToken,
    _slot: Option<HostSlot>,
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        self.abort.abort();
    }
}

/// What is done when the records of a batch are durable.
enum Then {
    Output(KernelOutput),
    Reply(ReplyTo, Result<KernelReply, KernelRefusal>),
    Wait(TaskId, oneshot::Sender<TaskOutcome>),
    Tell(oneshot::Sender<TaskOutcome>, TaskOutcome),
    Boot(BootState),
    View(View),
}

#[derive(Default)]
struct Batch {
    first: u64,
    records: Vec<Vec<u8>>,
    /// Why a record cannot be written.
    unwritable: Option<String>,
    then: Vec<Then>,
}

impl<H: AgentHooks, J: KernelJournal> Driver<H, J> {
    /// Runs until it is stopped, or the journal fails.
    pub(crate) async fn run(mut self, open: KernelInput, opened: ReplyTo) {
        let mut slot: Option<BoxFuture<'static, Option<HostSlot>>> = None;
        let mut batch = Batch::default();
        self.handle(&mut batch, open, Some(opened));
        loop {
            if let Err(error) = self.flush(batch).await {
                self.announce.broken.send_replace(Some(error));
                return;
            }
            batch = Batch::default();
            if self.machine.wants() == 0 {
                slot = None;
            } else if slot.is_none() {
                slot = Some(self.host.clone().take().boxed());
            }
            let wake = self.sleep_time();
            let stop = self.stop.clone();
            let command = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                command = self.inbox.recv() => command,
                taken = async { slot.as_mut().expect("it is checked").await }, if slot.is_some() => {
                    slot = None;
                    self.slots.extend(taken);
                    Some(Command::Input(KernelInput::Grant, None))
                }
                () = tokio::time::sleep(wake.unwrap_or_default()), if wake.is_some() => {
                    Some(Command::Input(KernelInput::Tick, None))
                }
            };
            let Some(command) = command else { return };
            self.take(&mut batch, command);
            while batch.then.len() < BATCH && batch.records.len() < BATCH {
                let Ok(command) = self.inbox.try_recv() else { break };
                self.take(&mut batch, command);
            }
            // One that waits for a slot has its place before others.
            while slot.is_none() && self.machine.wants() > 0 {
                let Some(taken) = self.host.try_take() else { break };
                self.slots.push(taken);
                self.handle(&mut batch, KernelInput::Grant, None);
            }
        }
    }

    fn take(&mut self, batch: &mut Batch, command: Command) {
        match command {
            Command::Input(input, reply) => self.handle(batch, input, reply),
            Command::Send(message, reply, outcome) => {
                let handled = self.machine.handle(self.clock.now(), KernelInput::Send(message));
                let wait = match &handled.reply {
                    Ok(KernelReply::Accepted(id) | KernelReply::Duplicate(id, None)) => {
                        Some(Then::Wait(*id, outcome))
                    }
                    Ok(KernelReply::Duplicate(_, Some(known))) => {
                        Some(Then::Tell(outcome, known.clone()))
                    }
                    _ => None,
                };
                batch.then.extend(wait);
                Self::gather(batch, handled, Some(reply));
            }
            Command::View(view) => batch.then.push(Then::View(view)),
        }
    }

    fn handle(&mut self, batch: &mut Batch, input: KernelInput, reply: Option<ReplyTo>) {
        let boot = match &input {
            KernelInput::HookEnded(LifeHook::Bootstrap, Ok(())) => Some(BootState::Done),
            KernelInput::HookEnded(LifeHook::Bootstrap, Err(why)) => {
                Some(BootState::Failed(why.clone()))
            }
            _ => None,
        };
        let handled = self.machine.handle(self.clock.now(), input);
        Self::gather(batch, handled, reply);
        batch.then.extend(boot.map(Then::Boot));
    }

    fn gather(batch: &mut Batch, handled: Handled, reply: Option<ReplyTo>) {
        if let (true, Some(first)) = (batch.records.is_empty(), handled.records.first()) {
            batch.first = first.number();
        }
        for record in &handled.records {
            match record.to_bytes() {
                Ok(bytes) => batch.records.push(bytes),
                Err(error) => batch.unwritable = Some(error.to_string()),
            }
        }
        batch.then.extend(handled.outputs.into_iter().map(Then::Output));
        batch.then.extend(reply.map(|reply| Then::Reply(reply, handled.reply)));
    }

    /// Makes records durable, and does then what they lead to.
    async fn flush(&mut self, batch: Batch) -> Result<(), JournalError> {
        let Batch { first, records, unwritable, then } = batch;
        if !records.is_empty() || unwritable.is_some() {
            self.uncompacted += records.len() as u64;
            let appended = match unwritable {
                Some(why) => Err(JournalError::Storage(why)),
                None => self.journal.append(first, records).await,
            };
            if let Err(error) = appended {
                for then in then {
                    if let Then::Reply(reply, _) = then {
                        // Whoever asked may be gone.
                        drop(reply.send(Err(KernelError::Journal(error.clone()))));
                    }
                }
                return Err(error);
            }
        }
        for then in then {
            self.carry_out(then);
        }
        if self.uncompacted >= self.machine.state().limits.compact_after.max(1) {
            self.compact().await?;
        }
        Ok(())
    }

    async fn compact(&mut self) -> Result<(), JournalError> {
        let state = self.machine.state();
        let snapshot =
            state.to_snapshot().map_err(|error| JournalError::Storage(error.to_string()))?;
        self.journal.compact(state.records, snapshot).await?;
        self.uncompacted = 0;
        Ok(())
    }

    fn carry_out(&mut self, then: Then) {
        match then {
            Then::Output(output) => self.output(output),
            // Whoever asked may be gone; that is no concern of the kernel.
            Then::Reply(reply, result) => drop(reply.send(result.map_err(KernelError::Refused))),
            Then::Wait(id, outcome) => self.waiters.entry(id).or_default().push(outcome),
            Then::Tell(waiter, outcome) => drop(waiter.send(outcome)),
            Then::Boot(state) => drop(self.announce.boot.send_replace(state)),
            Then::View(view) => view(self.machine.state()),
        }
    }

    fn output(&mut self, output: KernelOutput) {
        match output {
            KernelOutput::Announce(life) => drop(self.announce.life.send_replace(life)),
            KernelOutput::RunHook(hook) => self.run_hook(hook),
            KernelOutput::Run(task) => self.run_task(*task),
            KernelOutput::Stop(id, attempt) => {
                if let Some(running) = self.running.get(&(id, attempt)) {
                    running.cancelled.cancel();
                }
            }
            KernelOutput::Release(id, attempt) => drop(self.running.remove(&(id, attempt))),
            KernelOutput::Unused(slots) => {
                let kept = self.slots.len().saturating_sub(slots);
                self.slots.truncate(kept);
            }
            KernelOutput::Closed(id, outcome) => {
                for waiter in self.waiters.remove(&id).unwrap_or_default() {
                    drop(waiter.send(outcome.clone()));
                }
            }
            KernelOutput::Over => {
                self.running.clear();
                self.announce.life.send_replace(LifeState::Terminated);
            }
        }
    }

    fn run_task(&mut self, task: Task) {
        let key = (task.id, task.attempt);
        let cancelled = CancellationToken::new();
        let hooks = Arc::clone(&self.hooks);
        let commands = self.commands.clone();
        let is_job = matches!(task.source, TaskSource::Job { .. });
        let context = TaskContext::new(task, commands.clone(), cancelled.clone());
        let attempt = async move {
            // A hook may panic before it makes a future, too.
            let hook = async {
                if is_job { hooks.on_tick(context).await } else { hooks.on_message(context).await }
            };
            let report = match AssertUnwindSafe(hook).catch_unwind().await {
                Ok(Ok(answer)) => AttemptReport::Done(answer),
                Ok(Err(failure)) => failure.into(),
                Err(panic) => AttemptReport::Panicked(panic_text(&*panic)),
            };
            let (id, number) = key;
            let input = KernelInput::Attempt(id, number, AttemptInput::End(report));
            // Without a kernel there is nobody to tell; the next one finds out.
            drop(commands.command(Command::Input(input, None)).await);
        };
        let abort = tokio::spawn(attempt).abort_handle();
        let slot = self.slots.pop();
        self.running.insert(key, RunningTask { abort, cancelled, _slot: slot });
    }

    fn run_hook(&mut self, hook: LifeHook) {
        if hook == LifeHook::Bootstrap {
            self.announce.boot.send_replace(BootState::Running);
        }
        let hooks = Arc::clone(&self.hooks);
        let limit = self.machine.state().limits.hook_ms;
        let commands = self.commands.clone();
        let stop = self.stop.clone();
        let run = tokio::spawn(async move {
            match hook {
                LifeHook::Bootstrap => hooks.on_bootstrap().await,
                LifeHook::Shutdown => hooks.on_shutdown().await,
            }
        });
        // The hook has a task of its own, so that its time is over even if it blocks its thread.
        tokio::spawn(async move {
            let abort = run.abort_handle();
            let result = tokio::select! {
                ended = tokio::time::timeout(Duration::from_millis(limit), run) => match ended {
                    Ok(Ok(result)) => result,
                    Ok(Err(error)) if error.is_panic() => {
                        Err(format!("panicked: {}", panic_text(&*error.into_panic())))
                    }
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(_) => Err(format!("timed out after {limit} ms")),
                },
                () = stop.cancelled() => Err("the kernel stopped".to_owned()),
            };
            abort.abort();
            let input = KernelInput::HookEnded(hook, result);
            drop(commands.command(Command::Input(input, None)).await);
        });
    }

    /// How long nothing is to be done by itself.
    fn sleep_time(&self) -> Option<Duration> {
        let wake = self.machine.wake();
        let now = self.clock.now();
        let wall = wake.wall_ms.map(|at| at.saturating_sub(now.wall_ms).min(LOOK_AT_CLOCK_MS));
        let mono = wake.mono_ms.map(|at| at.saturating_sub(now.mono_ms));
        let soonest = [wall, mono].into_iter().flatten().min()?;
        Some(Duration::from_millis(soonest.max(1)))
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no text".to_owned())
}
