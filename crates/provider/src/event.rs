//! What a model answers, as it comes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ProviderError;
use crate::id::{ModelApi, ModelId, ProviderId};
use crate::message::Block;
use crate::usage::{Cost, TokenUsage};

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerEvent {
    /// The server has begun to answer.
    Started(Started),
    /// Text of a block.
    TextDelta {
        /// The number of the block.
        block: usize,
        /// What it goes on with.
        text: String,
    },
    /// Reasoning of a block.
    ReasoningDelta {
        /// The number of the block.
        block: usize,
        /// What it goes on with.
        text: String,
    },
    /// A tool is about to be called.
    ToolCallStart {
        /// The number of the block.
        block: usize,
        /// Names the call.
        id: String,
        /// The tool.
        name: String,
    },
    /// Arguments of a call.
    ToolCallDelta {
        /// The number of the block.
        block: usize,
        /// What they go on with.
        arguments: String,
    },
    /// A block is complete. For a tool call, this is its end.
    BlockEnd {
        /// The number of the block.
        block: usize,
        /// The block, as it belongs into the history.
        content: Box<Block>,
    },
    /// What the answer took so far: all of it, not what was added.
    Usage {
        /// The tokens.
        usage: TokenUsage,
        /// What they cost, if that is known.
        cost: Option<Cost>,
    },
    /// What this crate does not know.
    Unknown {
        /// The interface that it comes from.
        api: ModelApi,
        /// The piece, as it is.
        value: Value,
    },
    /// The answer broke off and begins anew: nothing that came before counts.
    Restarted(Restarted),
    /// The answer is complete; nothing follows.
    Stopped(StopReason),
}

/// Who answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Started {
    /// The provider.
    pub provider: ProviderId,
    /// The model, as the server names it.
    pub model: ModelId,
    /// The answer's name at the vendor.
    pub response_id: Option<String>,
    /// The request's name at the vendor.
    pub request_id: Option<String>,
    /// What could not be sent, because another vendor's interface alone takes it.
    pub omitted: Vec<Omission>,
}

/// Something that a request has and its interface does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Omission {
    /// Reasoning, which the interface does not read.
    Reasoning,
    /// A signature or something encrypted by another vendor.
    Seal,
    /// Citations of another vendor.
    Citation,
    /// A block that only another vendor knows.
    Unknown,
    /// A file that was uploaded to another vendor.
    File,
    /// How much the model is to think.
    ReasoningEffort,
    /// A number or text of the request that the interface does not take.
    Option,
}

/// Why an answer begins anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Restarted {
    /// What was wrong.
    pub why: ProviderError,
    /// How many requests were sent so far.
    pub attempts: u32,
    /// After which time the next one is sent.
    pub after: std::time::Duration,
    /// Who is asked next.
    pub next: ProviderId,
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model said all that it wanted.
    End,
    /// Tools are to be called.
    ToolCalls,
    /// The answer may not be longer.
    Length,
    /// The conversation does not fit any more.
    Context,
    /// A text came that ends answers.
    StopText,
    /// The model or a filter refuses to go on.
    Refused,
    /// The vendor pauses, and goes on when the answer is sent back.
    Paused,
    /// Another one, as the vendor names it.
    Other(String),
}
