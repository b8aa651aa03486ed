//! Documents about agents that serve other agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Kind;
use crate::schema::{self, Schema};

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<AgentListDoc>,
    schema::of::<AgentShowDoc>,
    schema::of::<AgentCallDoc>,
    schema::of::<AgentDoneDoc>,
    schema::of::<AgentCheckDoc>,
];

/// An agent that registries know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServedAgentDoc {
    /// Its name.
    pub name: String,
    /// How people call it.
    pub title: String,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// Where it can be called.
    pub address: String,
    /// The registries that know it.
    pub registries: Vec<String>,
}

/// Agents that registries know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentListDoc {
    /// The agents.
    pub agents: Vec<ServedAgentDoc>,
    /// Registries that did not answer, and why.
    pub silent: Vec<String>,
    /// Agents on which registries do not agree.
    pub disagreements: Vec<String>,
}

impl Kind for AgentListDoc {
    const KIND: &'static str = "agents.list";
}

/// A task of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServedTaskDoc {
    /// Its number.
    pub task: u64,
    /// Who sent it.
    pub from: String,
    /// `queued`, `running`, `asking`, `waiting`, or why it is dead.
    pub state: String,
    /// How often it was begun.
    pub attempt: u32,
    /// The start of what is to be done.
    pub text: String,
}

/// A question of a task that has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServedQuestionDoc {
    /// The task.
    pub task: u64,
    /// Names the question among those of the task.
    pub key: String,
    /// What is asked.
    pub text: String,
    /// Who is asked.
    pub ask: String,
}

/// What an agent is and does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentShowDoc {
    /// Its name.
    pub name: String,
    /// `ready`, `active`, `suspended`, `retiring` or `terminated`.
    pub life: String,
    /// How many tasks it accepted.
    pub accepted: u64,
    /// How many of them it did.
    pub done: u64,
    /// Open tasks.
    pub tasks: Vec<ServedTaskDoc>,
    /// Tasks that cannot go on by themselves.
    pub dead: Vec<ServedTaskDoc>,
    /// Questions without an answer.
    pub questions: Vec<ServedQuestionDoc>,
}

impl Kind for AgentShowDoc {
    const KIND: &'static str = "agents.show";
}

/// What an agent answered to a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentCallDoc {
    /// Who answered.
    pub agent: String,
    /// What it said last.
    pub answer: String,
    /// The task.
    pub task: u64,
    /// The workspace that it worked in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The session that has the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How many paths differ from the folder.
    pub changed: u64,
}

impl Kind for AgentCallDoc {
    const KIND: &'static str = "agents.call";
}

/// An agent did what its operator wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentDoneDoc {
    /// Which agent.
    pub agent: String,
    /// What it did: `answer`, `cancel`, `resend`, `drop`, `suspend` or `resume`.
    pub did: String,
    /// The task, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<u64>,
}

impl Kind for AgentDoneDoc {
    const KIND: &'static str = "agents.done";
}

/// The file of an agent, as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentCheckDoc {
    /// Its name.
    pub name: String,
    /// `coder` or `rules`.
    pub work: String,
    /// Its capabilities.
    pub capabilities: Vec<String>,
    /// Where it will listen.
    pub address: String,
    /// Where it will register.
    pub registries: Vec<String>,
    /// Its files of rules.
    pub rules: Vec<String>,
    /// Its jobs.
    pub jobs: Vec<String>,
}

impl Kind for AgentCheckDoc {
    const KIND: &'static str = "agent.check";
}
