//! What a file of Rego answers.

use offshoot_vocabulary::PolicyDecision;

/// What a policy said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) decision: Option<PolicyDecision>,
    pub(super) reason: Option<String>,
    pub(super) deny: Vec<String>,
    pub(super) require_approval: Vec<String>,
}
