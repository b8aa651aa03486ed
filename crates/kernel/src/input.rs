//! What the machine takes, and what it says.

use serde_json::Value;

use crate::amount::{Amount, Budget};
use crate::event::{KernelRecord, LifeHook};
use crate::job::{JobError, KernelJob};
use crate::ledger::{BudgetError, HoldId};
use crate::life::{LifeState, LifeStep};
use crate::limits::KernelLimits;
use crate::plan::PlanEvent;
use crate::question::TaskQuestion;
use crate::task::{SubTask, Task, TaskId, TaskMessage, TaskOutcome};

/// What the machine takes.
#[derive(Clone, Debug)]
pub enum KernelInput {
    /// A process opened the journal. The first input; others are refused before it.
    Open(Box<KernelSettings>),
    /// A step in the life of the agent. `Boot` runs `on_bootstrap` first.
    Life(LifeStep),
    /// A hook about the life ended.
    HookEnded(LifeHook, Result<(), String>),
    /// A message.
    Send(Box<TaskMessage>),
    /// Time passed.
    Tick,
    /// The host has a slot for one more task.
    Grant,
    /// A task is to be cancelled.
    Cancel(TaskId),
    /// An answer to a question: of which task, which question, what, and by whom.
    Answer(TaskId, String, Value, String),
    /// A dead letter is to be sent again.
    Resend(TaskId),
    /// A dead letter is to be dropped.
    DropLetter(TaskId),
    /// A job is to be set.
    SetJob(Box<KernelJob>),
    /// A job is to be removed.
    RemoveJob(String),
    /// The agent gets another budget.
    SetBudget(Budget),
    /// Something that an attempt does.
    Attempt(TaskId, u32, AttemptInput),
}

/// How an agent is opened.
#[derive(Clone, Debug, Default)]
pub struct KernelSettings {
    /// Its bounds.
    pub limits: KernelLimits,
    /// Its budget, if it gets another one.
    pub budget: Option<Budget>,
    /// Jobs that it has. One that it has already in the same form goes on.
    pub jobs: Vec<KernelJob>,
}

/// Something that an attempt does.
#[derive(Clone, Debug)]
pub enum AttemptInput {
    /// It ended.
    End(AttemptReport),
    /// It is alive.
    Beat,
    /// It is so far.
    Progress(Value),
    /// An effect is about to begin.
    BeginEffect(String),
    /// An effect ended, with a result or without having happened.
    EndEffect(String, Result<Value, String>),
    /// It reserves something.
    Hold(Amount),
    /// A reservation ends.
    Settle(HoldId, Amount),
    /// It has a sub-task.
    Spawn(String, Box<SubTask>),
    /// It wants to know how a sub-task ended.
    Join(String),
    /// A plan went on.
    Plan(String, Vec<PlanEvent>),
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq)]
pub enum AttemptReport {
    /// It is done.
    Done(Value),
    /// It failed, and may be tried again.
    Failed(String),
    /// It failed for good.
    Fatal(String),
    /// Its budget is used up.
    OverBudget(String),
    /// It asks.
    Asks(Box<TaskQuestion>),
    /// It waits for sub-tasks.
    Waits(Vec<String>),
    /// It ended because it was to be cancelled.
    Cancelled,
    /// It panicked.
    Panicked(String),
}

/// What comes of an input.
#[derive(Debug)]
#[must_use = "records have to be appended before outputs are carried out"]
pub struct Handled {
    /// What is to be durable first.
    pub records: Vec<KernelRecord>,
    /// What is to be done then, in order.
    pub outputs: Vec<KernelOutput>,
    /// What whoever gave the input is to be told then.
    pub reply: Result<KernelReply, KernelRefusal>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelOutput {
    /// Subscribers hear of a state.
    Announce(LifeState),
    /// A hook about the life runs.
    RunHook(LifeHook),
    /// An attempt runs; the task as it is when it begins. It uses a slot of the host.
    Run(Box<Task>),
    /// An attempt is to end.
    Stop(TaskId, u32),
    /// An attempt counts as ended; if it still runs it is dropped. Its slot is free.
    Release(TaskId, u32),
    /// So many slots of the host are not needed.
    Unused(usize),
    /// A task is closed.
    Closed(TaskId, TaskOutcome),
    /// The agent is over; nothing will be taken any more.
    Over,
}

/// What whoever gave an input is told.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelReply {
    /// It is so.
    Done,
    /// The message is a task.
    Accepted(TaskId),
    /// An earlier message had the key; how that one ended, if it did.
    Duplicate(TaskId, Option<TaskOutcome>),
    /// The effect may begin.
    Begin,
    /// The effect was done.
    Recorded(Value),
    /// The effect may have happened.
    Unknown,
    /// The effect runs.
    Busy,
    /// The reservation.
    Held(HoldId),
    /// What was beyond the limits.
    Settled(Amount),
    /// The sub-task.
    Spawned(TaskId),
    /// How the sub-task ended, if it did.
    Child(Option<TaskOutcome>),
}

/// Why the kernel does not do something. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelRefusal {
    /// The step does not lead anywhere from here.
    #[error("the agent is {from} and cannot {step}")]
    Step {
        /// Where the agent is.
        from: LifeState,
        /// Which step.
        step: LifeStep,
    },
    /// Nothing is accepted in this state.
    #[error("the agent is {0} and accepts no messages; send when it is ready or active")]
    NotAccepting(LifeState),
    /// Something is full.
    #[error("{what} is full with {limit}; try again later or raise the limit")]
    Full {
        /// What.
        what: &'static str,
        /// Its limit.
        limit: usize,
    },
    /// Something is too large.
    #[error(
        "{what} has {bytes} bytes, the limit is {limit}; store it elsewhere and pass a reference"
    )]
    TooLarge {
        /// What.
        what: &'static str,
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        limit: usize,
    },
    /// The deadline is over.
    #[error("the deadline {deadline_ms} is over, it is {now_ms}")]
    TooLate {
        /// The deadline.
        deadline_ms: u64,
        /// The time.
        now_ms: u64,
    },
    /// The budget does not allow it.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The job cannot be set.
    #[error(transparent)]
    Job(#[from] JobError),
    /// There is no such thing.
    #[error("there is no {what} {name}")]
    Unknown {
        /// What.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The question was answered.
    #[error("question {key} of task {id} does not wait for an answer")]
    NotAsking {
        /// The task.
        id: TaskId,
        /// The question.
        key: String,
    },
    /// The attempt is over.
    #[error("attempt {attempt} of task {id} is over")]
    Stale {
        /// The task.
        id: TaskId,
        /// The attempt.
        attempt: u32,
    },
    /// The journal was not opened, or was opened already.
    #[error("the journal is opened once, before all else")]
    Order,
}
