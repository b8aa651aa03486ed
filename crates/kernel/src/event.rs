//! What happened to an agent: all that its state is made of.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::amount::{Amount, Budget};
use crate::job::KernelJob;
use crate::ledger::{AccountId, HoldId};
use crate::life::{LifeState, LifeStep};
use crate::limits::KernelLimits;
use crate::plan::PlanEvent;
use crate::question::{AnsweredBy, TaskQuestion};
use crate::task::{DeathCause, Task, TaskId, TaskOutcome};

/// The version of the format of records.
const VERSION: u32 = 1;

/// An event with its place in the journal. The design page has the format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelRecord {
    version: u32,
    number: u64,
    at: u64,
    event: KernelEvent,
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It is none, or has an event that is not known.
    #[error(transparent)]
    Unreadable(#[from] serde_json::Error),
    /// It is of another version.
    #[error("version {0} of records is not known, only {VERSION}; use a newer program")]
    Version(u32),
}

impl KernelRecord {
    pub(crate) fn new(number: u64, at: u64, event: KernelEvent) -> Self {
        Self { version: VERSION, number, at, event }
    }

    /// Its place: the first is 1, and there are no gaps.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// When it happened, in milliseconds since 1970.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// What happened.
    #[must_use]
    pub fn event(&self) -> &KernelEvent {
        &self.event
    }

    /// The record as a journal keeps it.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// A record as a journal kept it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        match serde_json::from_slice::<Self>(bytes) {
            Ok(record) if record.version == VERSION => Ok(record),
            Ok(record) => Err(RecordError::Version(record.version)),
            // Another version may have other events.
            Err(error) => match serde_json::from_slice(bytes) {
                Ok(Version { version }) if version != VERSION => Err(RecordError::Version(version)),
                _ => Err(RecordError::Unreadable(error)),
            },
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum KernelEvent {
    /// A process opened the journal; what was in flight in another one is gone.
    Opened {
        /// The bounds that hold from now on.
        limits: Box<KernelLimits>,
    },
    /// The agent took a step in its life.
    LifeMoved {
        /// Which step.
        step: LifeStep,
        /// Where it is now.
        to: LifeState,
        /// Why, if the kernel took it by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A hook that is not about a task failed.
    HookFailed {
        /// Which one.
        hook: LifeHook,
        /// Why.
        why: String,
    },
    /// A task was accepted.
    Accepted {
        /// The task, with its number.
        task: Box<Task>,
    },
    /// An attempt began.
    Started {
        /// Of which task.
        id: TaskId,
        /// The reservation of its time.
        hold: HoldId,
        /// How much time.
        ms: u64,
    },
    /// An attempt failed, and there will be another one.
    Retrying {
        /// Of which task.
        id: TaskId,
        /// Why it failed.
        why: String,
        /// When the next one may start.
        not_before_ms: u64,
        /// How long it ran, if that is known.
        ran_ms: Option<u64>,
        /// Whether the hook crashed.
        #[serde(default)]
        crash: bool,
    },
    /// A task is closed.
    Ended {
        /// Which one.
        id: TaskId,
        /// How it ended.
        outcome: TaskOutcome,
        /// How long the last attempt ran, if that is known.
        ran_ms: Option<u64>,
    },
    /// A task is a dead letter.
    Died {
        /// Which one.
        id: TaskId,
        /// The kind of reason.
        cause: DeathCause,
        /// The reason.
        why: String,
        /// How long the last attempt ran, if that is known.
        ran_ms: Option<u64>,
        /// Whether the hook crashed.
        #[serde(default)]
        crash: bool,
    },
    /// A task waits for an answer.
    Asked {
        /// Which one.
        id: TaskId,
        /// What it asks.
        question: Box<TaskQuestion>,
        /// How long the attempt ran.
        ran_ms: Option<u64>,
    },
    /// A question has its answer.
    Answered {
        /// Of which task.
        id: TaskId,
        /// Which question.
        key: String,
        /// The answer.
        answer: Value,
        /// Who gave it.
        by: AnsweredBy,
    },
    /// A task waits for sub-tasks.
    Waited {
        /// Which one.
        id: TaskId,
        /// The keys of the sub-tasks.
        on: Vec<String>,
        /// How long the attempt ran.
        ran_ms: Option<u64>,
    },
    /// A task made progress.
    Progressed {
        /// Which one.
        id: TaskId,
        /// How far it is.
        value: Value,
    },
    /// An effect is about to begin.
    EffectStarted {
        /// Of which task.
        id: TaskId,
        /// Its key.
        key: String,
    },
    /// An effect ended, or it was found out how.
    EffectEnded {
        /// Of which task.
        id: TaskId,
        /// Its key.
        key: String,
        /// Its result.
        value: Value,
    },
    /// An effect did not happen.
    EffectFailed {
        /// Of which task.
        id: TaskId,
        /// Its key.
        key: String,
        /// Why.
        why: String,
    },
    /// Somebody wants a task cancelled that runs.
    CancelAsked {
        /// Which one.
        id: TaskId,
    },
    /// Something is reserved.
    Held {
        /// The reservation.
        hold: HoldId,
        /// For which task.
        id: TaskId,
        /// In which account.
        account: AccountId,
        /// How much.
        amount: Amount,
    },
    /// A reservation ended.
    Settled {
        /// Which one.
        hold: HoldId,
        /// For which task.
        id: TaskId,
        /// What it came to.
        actual: Amount,
    },
    /// The agent has another budget.
    BudgetSet {
        /// Its limits.
        budget: Budget,
    },
    /// A dead letter was sent again.
    LetterResent {
        /// Which one.
        id: TaskId,
    },
    /// A dead letter was dropped.
    LetterDropped {
        /// Which one.
        id: TaskId,
        /// Why.
        why: String,
    },
    /// A job was set.
    JobSet {
        /// The job.
        job: Box<KernelJob>,
    },
    /// A job was removed.
    JobRemoved {
        /// Its name.
        name: String,
    },
    /// A job was due. Runs are accepted in the same batch.
    JobDue {
        /// Its name.
        name: String,
        /// The latest due time.
        due_ms: u64,
        /// How many runs were left out; counting stops at 1,000.
        missed: u64,
    },
    /// A plan went on.
    Planned {
        /// Its name.
        plan: String,
        /// How.
        event: Box<PlanEvent>,
    },
}

/// A hook that is about the life of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LifeHook {
    /// `on_bootstrap`.
    Bootstrap,
    /// `on_shutdown`.
    Shutdown,
}
