//! What observers are told.

use serde::{Deserialize, Serialize};

use crate::decision::GovernanceDecision;
use crate::escalation::record::EscalationRecord;
use crate::request::{GovernanceDigest, GovernanceRequest};
use crate::verdict::GovernanceVerdict;
use crate::word::words;

words! {
    /// What happened.
    pub enum GovernanceEventKind {
        /// A request was allowed.
        Allowed = "allowed",
        /// A request was denied.
        Denied = "denied",
        /// Somebody has to be asked about a request.
        Escalated = "escalated",
        /// Somebody granted it.
        Granted = "granted",
        /// Somebody denied it.
        Refused = "refused",
        /// Nobody answered in time.
        Expired = "expired",
        /// A grant was used.
        Used = "used",
    }
}

impl GovernanceEventKind {
    /// Whether it may never be lost.
    pub const fn must_arrive(self) -> bool {
        !matches!(self, Self::Allowed)
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GovernanceEvent {
    /// The version of the format; fields may be added to one.
    pub version: u32,
    /// Its number in the outbox, when it is delivered from there: an event that comes again has the same.
    #[serde(default)]
    pub number: Option<u64>,
    /// When, in milliseconds.
    pub at_ms: u64,
    /// What.
    pub kind: GovernanceEventKind,
    /// The digest of the request.
    pub digest: GovernanceDigest,
    /// What was asked for.
    pub request: GovernanceRequest,
    /// The name of the rule.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// The id of the escalation, where it is about one.
    #[serde(default)]
    pub escalation: Option<String>,
}

impl GovernanceEvent {
    /// That a request was decided about.
    pub fn decided(request: &GovernanceRequest, verdict: &GovernanceVerdict, at_ms: u64) -> Self {
        let kind = match verdict.decision {
            GovernanceDecision::Allow => GovernanceEventKind::Allowed,
            GovernanceDecision::Escalate(_) => GovernanceEventKind::Escalated,
            GovernanceDecision::Deny => GovernanceEventKind::Denied,
        };
        Self {
            version: 1,
            number: None,
            at_ms,
            kind,
            digest: verdict.request,
            request: request.clone(),
            rule: verdict.rule.name.clone(),
            reason: verdict.reason.clone(),
            escalation: None,
        }
    }

    /// What became of an escalation.
    pub fn of_escalation(record: &EscalationRecord, kind: GovernanceEventKind, at_ms: u64) -> Self {
        let answer = record.answer.as_ref().map(|answer| answer.reason.clone());
        Self {
            version: 1,
            number: None,
            at_ms,
            kind,
            digest: record.digest,
            request: record.request.clone(),
            rule: record.rule.clone(),
            reason: answer.unwrap_or_else(|| record.reason.clone()),
            escalation: Some(record.id.clone()),
        }
    }
}
