//! How much a conversation may spend, and how much it did.

use std::time::Duration;

use offshoot_provider::Cost;
use serde::{Deserialize, Serialize};

/// Limits of a conversation. One that is absent does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnLimits {
    /// Answers since the user last spoke or resumed.
    pub steps: Option<u64>,
    /// Tokens of all answers and what they read.
    pub tokens: Option<u64>,
    /// What all answers cost.
    pub money: Option<Cost>,
    /// How long anything was in flight, in milliseconds.
    pub time_ms: Option<u64>,
    /// Answers in a row of which every call failed.
    pub failures: u32,
    /// Answers in a row without text or calls.
    pub nonsense: u32,
    /// The same call with the same result.
    pub repeats: u32,
    /// Text of one answer in bytes.
    pub answer_bytes: u64,
    /// Calls at the same time.
    pub parallel: usize,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            steps: Some(100),
            tokens: None,
            money: None,
            time_ms: None,
            failures: 8,
            nonsense: 3,
            repeats: 6,
            answer_bytes: 1 << 20,
            parallel: 8,
        }
    }
}

impl TurnLimits {
    /// The limits with the lesser of each.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        Self {
            steps: lesser(self.steps, other.steps),
            tokens: lesser(self.tokens, other.tokens),
            money: lesser(self.money, other.money),
            time_ms: lesser(self.time_ms, other.time_ms),
            failures: self.failures.min(other.failures),
            nonsense: self.nonsense.min(other.nonsense),
            repeats: self.repeats.min(other.repeats),
            answer_bytes: self.answer_bytes.min(other.answer_bytes),
            parallel: self.parallel.min(other.parallel),
        }
    }

    /// What is left of them.
    #[must_use]
    pub fn without(self, spent: &Spent) -> Self {
        let money =
            |limit: Cost| Cost { picodollars: limit.picodollars.saturating_sub(spent.picodollars) };
        Self {
            tokens: self.tokens.map(|limit| limit.saturating_sub(spent.tokens)),
            money: self.money.map(money),
            time_ms: self.time_ms.map(|limit| limit.saturating_sub(spent.time_ms)),
            ..self
        }
    }
}

/// The lesser of two limits, where none is more than any.
fn lesser<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// What a conversation spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Tokens, estimated where a server did not report them.
    pub tokens: u64,
    /// Money, where it is known.
    pub picodollars: u64,
    /// How long anything was in flight.
    pub time_ms: u64,
    /// Answers of which the cost is not known.
    pub unpriced: u64,
}

impl Spent {
    /// Adds what something else spent. Its time passed meanwhile, and counts once.
    pub(crate) fn add(&mut self, other: &Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.picodollars = self.picodollars.saturating_add(other.picodollars);
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
    }

    /// Adds time in which something was in flight.
    pub(crate) fn add_time(&mut self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.time_ms = self.time_ms.saturating_add(time);
    }

    /// What it cost, where that is known.
    pub fn cost(&self) -> Cost {
        Cost { picodollars: self.picodollars }
    }
}
