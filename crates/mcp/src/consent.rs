//! Whether the folder may be changed, and what somebody agrees to.

use std::sync::Arc;

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::session::Session;

/// Whether the folder may be changed.
pub(crate) enum Consent {
    /// It may.
    Given,
    /// Somebody has to be asked first.
    Ask,
    /// Somebody agreed to this.
    To(Proposal),
    /// It may not, and nobody can be asked.
    None,
}

/// What somebody agrees to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// The state of things that they were shown.
    pub(crate) state: String,
}

/// What came of something that may change the folder.
pub(crate) enum Outcome {
    Done(Answer),
    /// A person has to agree first.
    Question {
        message: String,
        proposal: Proposal,
    },
}

/// Something that waits for a person to agree.
#[derive(Debug)]
pub(crate) struct Agreeing {
    pub(crate) session: Arc<Session>,
    pub(crate) arguments: Arguments,
    pub(crate) proposal: Proposal,
}
