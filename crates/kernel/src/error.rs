//! Why the kernel cannot do something.

use crate::input::KernelRefusal;
use crate::journal::JournalError;
use crate::state::SnapshotError;

/// Why the kernel did not do something.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// It does not do that. Nothing changed.
    #[error(transparent)]
    Refused(#[from] KernelRefusal),
    /// The journal failed. Whether it happened is known when the journal is opened again.
    #[error("the journal failed, and the kernel stopped: {0}")]
    Journal(#[from] JournalError),
    /// The kernel does not run any more. Whether it happened is known when the journal is opened again.
    #[error("the kernel does not run any more; open its journal again")]
    Stopped,
    /// A record of the journal cannot be read.
    #[error("record {number} of the journal cannot be read: {why}")]
    Unreadable {
        /// Its number.
        number: u64,
        /// What is wrong.
        why: String,
    },
    /// The snapshot of the journal cannot be used.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// `on_bootstrap` failed.
    #[error("on_bootstrap failed: {0}")]
    Bootstrap(String),
}
