//! What more than one document about commands has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Output that is not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TruncatedDoc {
    /// Bytes of standard output that are missing at the end.
    pub stdout_bytes: u64,
    /// Bytes of standard error that are missing at the end.
    pub stderr_bytes: u64,
}

pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}
