//! The state of a conversation: a fold over its events, and nothing else.

mod apply;
mod history;
mod open;
mod repeats;

use std::collections::BTreeSet;
use std::time::Duration;

use offshoot_provider::Block;

pub use self::history::{HistoryEntry, SettledCall, Summarised};
pub use self::open::{CallStatus, OpenCall};
pub(crate) use self::repeats::Repeats;
use crate::call::{AgentCallKey, ConversationId, PendingQuestion};
use crate::event::EventRecord;
use crate::limits::{Spent, TurnLimits};
use crate::pause::{PauseReason, TurnEnd};
use crate::settings::{Preamble, TurnSettings};
use crate::time::Timestamp;

/// Tokens are calibrated in thousandths.
const WHOLE: u64 = 1000;

/// What comes next, as far as events say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// The user speaks.
    #[default]
    Idle,
    /// The model is to be asked.
    Ready,
    /// The model was asked.
    Asking,
    /// The model was asked for a summary.
    Summarising {
        /// Of all entries before this one.
        upto: usize,
    },
    /// What the calls of the answer do is not known yet.
    Assessing,
    /// Calls are open.
    Calling,
    /// The model said all.
    Ending,
}

/// What a conversation came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) settings: Option<TurnSettings>,
    pub(crate) preamble: Preamble,
    /// How many events there were.
    pub(crate) events: u64,
    /// When the last one was.
    pub(crate) last_at: Timestamp,
    pub(crate) phase: Phase,
    pub(crate) paused: Option<PauseReason>,
    /// How the last turn ended, until another begins.
    pub(crate) ended: Option<TurnEnd>,
    /// What was said, in order.
    pub(crate) entries: Vec<HistoryEntry>,
    /// The calls of the last answer, until all have ended.
    pub(crate) calls: Vec<OpenCall>,
    /// What the user said while a turn ran, which the model gets with the next request.
    pub(crate) steering: Vec<Vec<Block>>,
    pub(crate) pinned: Vec<String>,
    pub(crate) summary: Option<Summarised>,
    /// Calls whose results are left out of requests.
    pub(crate) pruned: BTreeSet<AgentCallKey>,
    /// Answers of the whole conversation.
    pub(crate) steps: u64,
    /// Answers since the user spoke or resumed.
    pub(crate) recent_steps: u64,
    pub(crate) spent: Spent,
    /// Whether answers of unknown cost are accepted.
    pub(crate) unpriced_accepted: bool,
    /// Answers in a row of which all calls failed.
    pub(crate) failures: u32,
    /// Answers in a row that were unusable.
    pub(crate) nonsense: u32,
    /// What was wrong with the last that was.
    pub(crate) unusable: String,
    pub(crate) repeats: Repeats,
    /// Whether the model was told that it repeats itself.
    pub(crate) repeats_noted: bool,
    /// Times in a row that the conversation was longer than the model reads.
    pub(crate) overflows: u32,
    /// A smaller window, which the model turned out to have.
    pub(crate) window_cap: Option<u64>,
    /// Thousandths of a real token that an estimated one is.
    pub(crate) calibration: u64,
    /// The estimate of the last request, before calibration.
    pub(crate) asked_tokens: u64,
    /// Ids that calls of models had.
    pub(crate) used_ids: BTreeSet<String>,
}

impl State {
    /// The state that events lead to.
    pub fn from_events<'e>(records: impl IntoIterator<Item = &'e EventRecord>) -> Self {
        let mut state = Self { calibration: WHOLE, ..Self::default() };
        for record in records {
            state.apply(record);
        }
        state
    }

    /// What names the conversation, once it began.
    pub fn conversation(&self) -> Option<&ConversationId> {
        self.conversation.as_ref()
    }

    /// How many events there were: the number of the last one.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// What comes next.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Why it pauses, if it does.
    pub fn paused(&self) -> Option<&PauseReason> {
        self.paused.as_ref()
    }

    /// How the last turn ended; nothing while one is open.
    pub fn ended(&self) -> Option<TurnEnd> {
        self.ended
    }

    /// What was said, in order. Nothing is ever taken out.
    pub fn entries(&self) -> &[HistoryEntry] {
        &self.entries
    }

    /// The calls of the last answer, until all have ended.
    pub fn calls(&self) -> &[OpenCall] {
        &self.calls
    }

    /// Facts that are in every request.
    pub fn pinned(&self) -> &[String] {
        &self.pinned
    }

    /// The summary that stands for the first entries.
    pub fn summary(&self) -> Option<&Summarised> {
        self.summary.as_ref()
    }

    /// What was spent.
    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    /// The limits that hold.
    pub fn limits(&self) -> TurnLimits {
        self.settings.as_ref().map(|settings| settings.limits).unwrap_or_default()
    }

    /// What waits for the user.
    pub fn questions(&self) -> Vec<PendingQuestion> {
        self.calls.iter().filter_map(OpenCall::question).collect()
    }

    /// What the model said last, as text.
    pub fn last_words(&self) -> String {
        let said = self.entries.iter().rev().find_map(|entry| match entry {
            HistoryEntry::Answer { message, .. } => Some(message.text()),
            _ => None,
        });
        said.unwrap_or_default()
    }

    /// What may be spent in tokens for one request and its answer.
    pub(crate) fn window(&self) -> u64 {
        let window = self.settings.as_ref().map_or(u64::MAX, |settings| settings.window);
        self.window_cap.map_or(window, |cap| cap.min(window))
    }

    /// Real tokens for estimated ones.
    pub(crate) fn calibrated(&self, tokens: u64) -> u64 {
        tokens.saturating_mul(self.calibration) / WHOLE
    }

    /// Whether something is in flight, so that time counts.
    pub(crate) fn is_active(&self) -> bool {
        if self.paused.is_some() {
            return false;
        }
        match self.phase {
            Phase::Idle | Phase::Ending => false,
            Phase::Ready | Phase::Asking | Phase::Summarising { .. } | Phase::Assessing => true,
            Phase::Calling => {
                let waits = self.calls.iter().any(OpenCall::waits_for_user);
                !waits || self.calls.iter().any(OpenCall::is_started)
            }
        }
    }

    /// How long something was in flight, at a time.
    pub(crate) fn active_time(&self, now: Timestamp) -> Duration {
        let before = Duration::from_millis(self.spent.time_ms);
        match self.is_active() {
            true => before + now.since(self.last_at),
            false => before,
        }
    }

    pub(crate) fn call(&self, key: &AgentCallKey) -> Option<&OpenCall> {
        self.calls.iter().find(|call| call.planned.key == *key)
    }

    fn call_mut(&mut self, key: &AgentCallKey) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|call| call.planned.key == *key)
    }
}
