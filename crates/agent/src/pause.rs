//! Why a turn does not go on by itself.

use std::fmt;

use offshoot_provider::Cost;
use serde::{Deserialize, Serialize};

/// Why a turn pauses. Resuming goes on, with other limits if the user gives some.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum PauseReason {
    /// The model answered so many times.
    Steps {
        /// The limit.
        limit: u64,
    },
    /// So many tokens were used.
    Tokens {
        /// The limit.
        limit: u64,
        /// How many there were.
        spent: u64,
    },
    /// So much was spent.
    Money {
        /// The limit.
        limit: Cost,
        /// How much it was.
        spent: Cost,
    },
    /// There is a limit of money, and what an answer cost is not known.
    CostUnknown,
    /// It took so long.
    Time {
        /// The limit in milliseconds.
        limit_ms: u64,
    },
    /// All calls of so many answers in a row failed.
    Failures {
        /// How many.
        answers: u32,
    },
    /// A call was made again and again, with the same result.
    Repeats {
        /// The tool.
        tool: String,
        /// How many times.
        times: u32,
    },
    /// So many answers in a row had neither text nor calls.
    Nonsense {
        /// How many.
        answers: u32,
        /// What was wrong with the last.
        #[serde(default)]
        why: String,
    },
    /// There was no answer.
    ModelFailed {
        /// What was wrong.
        why: String,
    },
    /// The model or a filter refuses to go on.
    Refused,
    /// A tool cannot work, whatever the model does.
    ToolBroken {
        /// What is wrong.
        why: String,
    },
    /// The conversation does not fit, and nothing more can be left out.
    ContextFull {
        /// How many tokens it has, as estimated.
        tokens: u64,
        /// How many fit.
        window: u64,
    },
}

impl fmt::Display for PauseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps { limit } => write!(f, "the model answered {limit} times"),
            Self::Tokens { limit, spent } => {
                write!(f, "{spent} tokens were used, and the limit is {limit}")
            }
            Self::Money { limit, spent } => write!(f, "it cost {spent}, and the limit is {limit}"),
            Self::CostUnknown => {
                f.write_str("there is a limit of money, and the price of the model is not known")
            }
            Self::Time { limit_ms } => {
                write!(f, "it took longer than {}s", limit_ms.div_ceil(1000))
            }
            Self::Failures { answers } => {
                write!(f, "all calls of {answers} answers in a row failed")
            }
            Self::Repeats { tool, times } => {
                write!(f, "{tool} was called {times} times with the same result")
            }
            Self::Nonsense { answers, why } => {
                write!(f, "{answers} answers in a row were unusable: {why}")
            }
            Self::ModelFailed { why } => write!(f, "the model did not answer: {why}"),
            Self::Refused => f.write_str("the model refuses to go on"),
            Self::ToolBroken { why } => write!(f, "a tool cannot work: {why}"),
            Self::ContextFull { tokens, window } => {
                write!(f, "the conversation has {tokens} tokens, and {window} fit")
            }
        }
    }
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model has nothing more to do.
    Done,
    /// The user ended it.
    Cancelled,
}
