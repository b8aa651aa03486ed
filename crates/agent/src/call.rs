//! Calls of tools: what names them, what they do, what became of them.

use std::fmt;

use offshoot_provider::{Block, CallBlock};
use serde::{Deserialize, Serialize};

use crate::limits::{Spent, TurnLimits};

/// Names a conversation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConversationId(String);

impl ConversationId {
    /// The id in a text, which no other conversation may have.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Names a call, in this process and every later one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentCallKey(String);

impl AgentCallKey {
    /// The key of a call by its conversation, the answer that it is in and its place there.
    pub(crate) fn new(conversation: &ConversationId, step: u64, index: usize) -> Self {
        Self(format!("{conversation}/{step}/{index}"))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentCallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<&str> for AgentCallKey {
    fn from(key: &str) -> Self {
        Self(key.to_owned())
    }
}

/// A call that is to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCall {
    /// What names it.
    pub key: AgentCallKey,
    /// What the model wrote.
    pub call: CallBlock,
    /// Whether the user allowed it when it asked.
    #[serde(default)]
    pub approved: bool,
    /// What is left of the budgets of the conversation when it starts.
    #[serde(skip)]
    pub budget: TurnLimits,
}

/// What a call does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEffect {
    /// It only reads: it may run beside others, and once more.
    Reads,
    /// It may change something.
    Writes,
}

/// Whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum CallPermission {
    /// It may.
    Allowed,
    /// The user has to say so.
    Asks {
        /// What they are asked.
        why: String,
    },
    /// It may not, and the model is told why.
    Refused {
        /// Why.
        why: String,
    },
}

/// What is known of a call before it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assessment {
    /// The call.
    pub key: AgentCallKey,
    /// What it does.
    pub effect: CallEffect,
    /// Whether it may run.
    pub permission: CallPermission,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallReport {
    /// What the model gets.
    pub blocks: Vec<Block>,
    /// Whether it failed.
    #[serde(default)]
    pub failed: bool,
    /// What it spent of the budgets of the conversation, if it asked models itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}

impl CallReport {
    /// A call that did what it should.
    pub fn text(text: impl Into<String>) -> Self {
        Self { blocks: vec![Block::text(text)], failed: false, spent: None }
    }

    /// A call that failed.
    pub fn failure(why: impl Into<String>) -> Self {
        Self { blocks: vec![Block::text(why)], failed: true, spent: None }
    }

    /// All its text.
    pub fn to_text(&self) -> String {
        let texts: Vec<&str> = self.blocks.iter().filter_map(Block::as_text).collect();
        texts.join("\n")
    }
}

/// What a call comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum CallReply {
    /// It ran.
    Done(CallReport),
    /// It did not run: the user has to allow it first. It is called again with the same key then.
    NeedsApproval {
        /// What they are asked.
        why: String,
    },
    /// The user's answer is its result.
    Asks {
        /// The question.
        question: String,
        /// Answers to choose from; none for any.
        choices: Vec<String>,
    },
    /// Nothing that the model does helps: the turn pauses.
    Broken {
        /// What is wrong.
        why: String,
    },
}

/// What became of a call that was started by a process which is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum CallFate {
    /// It did nothing yet.
    NotStarted,
    /// It still runs, and can be waited for.
    Running,
    /// It ended.
    Done {
        /// With this result.
        report: CallReport,
    },
    /// It may have run or not.
    Unknown,
}

/// Who gave a call its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The tool.
    Tool,
    /// The machine or the tools' policy, before it ran.
    Refusal,
    /// The user, who denied it or answered its question.
    User,
    /// The user, who cancelled the turn.
    Cancel,
    /// A limit that stopped it.
    Limit,
    /// The tool, which cannot work whatever the model does.
    Breakage,
    /// A crash, after which nobody knows what became of it.
    Crash,
    /// A fork, in which it is not known.
    Fork,
}

/// Something that waits for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingQuestion {
    /// The call that waits.
    pub key: AgentCallKey,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: String,
    /// What is asked.
    pub text: String,
    /// Answers to choose from, for questions of the model.
    pub choices: Vec<String>,
    /// Whether the call waits to be allowed; else the answer is its result.
    pub is_approval: bool,
}

/// What the user says to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum UserDecision {
    /// The call may run.
    Allow,
    /// It may not.
    Deny {
        /// Why, for the model.
        why: Option<String>,
    },
    /// The answer to a question.
    Answer {
        /// The answer.
        text: String,
    },
}
