//! Events that must arrive, kept until they did.

pub(crate) mod file;
pub(crate) mod line;
pub(crate) mod memory;

use crate::event::GovernanceEvent;

/// An event that has not been acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// Its number: 1 for the first one ever, and never used again.
    pub number: u64,
    /// The event.
    pub event: GovernanceEvent,
}

/// What is wrong with an outbox.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutboxError {
    /// It holds as much as it may.
    #[error(
        "the outbox has {bytes} bytes, and {most} is the most; see why its events do not arrive"
    )]
    Full {
        /// How many bytes it would have.
        bytes: u64,
        /// How many it may have.
        most: u64,
    },
    /// A line is wrong, and others follow it.
    #[error("line {line} of the outbox is damaged: {why}; set the file aside to begin a new one")]
    Damaged {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// Somebody else writes to it.
    #[error("the outbox has {found} bytes in place of {expected}: another process uses it")]
    Moved {
        /// How long it was left.
        expected: u64,
        /// How long it is.
        found: u64,
    },
    /// The disk failed.
    #[error("the outbox cannot be used: {0}")]
    Storage(String),
}

/// Keeps events until they arrived. Appending is durable before it returns. Acknowledging need not be: an event that comes again has the same number.
pub trait GovernanceOutbox: Send + Sync {
    /// Keeps an event, and gives it a number.
    fn append(&self, event: &GovernanceEvent) -> Result<u64, OutboxError>;

    /// Keeps it no longer. What is not there was acknowledged before.
    fn acknowledge(&self, number: u64) -> Result<(), OutboxError>;

    /// The first event behind a number that was not acknowledged.
    fn next_after(&self, number: u64) -> Result<Option<OutboxEntry>, OutboxError>;

    /// How many events were not acknowledged.
    fn len(&self) -> usize;

    /// Whether all events arrived.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
