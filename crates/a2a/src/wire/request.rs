//! What clients ask for.

use serde::{Deserialize, Serialize};

use super::field::{A2aMetadata, is_false, nullable};
use super::{A2aMessage, A2aPushConfig, A2aState, A2aTask};

/// How a message is to be answered.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aSendSettings {
    /// Media types that the client can read.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// A webhook for the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_push_notification_config: Option<A2aPushConfig>,
    /// At most so many messages of the history are in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_length: Option<u32>,
    /// Whether the answer comes before the task is done.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_false")]
    pub return_immediately: bool,
}

/// A message with what goes with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aSend {
    /// The tenant of the interface.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The message.
    pub message: A2aMessage,
    /// How it is to be answered.
    #[serde(default, deserialize_with = "nullable")]
    pub configuration: A2aSendSettings,
    /// Whatever else is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<A2aMetadata>,
}

impl From<A2aMessage> for A2aSend {
    fn from(message: A2aMessage) -> Self {
        let configuration = A2aSendSettings::default();
        Self { tenant: String::new(), message, configuration, metadata: None }
    }
}

/// Which tasks are listed, and what of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aTaskFilter {
    /// The tenant of the interface.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// Only tasks of this conversation.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub context_id: String,
    /// Only tasks in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<A2aState>,
    /// So many at once, from 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u32>,
    /// Where the last page ended.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub page_token: String,
    /// At most so many messages of the history of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_length: Option<u32>,
    /// Only tasks whose status is not older than this, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_timestamp_after: Option<String>,
    /// Whether artifacts are told.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_false")]
    pub include_artifacts: bool,
}

/// A page of tasks, those that changed last first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aTaskPage {
    /// The tasks.
    #[serde(default, deserialize_with = "nullable")]
    pub tasks: Vec<A2aTask>,
    /// What to ask for next; empty on the last page.
    #[serde(default, deserialize_with = "nullable")]
    pub next_page_token: String,
    /// How many were asked for.
    #[serde(default, deserialize_with = "nullable")]
    pub page_size: u32,
    /// How many there are on all pages.
    #[serde(default, deserialize_with = "nullable")]
    pub total_size: u32,
}

/// Asks for a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GetTask {
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub(crate) tenant: String,
    pub(crate) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) history_length: Option<u32>,
}

/// Asks for a task to be cancelled.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CancelTask {
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub(crate) tenant: String,
    pub(crate) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<A2aMetadata>,
}

/// Asks for the updates of a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubscribeTask {
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub(crate) tenant: String,
    pub(crate) id: String,
}

/// Names a webhook.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PushKey {
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub(crate) tenant: String,
    pub(crate) task_id: String,
    pub(crate) id: String,
}

/// Asks for the webhooks of a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PushConfigs {
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub(crate) tenant: String,
    pub(crate) task_id: String,
}
