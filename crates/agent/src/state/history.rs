//! What was said in a conversation.

use offshoot_provider::{Block, CallBlock, Message};

use crate::call::{AgentCallKey, CallReport, EndedBy};

/// Something that was said.
#[derive(Clone, Debug, PartialEq)]
pub enum HistoryEntry {
    /// By the user.
    User(Vec<Block>),
    /// By the machine, to the model.
    Note(String),
    /// By the model.
    Answer {
        /// The number of the answer.
        step: u64,
        /// What it said.
        message: Message,
    },
    /// By the tools: the result of each call of the answer before, in the order of the calls.
    Results(Vec<SettledCall>),
}

/// A call with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledCall {
    /// What names it.
    pub key: AgentCallKey,
    /// What the model wrote.
    pub call: CallBlock,
    /// The result.
    pub report: CallReport,
    /// Who gave it.
    pub by: EndedBy,
}

/// A summary, and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summarised {
    /// All entries before this one.
    pub upto: usize,
    /// The summary.
    pub text: String,
}

impl HistoryEntry {
    /// Whether a conversation may be cut before it: results stay with their calls.
    pub(crate) fn may_begin(&self) -> bool {
        !matches!(self, Self::Results(_))
    }
}
