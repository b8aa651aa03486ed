//! Where events are kept.

mod file;
mod memory;

use std::sync::Arc;

use futures::future::BoxFuture;

pub use self::file::FileLog;
pub use self::memory::MemoryLog;
use crate::event::EventRecord;

/// Keeps the events of one conversation, in order. Nothing is ever changed or taken out.
pub trait EventLog: Send + Sync {
    /// Adds events behind the last one. They are durable when this returns; all of them, or none.
    fn append(&self, records: Vec<EventRecord>) -> BoxFuture<'_, Result<(), LogError>>;

    /// The events from a number on, which begins at 1.
    fn read(&self, from: u64) -> BoxFuture<'_, Result<Vec<EventRecord>, LogError>>;
}

impl<L: EventLog + ?Sized> EventLog for Arc<L> {
    fn append(&self, records: Vec<EventRecord>) -> BoxFuture<'_, Result<(), LogError>> {
        (**self).append(records)
    }

    fn read(&self, from: u64) -> BoxFuture<'_, Result<Vec<EventRecord>, LogError>> {
        (**self).read(from)
    }
}

/// Why events cannot be kept or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// Somebody else added events.
    #[error(
        "event {given} cannot be added: the log has {last} events; another process may use the conversation"
    )]
    Moved {
        /// The number of the event.
        given: u64,
        /// How many events the log has.
        last: u64,
    },
    /// An event cannot be read.
    #[error("event {number} cannot be read: {why}")]
    Damaged {
        /// Its number.
        number: u64,
        /// What is wrong.
        why: String,
    },
    /// The place of the log fails.
    #[error("the log cannot be used: {0}")]
    Storage(String),
}

/// Checks that records follow one another, behind so many others.
fn check_order(last: u64, records: &[EventRecord]) -> Result<(), LogError> {
    for (expected, record) in (last + 1..).zip(records) {
        if record.number() != expected {
            return Err(LogError::Moved { given: record.number(), last });
        }
    }
    Ok(())
}
