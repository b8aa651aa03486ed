//! What a hook can do for its task.

mod plans;

use std::future::Future;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::amount::Amount;
use crate::command::Commands;
use crate::error::KernelError;
use crate::failure::{EffectError, TaskFailure};
use crate::input::{AttemptInput, KernelReply};
use crate::ledger::HoldId;
use crate::question::TaskQuestion;
use crate::task::{SubTask, Task, TaskId, TaskOutcome};

pub use self::plans::TaskPlanStore;

/// One attempt at a task, as its hook sees it.
#[derive(Clone, Debug)]
pub struct TaskContext {
    task: std::sync::Arc<Task>,
    commands: Commands,
    cancelled: CancellationToken,
}

/// Something that is reserved. What is not settled counts as spent when the attempt ends.
#[derive(Debug)]
#[must_use = "what is not settled counts as spent in full"]
pub struct TaskHold {
    context: TaskContext,
    id: HoldId,
}

impl TaskContext {
    pub(crate) fn new(task: Task, commands: Commands, cancelled: CancellationToken) -> Self {
        Self { task: std::sync::Arc::new(task), commands, cancelled }
    }

    /// The task as it was when the attempt began.
    #[must_use]
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The number of the task.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.task.id
    }

    /// Which attempt this is; the first is 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.task.attempt
    }

    /// What was sent.
    #[must_use]
    pub fn body(&self) -> &Value {
        &self.task.message.body
    }

    /// The last checkpoint of progress of earlier attempts.
    #[must_use]
    pub fn last_progress(&self) -> Option<&Value> {
        self.task.progress.as_ref()
    }

    /// Is cancelled when the attempt is to end.
    #[must_use]
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// Says that the task is alive. All other calls do so too.
    pub async fn heartbeat(&self) -> Result<(), KernelError> {
        self.send(AttemptInput::Beat).await.map(drop)
    }

    /// Records how far the task is. It is durable when this returns.
    pub async fn progress(&self, value: Value) -> Result<(), KernelError> {
        self.send(AttemptInput::Progress(value)).await.map(drop)
    }

    /// Runs an effect, unless an earlier attempt did. The design page says what is known after a crash.
    pub async fn effect_once<F, R>(&self, key: &str, effect: F) -> Result<Value, EffectError>
    where
        F: FnOnce() -> R + Send,
        R: Future<Output = Result<Value, String>> + Send,
    {
        match self.send(AttemptInput::BeginEffect(key.to_owned())).await? {
            KernelReply::Recorded(value) => return Ok(value),
            KernelReply::Unknown => return Err(EffectError::Unknown { key: key.to_owned() }),
            KernelReply::Busy => return Err(EffectError::Busy { key: key.to_owned() }),
            _ => {}
        }
        let result = effect().await;
        self.send(AttemptInput::EndEffect(key.to_owned(), result.clone())).await?;
        result.map_err(EffectError::Failed)
    }

    /// Says what became of an effect that is [`Unknown`](EffectError::Unknown): its result, or why it did not happen.
    pub async fn resolve_effect(
        &self,
        key: &str,
        result: Result<Value, String>,
    ) -> Result<(), KernelError> {
        self.send(AttemptInput::EndEffect(key.to_owned(), result)).await.map(drop)
    }

    /// Reserves something in the budget, before it is spent.
    pub async fn reserve(&self, amount: Amount) -> Result<TaskHold, KernelError> {
        match self.send(AttemptInput::Hold(amount)).await? {
            KernelReply::Held(id) => Ok(TaskHold { context: self.clone(), id }),
            reply => Err(unexpected(&reply)),
        }
    }

    /// Spends something, if the budget allows.
    pub async fn spend(&self, amount: Amount) -> Result<(), KernelError> {
        self.reserve(amount).await?.settle(amount).await.map(drop)
    }

    /// Begins a sub-task. The same key gives the same sub-task, in each attempt.
    pub async fn spawn(&self, key: &str, sub_task: SubTask) -> Result<TaskId, KernelError> {
        let input = AttemptInput::Spawn(key.to_owned(), Box::new(sub_task));
        match self.send(input).await? {
            KernelReply::Spawned(id) => Ok(id),
            reply => Err(unexpected(&reply)),
        }
    }

    /// How a sub-task ended. If it did not, the error has to be passed on: the hook is entered again when it did.
    pub async fn join(&self, key: &str) -> Result<TaskOutcome, TaskFailure> {
        match self.send(AttemptInput::Join(key.to_owned())).await? {
            KernelReply::Child(Some(outcome)) => Ok(outcome),
            KernelReply::Child(None) => Err(TaskFailure::Waits(vec![key.to_owned()])),
            reply => Err(unexpected(&reply).into()),
        }
    }

    /// The answer to a question. If there is none, the error has to be passed on: the hook is entered again when there is.
    pub async fn ask(&self, question: TaskQuestion) -> Result<Value, TaskFailure> {
        let asked = self.task.questions.get(&question.key);
        let answer = asked.and_then(|asked| asked.answer.clone());
        answer.ok_or_else(|| TaskFailure::Asks(Box::new(question)))
    }

    /// Where a plan of the agent is kept.
    #[must_use]
    pub fn plan_store(&self, plan: &str) -> TaskPlanStore {
        TaskPlanStore::new(self.clone(), plan)
    }

    pub(crate) fn commands(&self) -> &Commands {
        &self.commands
    }

    pub(crate) async fn send(&self, input: AttemptInput) -> Result<KernelReply, KernelError> {
        self.commands.attempt(self.task.id, self.task.attempt, input).await
    }
}

impl TaskHold {
    /// Ends the reservation with what it came to, and says how much of that was beyond the limits.
    pub async fn settle(self, actual: Amount) -> Result<Amount, KernelError> {
        match self.context.send(AttemptInput::Settle(self.id, actual)).await? {
            KernelReply::Settled(overrun) => Ok(overrun),
            reply => Err(unexpected(&reply)),
        }
    }
}

/// The machine has one reply to each input, so this is not reached.
fn unexpected(_reply: &KernelReply) -> KernelError {
    KernelError::Stopped
}
