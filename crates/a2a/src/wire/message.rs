//! Messages and artifacts.

use serde::{Deserialize, Serialize};

use super::A2aPart;
use super::field::{A2aMetadata, nullable};

/// Who sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum A2aRole {
    /// The client.
    #[serde(rename = "ROLE_USER")]
    User,
    /// The agent.
    #[serde(rename = "ROLE_AGENT")]
    Agent,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aMessage {
    /// The sender's name of it.
    pub message_id: String,
    /// The conversation that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// The task that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Who sent it.
    pub role: A2aRole,
    /// Its content.
    pub parts: Vec<A2aPart>,
    /// Whatever else is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<A2aMetadata>,
    /// The extensions that it uses.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// Other tasks that it refers to.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub reference_task_ids: Vec<String>,
}

impl A2aMessage {
    /// A message of a client, with a new id.
    #[must_use]
    pub fn user(parts: Vec<A2aPart>) -> Self {
        Self::new(A2aRole::User, parts)
    }

    /// A message of an agent, with a new id.
    #[must_use]
    pub fn agent(parts: Vec<A2aPart>) -> Self {
        Self::new(A2aRole::Agent, parts)
    }

    fn new(role: A2aRole, parts: Vec<A2aPart>) -> Self {
        Self {
            message_id: crate::id::fresh(),
            context_id: None,
            task_id: None,
            role,
            parts,
            metadata: None,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }
    }

    /// The same message for a task that is there.
    #[must_use]
    pub fn for_task(mut self, task: impl Into<String>) -> Self {
        self.task_id = Some(task.into());
        self
    }

    /// The text of all its parts, a line each.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(A2aPart::as_text).collect();
        texts.join("\n")
    }
}

/// A result of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aArtifact {
    /// Its name within the task.
    pub artifact_id: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its content.
    pub parts: Vec<A2aPart>,
    /// Whatever else is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<A2aMetadata>,
    /// The extensions that it uses.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

impl A2aArtifact {
    /// An artifact of these parts.
    #[must_use]
    pub fn new(id: impl Into<String>, parts: Vec<A2aPart>) -> Self {
        Self {
            artifact_id: id.into(),
            name: None,
            description: None,
            parts,
            metadata: None,
            extensions: Vec::new(),
        }
    }
}
