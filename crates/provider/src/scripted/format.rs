//! The format of scripts.

use std::time::Duration;

use serde::Deserialize;

use super::condition::Condition;
use crate::error::ErrorKind;
use crate::event::StopReason;
use crate::usage::TokenUsage;

/// The version of the format.
pub(super) const VERSION: u32 = 1;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptFile {
    pub(super) version: u32,
    /// How many characters a delta has; 0 is all.
    #[serde(default)]
    pub(super) chunk: usize,
    #[serde(default)]
    pub(super) turn: Vec<Turn>,
}

/// What one request gets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Turn {
    /// Answers any request of which this holds.
    pub(super) when: Option<Condition>,
    /// What must hold of the request that it answers.
    pub(super) expect: Option<Condition>,
    #[serde(default)]
    pub(super) delay: Pause,
    #[serde(default)]
    pub(super) pause: Pause,
    #[serde(default)]
    pub(super) say: Vec<Say>,
    pub(super) usage: Option<TokenUsage>,
    pub(super) stop: Option<StopReason>,
    pub(super) fail: Option<Failure>,
}

/// A block of the answer.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Say {
    Text(SayText),
    Reasoning(SayReasoning),
    Call(SayCall),
    Unknown(SayUnknown),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SayText {
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SayReasoning {
    pub(super) reasoning: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SayCall {
    pub(super) call: String,
    pub(super) id: Option<String>,
    pub(super) arguments: Option<toml::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SayUnknown {
    pub(super) unknown: toml::Value,
}

/// How the answer breaks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Failure {
    pub(super) kind: ErrorKind,
    pub(super) message: Option<String>,
    /// Behind so many events.
    #[serde(default)]
    pub(super) after: usize,
    /// So many times; without it, always.
    pub(super) times: Option<u32>,
    pub(super) retry_after: Option<Pause>,
}

/// A time, such as `20ms` or `1.5s`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Pause(Duration);

impl From<Pause> for Duration {
    fn from(pause: Pause) -> Self {
        pause.0
    }
}

impl TryFrom<String> for Pause {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no time: a number with ms or s, such as 20ms");
        let (number, unit) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
            (Some(number), _) => (number, 0.001),
            (None, Some(number)) => (number, 1.0),
            (None, None) => return Err(wrong()),
        };
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        Duration::try_from_secs_f64(number * unit).map(Self).map_err(|_| wrong())
    }
}
