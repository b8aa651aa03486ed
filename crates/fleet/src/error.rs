//! What can go wrong.

use std::path::PathBuf;

use offshoot_coder::CoderError;
use offshoot_governance::{OutboxError, PolicyError};
use offshoot_kernel::{JournalError, KernelError};
use offshoot_registry::AgentRegistryError;
use offshoot_transport::{IdentityError, PeerCallError, PeerConnectError};

/// Why an agent cannot be served or called.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The file of an agent cannot be used.
    #[error("{}: {problem}", path.display())]
    Definition {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file that it names cannot be read or written.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Rules of governance.
    #[error("{0}")]
    Rules(#[from] PolicyError),
    /// Another process serves the agent.
    #[error("agent {name} is served already")]
    Served {
        /// The agent.
        name: String,
    },
    /// No registry knows the agent.
    #[error("no registry knows an agent {name}")]
    Unknown {
        /// The agent.
        name: String,
        /// The registries that did not answer.
        silent: Vec<String>,
    },
    /// An answer is not what was asked for.
    #[error("{name} answered something else: {why}")]
    Answer {
        /// The agent.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// The kernel.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The journal.
    #[error(transparent)]
    Journal(JournalError),
    /// The outbox.
    #[error("{0}")]
    Outbox(#[from] OutboxError),
    /// A registry.
    #[error(transparent)]
    Registry(#[from] AgentRegistryError),
    /// Names, tokens and certificates.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// A connection.
    #[error(transparent)]
    Connect(#[from] PeerConnectError),
    /// A call.
    #[error(transparent)]
    Call(#[from] PeerCallError),
    /// The agent's work.
    #[error(transparent)]
    Coder(#[from] CoderError),
    /// The project.
    #[error(transparent)]
    Engine(#[from] offshoot_engine::Error),
}

impl FleetError {
    /// Whether there was no answer in time; the task goes on then.
    pub fn is_late(&self) -> bool {
        matches!(self, Self::Call(PeerCallError::Deadline { .. }))
    }

    pub(crate) fn file(path: impl Into<PathBuf>, why: impl ToString) -> Self {
        Self::File { path: path.into(), why: why.to_string() }
    }
}
