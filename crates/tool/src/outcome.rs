//! What came of a call.

use crate::arguments::Repair;
use crate::error::FatalError;
use crate::full_texts::ResultId;
use crate::output::{ApprovalNeeded, ExecFacts, UserQuestion};

/// What came of a call, for the loop of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// It is over, well or not: there is a text for the model.
    Done(CallResult),
    /// A person has to decide first.
    NeedsApproval(ApprovalNeeded),
    /// A person is asked; what they say is the result of the call.
    AskUser(UserQuestion),
    /// The agent cannot go on.
    Fatal(FatalError),
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    /// What the model reads.
    pub text: String,
    /// Whether what was asked for did not work.
    pub failed: bool,
    /// How the call ended.
    pub ending: CallEnding,
    /// Where all of the text is, if the model reads only a part.
    pub full: Option<ResultId>,
    /// The command that was run, where one was.
    pub exec: Option<ExecFacts>,
    /// What was repaired in the arguments.
    pub repairs: Vec<Repair>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnding {
    /// By itself.
    Finished,
    /// Its time was over.
    TimedOut,
    /// Whoever made it did not want it any more.
    Cancelled,
}

impl CallOutcome {
    /// The result, where there is one.
    pub fn result(&self) -> Option<&CallResult> {
        match self {
            Self::Done(result) => Some(result),
            _ => None,
        }
    }
}
