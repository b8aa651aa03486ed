//! Why an escalation does not go on.

use crate::decision::EscalationTarget;
use crate::escalation::record::EscalationState;

/// What is wrong with a step of an escalation. The record is as it was before, but for a time that is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EscalationError {
    /// There is none with this id.
    #[error("there is no escalation `{id}`")]
    Unknown {
        /// The id.
        id: String,
    },
    /// There is one with this id already.
    #[error("there is an escalation `{id}` already; take another id")]
    Exists {
        /// The id.
        id: String,
    },
    /// The verdict does not escalate, or is about another request.
    #[error("the verdict about `{id}` does not ask anybody about this request")]
    NoEscalation {
        /// The id.
        id: String,
    },
    /// An agent was to be asked about itself.
    #[error("`{agent}` cannot be asked about its own request; let the rule ask somebody else")]
    AsksItself {
        /// The agent.
        agent: String,
    },
    /// Somebody answered who was not asked.
    #[error("{by} was not asked about `{id}`, but {asked}")]
    NotAsked {
        /// The id.
        id: String,
        /// Who answered.
        by: EscalationTarget,
        /// Who was asked.
        asked: EscalationTarget,
    },
    /// It is in a state where this cannot be.
    #[error("the escalation `{id}` is {state}, so that it cannot be {wanted}")]
    State {
        /// The id.
        id: String,
        /// Its state.
        state: EscalationState,
        /// What was wanted.
        wanted: &'static str,
    },
    /// The grant is for another request.
    #[error("the escalation `{id}` is about another request; ask again")]
    OtherRequest {
        /// The id.
        id: String,
    },
    /// The grant was used.
    #[error("the grant of `{id}` was used at {at_ms}; ask again")]
    Used {
        /// The id.
        id: String,
        /// When, in milliseconds.
        at_ms: u64,
    },
    /// The grant was not used in time.
    #[error("the grant of `{id}` was to be used before {use_by_ms}; ask again")]
    Stale {
        /// The id.
        id: String,
        /// Until when, in milliseconds.
        use_by_ms: u64,
    },
    /// The rules ask somebody else by now.
    #[error("`{id}` asked {then}, and the rules now ask {now}; ask again")]
    AsksAnother {
        /// The id.
        id: String,
        /// Who is asked now.
        now: EscalationTarget,
        /// Who was asked.
        then: EscalationTarget,
    },
    /// A stored record cannot be used.
    #[error("the record of an escalation cannot be used: {0}")]
    Damaged(String),
    /// Somebody else changed the record meanwhile.
    #[error("the escalation `{id}` was changed by somebody else; look again")]
    Changed {
        /// The id.
        id: String,
    },
    /// The store failed.
    #[error("escalations cannot be stored: {0}")]
    Store(String),
    /// Nobody could be told.
    #[error("nobody could be asked: {0}")]
    Ask(String),
    /// What happened could not be recorded.
    #[error("what happened could not be recorded: {0}")]
    Record(String),
}
