//! What can go wrong.

use offshoot_agent::AgentError;

/// Why the agent cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum CoderError {
    /// The turns.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The workspace, the session or the vault.
    #[error(transparent)]
    Engine(#[from] offshoot_engine::Error),
    /// Work on another thread broke off.
    #[error("work broke off: {0}")]
    Broken(String),
}
