//! The kernel of an agent, for those who use it.

mod builder;

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

pub use self::builder::KernelBuilder;
use crate::amount::Budget;
use crate::command::{Command, Commands};
use crate::driver::BootState;
use crate::error::KernelError;
use crate::hooks::AgentHooks;
use crate::input::{KernelInput, KernelReply};
use crate::job::KernelJob;
use crate::journal::{JournalError, KernelJournal};
use crate::life::{LifeState, LifeStep};
use crate::plan::PlanTree;
use crate::question::AskedQuestion;
use crate::state::KernelState;
use crate::task::{DeadLetter, TaskId, TaskMessage, TaskOutcome};

/// An agent that runs. Clones are the same agent; when the last one is dropped it stops as in a crash, and its journal can be opened again.
///
/// ```
/// use offshoot_kernel::{
///     AgentHooks, AgentKernel, MemoryJournal, TaskContext, TaskFailure, TaskMessage, TaskOutcome,
/// };
/// use serde_json::{Value, json};
///
/// struct Greeter;
///
/// impl AgentHooks for Greeter {
///     async fn on_message(&self, task: TaskContext) -> Result<Value, TaskFailure> {
///         let name = task.body().as_str().unwrap_or("you").to_owned();
///         let greeting = task.effect_once("greet", || async move { Ok(json!(format!("Hello, {name}!"))) });
///         Ok(greeting.await?)
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let kernel = AgentKernel::builder(Greeter, MemoryJournal::default()).start().await?;
/// kernel.boot().await?;
/// kernel.activate().await?;
/// let receipt = kernel.send(TaskMessage::new("somebody", json!("Ada")).key("1")).await?;
/// let outcome = receipt.outcome().await?;
/// assert_eq!(outcome, TaskOutcome::Done { answer: json!("Hello, Ada!") });
/// kernel.retire().await?;
/// kernel.terminated().await?;
/// # Ok::<(), offshoot_kernel::KernelError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct AgentKernel {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    commands: Commands,
    life: watch::Receiver<LifeState>,
    boot: watch::Receiver<BootState>,
    broken: watch::Receiver<Option<JournalError>>,
    stop: CancellationToken,
    _guard: DropGuard,
}

/// A message that was accepted.
#[derive(Debug)]
#[must_use = "the outcome is told to whoever holds the receipt"]
pub struct TaskReceipt {
    /// The task that it is, or that an earlier message with its key is.
    pub id: TaskId,
    /// Whether there was an earlier message with its key.
    pub duplicate: bool,
    outcome: oneshot::Receiver<TaskOutcome>,
}

impl TaskReceipt {
    /// Waits for how the task ends.
    pub async fn outcome(self) -> Result<TaskOutcome, KernelError> {
        self.outcome.await.map_err(|_| KernelError::Stopped)
    }
}

impl AgentKernel {
    /// Begins to build an agent of what it does, and where its records are kept.
    pub fn builder<H: AgentHooks, J: KernelJournal>(hooks: H, journal: J) -> KernelBuilder<H, J> {
        KernelBuilder::new(hooks, journal)
    }

    /// Runs `on_bootstrap`, and makes the agent ready.
    pub async fn boot(&self) -> Result<(), KernelError> {
        self.step(LifeStep::Boot).await?;
        self.booted().await
    }

    /// Has the agent work.
    pub async fn activate(&self) -> Result<(), KernelError> {
        self.step(LifeStep::Activate).await
    }

    /// Has the agent start nothing new.
    pub async fn suspend(&self) -> Result<(), KernelError> {
        self.step(LifeStep::Suspend).await
    }

    /// Has the agent work again.
    pub async fn resume(&self) -> Result<(), KernelError> {
        self.step(LifeStep::Resume).await
    }

    /// Has the agent work off what it accepted, and end.
    pub async fn retire(&self) -> Result<(), KernelError> {
        self.step(LifeStep::Retire).await
    }

    /// Ends an agent that retires without waiting for the rest.
    pub async fn terminate(&self) -> Result<(), KernelError> {
        self.step(LifeStep::Terminate).await
    }

    /// Ends the agent at once.
    pub async fn abort(&self) -> Result<(), KernelError> {
        self.step(LifeStep::Abort).await
    }

    /// Waits until the agent is over.
    pub async fn terminated(&self) -> Result<(), KernelError> {
        let mut life = self.shared.life.clone();
        let over = life.wait_for(|life| *life == LifeState::Terminated).await;
        over.map(drop).map_err(|_| self.why_stopped())
    }

    /// Where the agent is in its life. A state is seen when it is durable.
    #[must_use]
    pub fn life(&self) -> watch::Receiver<LifeState> {
        self.shared.life.clone()
    }

    /// Sends a message. It is durable when this returns.
    pub async fn send(&self, message: TaskMessage) -> Result<TaskReceipt, KernelError> {
        let (reply, replied) = oneshot::channel();
        let (tell, outcome) = oneshot::channel();
        let command = Command::Send(Box::new(message), reply, tell);
        self.shared.commands.command(command).await.map_err(|_| self.why_stopped())?;
        match replied.await.map_err(|_| self.why_stopped())?? {
            KernelReply::Duplicate(id, _) => Ok(TaskReceipt { id, duplicate: true, outcome }),
            KernelReply::Accepted(id) => Ok(TaskReceipt { id, duplicate: false, outcome }),
            _ => Err(KernelError::Stopped),
        }
    }

    /// Cancels a task and its sub-tasks.
    pub async fn cancel(&self, id: TaskId) -> Result<(), KernelError> {
        self.input(KernelInput::Cancel(id)).await
    }

    /// Questions that wait for an answer, with their tasks.
    pub async fn questions(&self) -> Result<Vec<(TaskId, AskedQuestion)>, KernelError> {
        let copy = |state: &KernelState| {
            state.questions().map(|(id, asked)| (id, asked.clone())).collect()
        };
        self.view(copy).await
    }

    /// Answers a question of a task.
    pub async fn answer(
        &self,
        id: TaskId,
        key: &str,
        answer: Value,
        by: &str,
    ) -> Result<(), KernelError> {
        self.input(KernelInput::Answer(id, key.to_owned(), answer, by.to_owned())).await
    }

    /// Tasks that cannot go on by themselves.
    pub async fn dead_letters(&self) -> Result<Vec<DeadLetter>, KernelError> {
        self.view(|state| state.letters.values().cloned().collect()).await
    }

    /// Sends a dead letter again.
    pub async fn resend(&self, id: TaskId) -> Result<(), KernelError> {
        self.input(KernelInput::Resend(id)).await
    }

    /// Drops a dead letter.
    pub async fn drop_letter(&self, id: TaskId) -> Result<(), KernelError> {
        self.input(KernelInput::DropLetter(id)).await
    }

    /// Sets a job, in place of one with its name.
    pub async fn set_job(&self, job: KernelJob) -> Result<(), KernelError> {
        self.input(KernelInput::SetJob(Box::new(job))).await
    }

    /// Removes a job. A run that is open goes on.
    pub async fn remove_job(&self, name: &str) -> Result<(), KernelError> {
        self.input(KernelInput::RemoveJob(name.to_owned())).await
    }

    /// Gives the agent another budget. What was spent stays.
    pub async fn set_budget(&self, budget: Budget) -> Result<(), KernelError> {
        self.input(KernelInput::SetBudget(budget)).await
    }

    /// A plan as a tree, if there is one with this name.
    pub async fn plan(&self, plan: &str) -> Result<Option<PlanTree>, KernelError> {
        let plan = plan.to_owned();
        self.view(move |state| state.plans.get(&plan).and_then(|plan| plan.tree())).await
    }

    /// Looks at the state. What is seen is durable.
    pub async fn view<T: Send + 'static>(
        &self,
        look: impl FnOnce(&KernelState) -> T + Send + 'static,
    ) -> Result<T, KernelError> {
        self.shared.commands.view(look).await.map_err(|error| self.because(error))
    }

    /// Stops the agent as in a crash, and waits until its journal can be opened again.
    pub async fn stop(&self) {
        self.shared.stop.cancel();
        let mut life = self.shared.life.clone();
        // The loop holds the sender; it is gone when the loop is.
        while life.changed().await.is_ok() {}
    }

    /// Why the kernel stopped by itself, if it did.
    #[must_use]
    pub fn broken(&self) -> Option<JournalError> {
        self.shared.broken.borrow().clone()
    }

    async fn booted(&self) -> Result<(), KernelError> {
        let mut boot = self.shared.boot.clone();
        let ended = boot.wait_for(|boot| *boot != BootState::Running).await;
        match &*ended.map_err(|_| self.why_stopped())? {
            BootState::Failed(why) => Err(KernelError::Bootstrap(why.clone())),
            BootState::Running | BootState::Done => Ok(()),
        }
    }

    async fn step(&self, step: LifeStep) -> Result<(), KernelError> {
        self.input(KernelInput::Life(step)).await
    }

    async fn input(&self, input: KernelInput) -> Result<(), KernelError> {
        let replied = self.shared.commands.input(input).await;
        replied.map(drop).map_err(|error| self.because(error))
    }

    /// What stopped the kernel says more than that it stopped.
    fn because(&self, error: KernelError) -> KernelError {
        match error {
            KernelError::Stopped => self.why_stopped(),
            error => error,
        }
    }

    fn why_stopped(&self) -> KernelError {
        self.broken().map_or(KernelError::Stopped, KernelError::Journal)
    }
}
