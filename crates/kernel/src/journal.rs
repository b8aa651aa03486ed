//! Where records are kept.

mod file;
mod frame;
mod memory;

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;

pub use self::file::FileJournal;
pub use self::memory::{JournalFault, MemoryJournal};

/// Keeps the records of one agent, in order, and at most one snapshot that stands for the first ones. The design page has the contract.
pub trait KernelJournal: Send + Sync + 'static {
    /// Adds records behind the last one, of which the first has a number. They are durable when this returns; all of them, or none.
    fn append(&self, first: u64, records: Vec<Vec<u8>>) -> BoxFuture<'_, Result<(), JournalError>>;

    /// All that is kept.
    fn read(&self) -> BoxFuture<'_, Result<JournalContents, JournalError>>;

    /// Has a snapshot stand for the records up to a number.
    fn compact(&self, last: u64, snapshot: Vec<u8>) -> BoxFuture<'_, Result<(), JournalError>>;
}

/// What a journal keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalContents {
    /// The number of the last record that the snapshot stands for, and the snapshot.
    pub snapshot: Option<(u64, Vec<u8>)>,
    /// The records behind it.
    pub records: Vec<Vec<u8>>,
}

impl JournalContents {
    /// The number that the next record gets.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.first() + self.records.len() as u64
    }

    /// The number of the first record behind the snapshot.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.snapshot.as_ref().map_or(1, |(last, _)| last + 1)
    }
}

/// Why records cannot be kept or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// Somebody else added records.
    #[error(
        "record {given} cannot be added, the next one is {next}; another kernel may use the journal"
    )]
    Moved {
        /// The number of the record.
        given: u64,
        /// The number that would be next.
        next: u64,
    },
    /// Another process has it open.
    #[error("{path} is open in another process; stop that one first")]
    Locked {
        /// The journal.
        path: PathBuf,
    },
    /// What is there is no journal, or was changed.
    #[error("{path} is damaged at byte {offset}: {why}; restore it from a copy")]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// What is wrong.
        why: String,
    },
    /// It is of another version.
    #[error(
        "{path} has version {version} of the format, only {known} is known; use a newer program"
    )]
    Version {
        /// The journal.
        path: PathBuf,
        /// Its version.
        version: u8,
        /// The one that is known.
        known: u8,
    },
    /// A batch is too large.
    #[error("a batch of {bytes} bytes is too large for a journal, the limit is {limit}")]
    TooLarge {
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        limit: usize,
    },
    /// An earlier write failed, and what is durable is not known.
    #[error("an earlier write to the journal failed; open it again")]
    Broken,
    /// The place of the journal fails.
    #[error("the journal cannot be used: {0}")]
    Storage(String),
}

impl<J: KernelJournal + ?Sized> KernelJournal for Arc<J> {
    fn append(&self, first: u64, records: Vec<Vec<u8>>) -> BoxFuture<'_, Result<(), JournalError>> {
        (**self).append(first, records)
    }

    fn read(&self) -> BoxFuture<'_, Result<JournalContents, JournalError>> {
        (**self).read()
    }

    fn compact(&self, last: u64, snapshot: Vec<u8>) -> BoxFuture<'_, Result<(), JournalError>> {
        (**self).compact(last, snapshot)
    }
}

impl<J: KernelJournal + ?Sized> KernelJournal for Box<J> {
    fn append(&self, first: u64, records: Vec<Vec<u8>>) -> BoxFuture<'_, Result<(), JournalError>> {
        (**self).append(first, records)
    }

    fn read(&self) -> BoxFuture<'_, Result<JournalContents, JournalError>> {
        (**self).read()
    }

    fn compact(&self, last: u64, snapshot: Vec<u8>) -> BoxFuture<'_, Result<(), JournalError>> {
        (**self).compact(last, snapshot)
    }
}
