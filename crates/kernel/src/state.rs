//! What the records of an agent come to.

mod apply;
mod seen;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

pub(crate) use self::seen::SeenKeys;
use crate::event::KernelRecord;
use crate::job::KernelJob;
use crate::ledger::{HoldId, Ledger};
use crate::life::LifeState;
use crate::limits::KernelLimits;
use crate::plan::PlanState;
use crate::question::AskedQuestion;
use crate::task::{DeadLetter, Task, TaskId, TaskOutcome, TaskPhase};

/// The version of the format of snapshots.
const VERSION: u32 = 1;

/// The state of an agent: a fold over its records, and nothing else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelState {
    version: u32,
    /// How many records it was made of.
    pub records: u64,
    /// When the last one was made.
    pub last_at: u64,
    /// Where the agent is in its life.
    pub life: LifeState,
    /// The bounds that hold.
    pub limits: KernelLimits,
    /// Open tasks.
    pub tasks: BTreeMap<TaskId, Task>,
    /// Dead letters.
    pub letters: BTreeMap<TaskId, DeadLetter>,
    /// Jobs by name.
    pub jobs: BTreeMap<String, JobState>,
    /// Budgets.
    pub ledger: Ledger,
    /// Plans by name.
    #[serde(default)]
    pub plans: BTreeMap<String, PlanState>,
    /// How much there was of everything.
    pub counts: KernelCounts,
    pub(crate) seen: SeenKeys,
    pub(crate) last_task: u64,
    pub(crate) last_hold: u64,
    /// Open reservations of attempts.
    pub(crate) holds: BTreeMap<TaskId, AttemptHolds>,
    /// Since when it retires.
    pub(crate) retiring_since: Option<u64>,
    /// How many messages it accepted since it was suspended.
    pub(crate) accepted_suspended: usize,
    /// When hooks crashed; the latest few.
    pub(crate) crashes: VecDeque<u64>,
    /// Open tasks of each sender.
    #[serde(skip)]
    pub(crate) of_sender: BTreeMap<String, usize>,
}

/// A job, and how far it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobState {
    /// The job.
    pub job: KernelJob,
    /// When it was set.
    pub set_ms: u64,
    /// The latest due time that was handled.
    pub last_ms: u64,
    /// How many runs were left out.
    pub missed: u64,
    /// Runs that are open.
    pub open: BTreeSet<TaskId>,
}

/// How much there was of everything, since the agent began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelCounts {
    /// Tasks that were accepted.
    pub accepted: u64,
    /// Attempts that were started.
    pub started: u64,
    /// Attempts that failed and were followed by another one.
    pub retried: u64,
    /// Tasks that were done.
    pub done: u64,
    /// Tasks that were cancelled.
    pub cancelled: u64,
    /// Tasks that became dead letters.
    pub died: u64,
}

/// What an attempt has reserved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AttemptHolds {
    pub(crate) time: Option<HoldId>,
    pub(crate) others: BTreeSet<HoldId>,
}

/// Why a snapshot cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// It cannot be read.
    #[error("the snapshot cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// It is of another version.
    #[error("version {0} of snapshots is not known, only {VERSION}; use a newer program")]
    Version(u32),
}

impl KernelState {
    /// The state of an agent that did not begin.
    #[must_use]
    pub fn new() -> Self {
        Self { version: VERSION, ..Self::default() }
    }

    /// The state after records.
    pub fn from_records<'r>(records: impl IntoIterator<Item = &'r KernelRecord>) -> Self {
        let mut state = Self::new();
        for record in records {
            state.apply(record);
        }
        state
    }

    /// The state as a snapshot keeps it.
    pub fn to_snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        Ok(serde_json::to_vec(self)?)
    }

    /// A state as a snapshot kept it.
    pub fn from_snapshot(bytes: &[u8]) -> Result<Self, SnapshotError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let mut state: Self = match serde_json::from_slice::<Self>(bytes) {
            Ok(state) if state.version == VERSION => state,
            Ok(state) => return Err(SnapshotError::Version(state.version)),
            // Another version may have other parts.
            Err(error) => match serde_json::from_slice(bytes) {
                Ok(Version { version }) if version != VERSION => {
                    return Err(SnapshotError::Version(version));
                }
                _ => return Err(SnapshotError::Unreadable(error)),
            },
        };
        for task in state.tasks.values() {
            *state.of_sender.entry(task.message.sender.clone()).or_default() += 1;
        }
        Ok(state)
    }

    /// An open task.
    #[must_use]
    pub fn task(&self, id: TaskId) -> Option<&Task> {
        self.tasks.get(&id)
    }

    /// Questions that wait for an answer, with their tasks.
    pub fn questions(&self) -> impl Iterator<Item = (TaskId, &AskedQuestion)> {
        self.tasks.values().filter_map(|task| match &task.phase {
            TaskPhase::Asking { key } => Some((task.id, task.questions.get(key)?)),
            _ => None,
        })
    }

    /// How a task with this sender and key ended, or that it is open.
    #[must_use]
    pub fn seen(&self, sender: &str, key: &str) -> Option<(TaskId, Option<&TaskOutcome>)> {
        let seen = self.seen.get(sender, key)?;
        Some((seen.id, seen.outcome.as_ref()))
    }
}
