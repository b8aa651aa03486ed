//! Questions of governance.

use offshoot_governance::{EscalationTarget, GovernanceRequest};
use serde::{Deserialize, Serialize};

/// The tool that asks an agent of rules.
pub(crate) const DECIDE: &str = "governance.decide";

/// Whom governance asks, and about what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Asking {
    pub(crate) ask: EscalationTarget,
    pub(crate) request: GovernanceRequest,
}
