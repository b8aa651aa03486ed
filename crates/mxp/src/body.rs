//! What the payloads of registries, calls and errors say, as JSON. Fields that are not known are ignored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An agent as a registry knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCard {
    /// Its name in the registry.
    pub id: String,
    /// How people call it.
    pub name: String,
    /// What it can do.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// Where it can be reached.
    pub address: String,
    /// What else is to be known of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, serde_json::Value>,
}

/// What an agent says when it registers.
pub type RegisterBody = AgentCard;

/// What a registry answers to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredBody {
    /// Whether the agent is registered now.
    pub success: bool,
    /// Its name.
    pub agent_id: String,
    /// Why not, or anything else.
    #[serde(default)]
    pub message: String,
}

/// What an agent says to stay registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatBody {
    /// Its name.
    pub agent_id: String,
}

/// What a registry answers to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatReplyBody {
    /// Whether it was heard.
    pub success: bool,
    /// Whether the registry does not know the agent any more.
    #[serde(default)]
    pub needs_register: bool,
    /// The agent's name.
    pub agent_id: String,
    /// The registry's time, in milliseconds since 1970.
    pub timestamp: u64,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Who is looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoverBody {
    /// What they can do.
    pub capability: String,
}

/// Who was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveredBody {
    /// What they can do.
    pub capability: String,
    /// The agents.
    pub agents: Vec<AgentCard>,
    /// How many there are.
    pub count: usize,
}

/// Why a request could not be handled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureBody {
    /// For people.
    pub error: String,
    /// For programs.
    pub code: String,
}

/// What is asked of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallBody {
    /// The conversation so far.
    pub messages: Vec<SpokenMessage>,
    /// How much chance a model may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How long its answer may become.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// Tools that are to be called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolRequest>,
    /// What the caller calls it: a second call with the key is the same call, and gets the same answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// What somebody said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpokenMessage {
    /// Who.
    pub role: String,
    /// What.
    pub content: String,
}

/// A tool that is to be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolRequest {
    /// Which.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub input: serde_json::Value,
}
