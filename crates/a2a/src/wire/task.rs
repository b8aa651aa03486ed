//! Tasks and what happens to them.

use serde::{Deserialize, Serialize};

use super::field::{A2aMetadata, is_false, nullable};
use super::{A2aArtifact, A2aMessage};

/// Where a task is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum A2aState {
    /// The agent has it and has not begun.
    #[serde(rename = "TASK_STATE_SUBMITTED")]
    Submitted,
    /// The agent works on it.
    #[serde(rename = "TASK_STATE_WORKING")]
    Working,
    /// The agent waits for a message of the client.
    #[serde(rename = "TASK_STATE_INPUT_REQUIRED")]
    InputRequired,
    /// The agent waits until the client has authorised something.
    #[serde(rename = "TASK_STATE_AUTH_REQUIRED")]
    AuthRequired,
    /// It is done.
    #[serde(rename = "TASK_STATE_COMPLETED")]
    Completed,
    /// It ended with an error.
    #[serde(rename = "TASK_STATE_FAILED")]
    Failed,
    /// It was cancelled.
    #[serde(rename = "TASK_STATE_CANCELED")]
    Canceled,
    /// The agent does not do it.
    #[serde(rename = "TASK_STATE_REJECTED")]
    Rejected,
}

impl A2aState {
    /// All states.
    pub const ALL: [Self; 8] = [
        Self::Submitted,
        Self::Working,
        Self::InputRequired,
        Self::AuthRequired,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::Rejected,
    ];

    /// Whether nothing can happen to the task any more.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// Whether the agent waits for the client.
    #[must_use]
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// Its name in messages to people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Working => "working",
            Self::InputRequired => "input-required",
            Self::AuthRequired => "auth-required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Rejected => "rejected",
        }
    }
}

/// The state of a task and what the agent said with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct A2aStatus {
    /// The state.
    pub state: A2aState,
    /// What the agent said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<A2aMessage>,
    /// When it was recorded, as RFC 3339 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
}

/// A unit of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aTask {
    /// The server's name of it.
    pub id: String,
    /// The conversation that it belongs to.
    #[serde(default, deserialize_with = "nullable")]
    pub context_id: String,
    /// Where it is.
    pub status: A2aStatus,
    /// Its results.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<A2aArtifact>,
    /// What was said before the current status.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<A2aMessage>,
    /// Whatever else is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<A2aMetadata>,
}

/// The status of a task changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aStatusUpdate {
    /// Of which task.
    pub task_id: String,
    /// Of which conversation.
    #[serde(default, deserialize_with = "nullable")]
    pub context_id: String,
    /// The new status.
    pub status: A2aStatus,
    /// Whatever else is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<A2aMetadata>,
}

/// A task has an artifact, or more of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aArtifactUpdate {
    /// Of which task.
    pub task_id: String,
    /// Of which conversation.
    #[serde(default, deserialize_with = "nullable")]
    pub context_id: String,
    /// The artifact, or the part of it that is new.
    pub artifact: A2aArtifact,
    /// Whether this comes behind what was sent of the artifact before.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_false")]
    pub append: bool,
    /// Whether nothing more comes.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_false")]
    pub last_chunk: bool,
    /// Whatever else is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<A2aMetadata>,
}

/// What a stream and a webhook tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum A2aEvent {
    /// The task as it is now.
    Task(A2aTask),
    /// An answer without a task.
    Message(A2aMessage),
    /// The status changed.
    StatusUpdate(A2aStatusUpdate),
    /// There is an artifact, or more of one.
    ArtifactUpdate(A2aArtifactUpdate),
}

impl A2aEvent {
    /// The state that it tells, if it tells one.
    #[must_use]
    pub fn state(&self) -> Option<A2aState> {
        match self {
            Self::Task(task) => Some(task.status.state),
            Self::StatusUpdate(update) => Some(update.status.state),
            Self::Message(_) | Self::ArtifactUpdate(_) => None,
        }
    }

    /// The task that it is about.
    #[must_use]
    pub fn task_id(&self) -> Option<&str> {
        match self {
            Self::Task(task) => Some(&task.id),
            Self::StatusUpdate(update) => Some(&update.task_id),
            Self::ArtifactUpdate(update) => Some(&update.task_id),
            Self::Message(message) => message.task_id.as_deref(),
        }
    }
}

/// The answer to a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum A2aReply {
    /// The agent made a task of it.
    Task(A2aTask),
    /// The agent answered at once.
    Message(A2aMessage),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_exactly_one_thing() {
        let status = r#"{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}"#;
        let event: A2aEvent =
            serde_json::from_str(&format!(r#"{{"statusUpdate":{status}}}"#)).unwrap();
        assert_eq!(event.state(), Some(A2aState::Working));
        for wrong in [
            format!(r#"{{"statusUpdate":{status},"message":{{}}}}"#),
            format!(r#"{{"update":{status}}}"#),
            "{}".to_owned(),
            status.to_owned(),
            status.replace("WORKING", "UNSPECIFIED"),
        ] {
            assert!(serde_json::from_str::<A2aEvent>(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn null_is_absent() {
        let text = r#"{"id":"t","contextId":null,"status":{"state":"TASK_STATE_FAILED","message":null},"artifacts":null,"history":null,"metadata":null}"#;
        let task: A2aTask = serde_json::from_str(text).unwrap();
        let short = r#"{"id":"t","contextId":"","status":{"state":"TASK_STATE_FAILED"}}"#;
        assert_eq!(serde_json::to_string(&task).unwrap(), short);
    }
}
