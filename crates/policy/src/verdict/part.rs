//! What was decided about one part of a request.

use std::sync::Arc;

use offshoot_vocabulary::PolicyDecision;

use crate::judged::Judged;
use crate::verdict::rule_info::RuleInfo;

/// What rules say about one part. Rego speaks about the whole request only, so that a part may be stricter than the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartVerdict {
    /// The part.
    pub judged: Judged,
    /// What was decided about it alone.
    pub decision: PolicyDecision,
    /// The rule that decided.
    pub rule: Arc<RuleInfo>,
}
