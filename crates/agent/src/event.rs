//! What happened in a conversation: all that its state is made of.

use offshoot_provider::{Block, Cost, ErrorKind, Message, ProviderError, StopReason, TokenUsage};
use offshoot_scrub::Redactor;
use serde::{Deserialize, Serialize};

use crate::call::{AgentCallKey, Assessment, CallReport, ConversationId, EndedBy, UserDecision};
use crate::limits::TurnLimits;
use crate::pause::{PauseReason, TurnEnd};
use crate::scrubbing::Scrubs;
use crate::settings::{Preamble, TurnSettings};
use crate::time::Timestamp;

/// The version of the format of records.
const VERSION: u32 = 1;

/// An event with its place in the conversation. The design page has the format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawRecord")]
pub struct EventRecord {
    version: u32,
    number: u64,
    at: Timestamp,
    event: AgentEvent,
}

impl EventRecord {
    /// A record without credentials. There is no other way to make one, but to read it back.
    pub(crate) fn new(
        number: u64,
        at: Timestamp,
        mut event: AgentEvent,
        redactor: &Redactor,
    ) -> Self {
        event.scrub(redactor);
        Self { version: VERSION, number, at, event }
    }

    /// Its place: the first is 1, and there are no gaps.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// When it happened.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// What happened.
    pub fn event(&self) -> &AgentEvent {
        &self.event
    }
}

/// A record as it is read, before its version was looked at.
#[derive(Deserialize)]
struct RawRecord {
    version: u32,
    number: u64,
    at: Timestamp,
    event: serde_json::Value,
}

impl TryFrom<RawRecord> for EventRecord {
    type Error = String;

    fn try_from(raw: RawRecord) -> Result<Self, String> {
        let RawRecord { version, number, at, event } = raw;
        if version != VERSION {
            return Err(format!("version {version} of events is not known, only {VERSION}"));
        }
        let event = serde_json::from_value(event).map_err(|error| error.to_string())?;
        Ok(Self { version, number, at, event })
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum AgentEvent {
    /// The conversation began.
    Started {
        /// What names it.
        conversation: ConversationId,
        /// How it goes.
        settings: TurnSettings,
        /// What requests begin with.
        preamble: Preamble,
    },
    /// A process opened it; what was in flight in another one is gone.
    Opened {
        /// What requests begin with from now on.
        preamble: Preamble,
        /// How it goes from now on, if that is another way.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settings: Option<Box<TurnSettings>>,
    },
    /// The user said something.
    UserSaid {
        /// What.
        blocks: Vec<Block>,
    },
    /// The model was asked.
    Asked {
        /// The number of the answer.
        step: u64,
        /// How many tokens the request has before calibration.
        tokens: u64,
    },
    /// It answered.
    Answered {
        /// What it said.
        message: Message,
        /// Why it ended.
        stop: StopReason,
        /// What it took.
        #[serde(default)]
        usage: TokenUsage,
        /// What that costs, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
        /// Places of the calls whose arguments held a credential, which is not kept.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        redacted: Vec<usize>,
    },
    /// It did not.
    AnswerFailed {
        /// What kind of failure that was.
        failure: ModelFailure,
        /// What was wrong.
        why: String,
    },
    /// The machine tells the model something.
    Noted {
        /// What it is about.
        about: NoteReason,
        /// What.
        text: String,
    },
    /// What the calls of the answer do, and whether they may run.
    Assessed {
        /// All of them.
        calls: Vec<Assessment>,
    },
    /// A call is about to run.
    CallStarted {
        /// The call.
        key: AgentCallKey,
        /// How many times it was started, with this one.
        attempt: u32,
    },
    /// A call did not run, because the user has to say something first.
    CallBlocked {
        /// The call.
        key: AgentCallKey,
        /// What is asked.
        text: String,
        /// Answers to choose from.
        #[serde(default)]
        choices: Vec<String>,
        /// Whether it waits to be allowed; else the answer is its result.
        is_approval: bool,
    },
    /// The user said it.
    Decided {
        /// The call.
        key: AgentCallKey,
        /// What they said.
        decision: UserDecision,
        /// Who, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// What became of a call that was cut off, and did not end.
    CallFound {
        /// The call.
        key: AgentCallKey,
        /// What.
        found: FoundCall,
    },
    /// A call has its result.
    CallEnded {
        /// The call.
        key: AgentCallKey,
        /// The result.
        report: CallReport,
        /// Who gave it.
        by: EndedBy,
    },
    /// The user ended the turn.
    Cancelled {
        /// What the model had said of its answer.
        #[serde(default)]
        said: String,
    },
    /// Nothing new begins until the user resumes.
    Paused {
        /// Why.
        reason: PauseReason,
    },
    /// It goes on.
    Resumed {
        /// With these limits, if they are others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limits: Option<TurnLimits>,
    },
    /// Results are left out of requests from now on.
    Pruned {
        /// Of these calls.
        calls: Vec<AgentCallKey>,
    },
    /// The model was asked for a summary.
    SummaryAsked {
        /// Of all entries before this one.
        upto: usize,
    },
    /// A summary stands for what was said.
    Summarised {
        /// For all entries before this one.
        upto: usize,
        /// The summary.
        text: String,
        /// What it took.
        #[serde(default)]
        usage: TokenUsage,
        /// What that costs, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
        /// Whether a model wrote it.
        #[serde(default)]
        by_model: bool,
    },
    /// A fact stays in every request.
    Pinned {
        /// The fact.
        text: String,
    },
    /// A fact does so no more.
    Unpinned {
        /// The fact.
        text: String,
    },
    /// The conversation is a fork from here on.
    Forked {
        /// What names it now.
        conversation: ConversationId,
        /// What it was forked from.
        parent: ConversationId,
        /// The last event that both have.
        at: u64,
    },
    /// The turn is over.
    TurnEnded {
        /// How.
        end: TurnEnd,
    },
}

/// What the machine tells the model about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteReason {
    /// The answer had neither text nor calls.
    Empty,
    /// The answer was cut.
    Cut,
    /// The answer was longer than allowed.
    TooLong,
    /// The same call had the same result again.
    Repeats,
    /// Something happened outside of the conversation.
    Outside,
}

/// What became of a call that did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundCall {
    /// It did nothing.
    NotStarted,
    /// It runs.
    Running,
    /// Nobody knows.
    Unknown,
}

/// Why there was no answer, as far as it matters for what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelFailure {
    /// The conversation is longer than the model reads.
    ContextTooLong,
    /// The answer was longer than allowed.
    AnswerTooLong,
    /// A filter refuses the content.
    Refused,
    /// Anything else.
    Other,
}

impl ModelFailure {
    /// The failure that an error of a provider is.
    pub fn of(error: &ProviderError) -> Self {
        match error.kind() {
            ErrorKind::ContextTooLong => Self::ContextTooLong,
            ErrorKind::TooLarge => Self::AnswerTooLong,
            ErrorKind::Refused => Self::Refused,
            _ => Self::Other,
        }
    }
}
