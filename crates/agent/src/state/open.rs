//! Calls that have not all ended.

use crate::call::{
    AgentCallKey, CallEffect, CallPermission, CallReport, EndedBy, PendingQuestion, PlannedCall,
};

/// A call of the last answer.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    /// The call.
    pub planned: PlannedCall,
    /// What it does.
    pub effect: CallEffect,
    /// How far it came.
    pub status: CallStatus,
    /// How many times it was started.
    pub attempts: u32,
    /// Whether its arguments held a credential, which the log does not have.
    pub redacted: bool,
}

/// How far a call came.
#[derive(Clone, Debug, PartialEq)]
pub enum CallStatus {
    /// It waits for its turn.
    Planned,
    /// It may not run.
    Refused {
        /// Why.
        why: String,
        /// Who says so.
        by: EndedBy,
    },
    /// It waits for the user.
    Waiting {
        /// What is asked.
        text: String,
        /// Answers to choose from.
        choices: Vec<String>,
        /// Whether it waits to be allowed.
        is_approval: bool,
    },
    /// The user's answer is its result.
    Answered {
        /// The answer.
        text: String,
    },
    /// It was started, and no end is known.
    Started,
    /// It was started by a process that is gone, and nobody knows what became of it.
    Lost,
    /// It has its result.
    Ended {
        /// The result.
        report: CallReport,
        /// Who gave it.
        by: EndedBy,
    },
}

impl OpenCall {
    pub(crate) fn key(&self) -> &AgentCallKey {
        &self.planned.key
    }

    pub(crate) fn is_ended(&self) -> bool {
        matches!(self.status, CallStatus::Ended { .. })
    }

    pub(crate) fn is_started(&self) -> bool {
        matches!(self.status, CallStatus::Started)
    }

    pub(crate) fn waits_for_user(&self) -> bool {
        matches!(self.status, CallStatus::Waiting { .. })
    }

    /// Takes over what is known before it runs.
    pub(crate) fn assess(&mut self, effect: CallEffect, permission: &CallPermission) {
        self.effect = effect;
        self.status = match permission {
            CallPermission::Allowed => CallStatus::Planned,
            CallPermission::Asks { why } => {
                CallStatus::Waiting { text: why.clone(), choices: Vec::new(), is_approval: true }
            }
            CallPermission::Refused { why } => {
                CallStatus::Refused { why: why.clone(), by: EndedBy::Refusal }
            }
        };
    }

    /// What the user is asked about it.
    pub(crate) fn question(&self) -> Option<PendingQuestion> {
        let CallStatus::Waiting { text, choices, is_approval } = &self.status else { return None };
        Some(PendingQuestion {
            key: self.planned.key.clone(),
            tool: self.planned.call.name.clone(),
            arguments: self.planned.call.arguments.clone(),
            text: text.clone(),
            choices: choices.clone(),
            is_approval: *is_approval,
        })
    }
}
