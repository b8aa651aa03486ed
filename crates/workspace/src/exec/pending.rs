//! What is known about an approval while a request is on its way.

use std::time::Duration;

use offshoot_protocol::ApprovalFallback;
use offshoot_vault::Approval;

use crate::approval::rules_now::RulesNow;

/// What is the same for all approvals of a process.
#[derive(Clone, Debug)]
pub struct ApprovalTerms {
    /// How long there is to decide.
    pub expire: Duration,
    /// What becomes of what nobody decides in time.
    pub fallback: ApprovalFallback,
    /// What may be approved of then, by the rules as they are when it is decided.
    pub now: RulesNow,
}

/// What is known about the approval that a request needs.
#[derive(Clone, Debug)]
pub struct PendingApproval {
    /// What the request is recognised by.
    pub(super) digest: String,
    /// What the same command of the same session is recognised by.
    pub(super) repeats: String,
    /// The network that it was asked with, as `--net` has it.
    pub(super) network: String,
    /// The approval as it was recorded.
    pub approval: Option<Approval>,
}
