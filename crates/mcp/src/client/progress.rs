//! How far a call is.

use std::sync::Arc;

/// Who is told how far a call is.
pub(super) type OnProgress = Arc<dyn Fn(&ToolProgress) + Send + Sync>;

/// How far a call is, in the server's words.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolProgress {
    /// How much is done.
    pub progress: f64,
    /// Of how much, where that is known.
    pub total: Option<f64>,
    /// What it does.
    pub message: Option<String>,
}
