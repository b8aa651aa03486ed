//! What a call of an agent comes to.

use offshoot_kernel::{DeathCause, TaskOutcome};
use offshoot_transport::FailureBody;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an agent answers to a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReply {
    /// What it said last.
    pub message: SpokenReply,
    /// The task; 0 until the kernel said which it is.
    #[serde(default)]
    pub task: u64,
    /// The workspace that it worked in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The session that has the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How many paths differ from the folder.
    #[serde(default)]
    pub changed: u64,
}

/// A message of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpokenReply {
    /// Always `assistant`.
    pub role: String,
    /// What it says.
    pub content: String,
}

impl AgentReply {
    pub(crate) fn new(content: String) -> Self {
        let message = SpokenReply { role: "assistant".to_owned(), content };
        Self { message, task: 0, workspace: None, session: None, changed: 0 }
    }
}

/// An error for the other side.
pub(crate) fn failure(code: &str, error: impl Into<String>) -> FailureBody {
    FailureBody { error: error.into(), code: code.to_owned() }
}

/// What a task came to, for whoever called.
pub(crate) fn outcome(task: u64, outcome: TaskOutcome) -> Result<Value, FailureBody> {
    match outcome {
        TaskOutcome::Done { mut answer } => {
            if let Some(fields) = answer.as_object_mut() {
                fields.insert("task".to_owned(), task.into());
            }
            Ok(answer)
        }
        TaskOutcome::Cancelled => Err(failure("cancelled", format!("task {task} was cancelled"))),
        TaskOutcome::Dead { cause, why } => {
            Err(failure(code(cause), format!("task {task}: {why}")))
        }
    }
}

fn code(cause: DeathCause) -> &'static str {
    match cause {
        DeathCause::Failed => "failed",
        DeathCause::Interrupted => "interrupted",
        DeathCause::OverBudget => "over_budget",
        DeathCause::Deadline => "deadline",
        DeathCause::Aborted | DeathCause::NotDrained => "aborted",
    }
}
