//! The kernel of an agent: its life, what it accepts, its tasks, jobs and plans, durable and governed.
//!
//! An [`AgentKernel`] joins [`AgentHooks`] with a [`KernelJournal`]. A message that it accepted is durable; it is handled as often as its
//! [`DeliveryPromise`] says, by priority, within budgets, and also after a crash. Below it a [`KernelMachine`] decides everything without I/O: its
//! [`KernelState`] is a fold over [records](KernelRecord). The design page has states, formats and invariants.

mod amount;
mod command;
mod context;
mod driver;
mod error;
mod event;
mod failure;
mod hooks;
mod host;
mod input;
mod job;
mod journal;
mod kernel;
mod ledger;
mod life;
mod limits;
mod machine;
mod plan;
mod question;
mod queue;
mod state;
mod supervise;
mod task;
mod time;

pub use self::amount::{Amount, Budget, Resource};
pub use self::context::{TaskContext, TaskHold, TaskPlanStore};
pub use self::error::KernelError;
pub use self::event::{KernelEvent, KernelRecord, LifeHook, RecordError};
pub use self::failure::{EffectError, TaskFailure};
pub use self::hooks::AgentHooks;
pub use self::host::HostLimits;
pub use self::input::{
    AttemptInput, AttemptReport, Handled, KernelInput, KernelOutput, KernelRefusal, KernelReply,
    KernelSettings,
};
pub use self::job::{JobError, JobSchedule, KernelJob, MissedRuns};
pub use self::journal::{
    FileJournal, JournalContents, JournalError, JournalFault, KernelJournal, MemoryJournal,
};
pub use self::kernel::{AgentKernel, KernelBuilder, TaskReceipt};
pub use self::ledger::{Account, AccountId, BudgetError, HoldId, Ledger};
pub use self::life::{LifeState, LifeStep};
pub use self::limits::{CrashLimit, KernelLimits};
pub use self::machine::{KernelMachine, KernelWake};
pub use self::plan::{
    BranchPhase, BranchState, CritiqueVerdict, JournalPlanStore, PlanCall, PlanEffects, PlanEnd,
    PlanError, PlanEvent, PlanInvocation, PlanMachine, PlanNode, PlanOp, PlanReport, PlanRunError,
    PlanSpec, PlanState, PlanStep, PlanStore, PlanTree, Planner, StepPhase, StepRun, StepState,
};
pub use self::question::{AnsweredBy, AskedQuestion, QuestionFallback, TaskQuestion};
pub use self::queue::ReadyQueue;
pub use self::state::{JobState, KernelCounts, KernelState, SnapshotError};
pub use self::supervise::{GaveUp, RestartPolicy, Supervisor};
pub use self::task::{
    ChildTask, DeadLetter, DeathCause, DeliveryPromise, EffectState, SubTask, Task, TaskClass,
    TaskId, TaskMessage, TaskOutcome, TaskPhase, TaskRetry, TaskSource,
};
pub use self::time::{HostClock, KernelClock, Moment, TokioClock};
