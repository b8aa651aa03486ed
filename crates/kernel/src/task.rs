//! Messages, and the tasks that they become.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::amount::Budget;
use crate::ledger::AccountId;
use crate::question::AskedQuestion;

/// Names a task of an agent. Numbers are never used twice.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct TaskId(pub u64);

impl fmt::Display for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

/// How urgent a task is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum TaskClass {
    /// Somebody waits for it.
    #[default]
    Message,
    /// It is due by the clock.
    Tick,
    /// It can wait.
    Background,
}

/// How often a task may be handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryPromise {
    /// Never twice. An attempt that broke off makes it a dead letter.
    Once,
    /// Until it succeeds, or its attempts are used up.
    #[default]
    AtLeastOnce,
}

/// When a task that failed is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskRetry {
    /// How many attempts there are in all.
    pub attempts: u32,
    /// The wait after the first one, in milliseconds. It doubles each time.
    pub base_ms: u64,
    /// The longest wait.
    pub max_ms: u64,
}

impl Default for TaskRetry {
    fn default() -> Self {
        Self { attempts: 3, base_ms: 1_000, max_ms: 60_000 }
    }
}

impl TaskRetry {
    /// How long to wait after an attempt, of which a random half is taken off.
    #[must_use]
    pub fn wait_ms(&self, attempt: u32, random: u64) -> u64 {
        let doubled = 1_u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX);
        let wait = self.base_ms.saturating_mul(doubled).min(self.max_ms);
        wait - random % (wait / 2 + 1)
    }
}

/// A message to an agent.
///
/// ```
/// use offshoot_kernel::{DeliveryPromise, TaskMessage};
///
/// let message = TaskMessage::new("billing", serde_json::json!({ "invoice": 7 }))
///     .key("invoice-7")
///     .promise(DeliveryPromise::Once);
/// assert_eq!(message.key.as_deref(), Some("invoice-7"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskMessage {
    /// Who sent it.
    pub sender: String,
    /// Names it among those of the sender: a second one with the key is a duplicate.
    pub key: Option<String>,
    /// How urgent it is.
    pub class: TaskClass,
    /// What it says.
    pub body: Value,
    /// When it has to be done, by wall time.
    pub deadline_ms: Option<u64>,
    /// How often it may be handled.
    pub promise: DeliveryPromise,
    /// When it is tried again.
    pub retry: TaskRetry,
    /// What it may spend. Without one it draws on the budget of the agent.
    pub budget: Option<Budget>,
}

impl TaskMessage {
    /// A message without key, deadline or budget, which is handled at least once.
    pub fn new(sender: impl Into<String>, body: Value) -> Self {
        Self {
            sender: sender.into(),
            key: None,
            class: TaskClass::Message,
            body,
            deadline_ms: None,
            promise: DeliveryPromise::AtLeastOnce,
            retry: TaskRetry::default(),
            budget: None,
        }
    }

    /// With a key.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// In a class.
    #[must_use]
    pub fn class(self, class: TaskClass) -> Self {
        Self { class, ..self }
    }

    /// To be done by a wall time.
    #[must_use]
    pub fn deadline_ms(self, deadline_ms: u64) -> Self {
        Self { deadline_ms: Some(deadline_ms), ..self }
    }

    /// With a promise.
    #[must_use]
    pub fn promise(self, promise: DeliveryPromise) -> Self {
        Self { promise, ..self }
    }

    /// With a retry policy.
    #[must_use]
    pub fn retry(self, retry: TaskRetry) -> Self {
        Self { retry, ..self }
    }

    /// With a budget of its own.
    #[must_use]
    pub fn budget(self, budget: Budget) -> Self {
        Self { budget: Some(budget), ..self }
    }
}

/// A part of a task that is handled as a task of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubTask {
    /// What is to be done.
    pub body: Value,
    /// How urgent it is; that of the parent if absent.
    pub class: Option<TaskClass>,
    /// How often it may be handled.
    pub promise: DeliveryPromise,
    /// When it is tried again.
    pub retry: TaskRetry,
    /// What it may spend of what the parent has left. Without one it draws on the parent.
    pub budget: Option<Budget>,
}

impl SubTask {
    /// A sub-task that is handled at least once, and draws on the budget of its parent.
    #[must_use]
    pub fn new(body: Value) -> Self {
        Self {
            body,
            class: None,
            promise: DeliveryPromise::AtLeastOnce,
            retry: TaskRetry::default(),
            budget: None,
        }
    }

    /// With a budget of its own.
    #[must_use]
    pub fn budget(self, budget: Budget) -> Self {
        Self { budget: Some(budget), ..self }
    }
}

/// Where a task came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskSource {
    /// A message.
    Message,
    /// A job that was due.
    Job {
        /// Its name.
        name: String,
        /// When it was due.
        due_ms: u64,
    },
    /// Another task.
    Parent {
        /// Which one.
        task: TaskId,
        /// What the parent calls this one.
        key: String,
    },
}

/// A task that was accepted and is not closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its number.
    pub id: TaskId,
    /// Where it came from.
    pub source: TaskSource,
    /// What was sent.
    #[serde(flatten)]
    pub message: TaskMessage,
    /// When it was accepted.
    pub accepted_ms: u64,
    /// How deep it is among sub-tasks; a message has 0.
    #[serde(default)]
    pub depth: u32,
    /// The attempt that runs or ran last; 0 before the first.
    #[serde(default)]
    pub attempt: u32,
    /// What it does now.
    #[serde(default)]
    pub phase: TaskPhase,
    /// Its last checkpoint of progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Value>,
    /// Its effects by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub effects: BTreeMap<String, EffectState>,
    /// Its sub-tasks by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub children: BTreeMap<String, ChildTask>,
    /// What it asked, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub questions: BTreeMap<String, AskedQuestion>,
    /// The account that it draws on.
    #[serde(default)]
    pub account: AccountId,
    /// Whether it is to be cancelled.
    #[serde(default)]
    pub cancel: bool,
}

impl Task {
    /// Whether the account is its own.
    pub(crate) fn has_account(&self) -> bool {
        self.account.0 == self.id.0
    }
}

/// What a task does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum TaskPhase {
    /// It waits for its turn.
    Queued {
        /// The wall time before which it does not start.
        not_before_ms: u64,
    },
    /// An attempt runs.
    Running,
    /// It waits for an answer.
    Asking {
        /// The key of the question.
        key: String,
    },
    /// It waits for sub-tasks.
    Waiting {
        /// Their keys.
        on: Vec<String>,
    },
}

impl Default for TaskPhase {
    fn default() -> Self {
        Self::Queued { not_before_ms: 0 }
    }
}

/// What is known of an effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum EffectState {
    /// It began.
    Started {
        /// In which attempt.
        attempt: u32,
    },
    /// It ended.
    Done {
        /// With this result.
        value: Value,
    },
    /// It did not happen.
    Failed {
        /// Why.
        why: String,
    },
}

/// A sub-task, as its parent knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChildTask {
    /// Its number.
    pub id: TaskId,
    /// How it ended, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<TaskOutcome>,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum TaskOutcome {
    /// It is done.
    Done {
        /// The answer.
        answer: Value,
    },
    /// It was cancelled.
    Cancelled,
    /// It is a dead letter.
    Dead {
        /// The kind of reason.
        cause: DeathCause,
        /// The reason.
        why: String,
    },
}

/// Why a task became a dead letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeathCause {
    /// The hook failed, as often as it may.
    Failed,
    /// An attempt broke off, and it may not be repeated.
    Interrupted,
    /// It was not done by its deadline.
    Deadline,
    /// Its budget is used up.
    OverBudget,
    /// The agent retired before it was done.
    NotDrained,
    /// The agent was aborted.
    Aborted,
}

impl fmt::Display for DeathCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Deadline => "deadline",
            Self::OverBudget => "over budget",
            Self::NotDrained => "not drained",
            Self::Aborted => "aborted",
        })
    }
}

/// A task that cannot go on by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// The task.
    pub task: Task,
    /// The kind of reason.
    pub cause: DeathCause,
    /// The reason.
    pub why: String,
    /// When that was.
    pub died_ms: u64,
}
