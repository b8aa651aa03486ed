//! What others are told of an agent.

use offshoot_provider::AnswerEvent;

use crate::call::PendingQuestion;
use crate::event::EventRecord;
use crate::pause::PauseReason;
use crate::state::Phase;
use crate::turn::{TurnInput, TurnMisuse};

/// Something that happens while an agent works.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentProgress {
    /// An event, which is durable now.
    Event(EventRecord),
    /// A piece of an answer, as it came: credentials are not taken out of it.
    Answer(AnswerEvent),
    /// What came by a handle cannot be done now.
    Refused {
        /// What came.
        input: Box<TurnInput>,
        /// Why.
        misuse: TurnMisuse,
    },
}

/// Is told what happens. It must not block.
pub trait ProgressListener: Send + Sync {
    /// Something happened.
    fn tell(&self, progress: AgentProgress);
}

impl<F: Fn(AgentProgress) + Send + Sync> ProgressListener for F {
    fn tell(&self, progress: AgentProgress) {
        self(progress);
    }
}

/// Why an agent rests.
#[derive(Clone, Debug, PartialEq)]
pub enum Rested {
    /// No turn is open: the user speaks.
    Idle {
        /// What the model said last.
        said: String,
    },
    /// The turn pauses until the user resumes.
    Paused(PauseReason),
    /// Calls wait for the user.
    Waiting(Vec<PendingQuestion>),
    /// A turn is open, and nothing is in flight: the conversation was changed from outside.
    Open(Phase),
}
