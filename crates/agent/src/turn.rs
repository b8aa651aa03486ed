//! What goes into the machine, and what comes out.

use offshoot_provider::{AnswerEvent, Block, Request};

use crate::call::{
    AgentCallKey, Assessment, CallFate, CallReply, ConversationId, PendingQuestion, PlannedCall,
    UserDecision,
};
use crate::event::{EventRecord, ModelFailure};
use crate::limits::TurnLimits;
use crate::pause::{PauseReason, TurnEnd};
use crate::settings::{Preamble, TurnSettings};

/// What happens to the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnInput {
    /// A conversation begins.
    Begin {
        /// What names it.
        conversation: ConversationId,
        /// How it goes.
        settings: Box<TurnSettings>,
        /// What requests begin with.
        preamble: Preamble,
    },
    /// This process opened a conversation that has begun.
    Open {
        /// What requests begin with.
        preamble: Preamble,
        /// How it goes from now on, if that is another way.
        settings: Option<Box<TurnSettings>>,
    },
    /// The user says something: a turn begins, or the one that runs is steered.
    Say(Vec<Block>),
    /// A piece of the model's answer.
    Answer(AnswerEvent),
    /// There is no answer.
    AnswerFailed {
        /// What kind of failure that is.
        failure: ModelFailure,
        /// What is wrong.
        why: String,
    },
    /// What calls do, and whether they may run.
    Assessed(Vec<Assessment>),
    /// What a call came to.
    Replied(AgentCallKey, CallReply),
    /// What became of a call that another process started.
    Found(AgentCallKey, CallFate),
    /// The user said what a call waits for.
    Decide {
        /// The call.
        key: AgentCallKey,
        /// What they said.
        decision: UserDecision,
        /// Who, if that is known.
        by: Option<String>,
    },
    /// The user ends the turn.
    Cancel,
    /// The user lets a paused turn go on.
    Resume {
        /// With these limits, if they are others.
        limits: Option<TurnLimits>,
    },
    /// Something happened outside of the conversation, which the model is to know. No turn begins.
    Note(String),
    /// A fact is to stay in every request.
    Pin(String),
    /// A fact is not to stay any more.
    Unpin(String),
    /// Time passed.
    Tick,
}

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnOutput {
    /// The event is durable before anything that follows begins.
    Append(EventRecord),
    /// The model is asked.
    AskModel(Box<Request>),
    /// The answer is not wanted any more.
    StopAnswer,
    /// The tools say what these calls do.
    Assess(Vec<PlannedCall>),
    /// What became of a call is looked up.
    LookUp(PlannedCall),
    /// A call is made.
    Call(PlannedCall),
    /// A call that runs is waited for.
    Attach(PlannedCall),
    /// Calls are stopped; nobody waits for them.
    StopCalls(Vec<AgentCallKey>),
    /// The user is asked, and nothing goes on before they answered.
    AskUser(Vec<PendingQuestion>),
    /// Nothing goes on before the user resumes.
    Pause(PauseReason),
    /// The turn is over.
    End(TurnEnd),
}

/// What cannot be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnMisuse {
    /// The conversation has not begun.
    #[error("the conversation has not begun; begin it first")]
    NotBegun,
    /// The conversation has begun.
    #[error("the conversation has begun; open it instead")]
    AlreadyBegun,
    /// Nothing was said.
    #[error("there is nothing in what the user says")]
    NothingSaid,
    /// The turn does not pause.
    #[error("the turn is not paused; there is nothing to resume")]
    NotPaused,
    /// Nothing waits for this decision.
    #[error("no call of this key waits for the user")]
    NoSuchQuestion,
    /// A question wants an answer, and an approval a yes or no.
    #[error("an approval is allowed or denied, a question is answered")]
    WrongDecision,
}
