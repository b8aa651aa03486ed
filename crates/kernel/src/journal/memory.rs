//! A journal in memory, which can be told to fail.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use super::{JournalContents, JournalError, KernelJournal};

/// A journal in memory. Clones share what it keeps, so a test can open it again as another process would.
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    contents: JournalContents,
    appends: u64,
    fault: Option<(u64, JournalFault)>,
    broken: bool,
}

/// How an append fails. What was kept before stays, and all that follows fails until the journal is opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalFault {
    /// The process dies before anything is written.
    Before,
    /// A part of the batch is written, which is nothing once the journal is opened again.
    Torn,
    /// The process dies when all is written, and nobody is told.
    After,
}

impl MemoryJournal {
    /// Has the append with a number fail, counted from 1 over the life of the journal.
    pub fn fail_at(&self, append: u64, fault: JournalFault) {
        self.kept().fault = Some((append, fault));
    }

    /// How many appends there were.
    #[must_use]
    pub fn appends(&self) -> u64 {
        self.kept().appends
    }

    /// What another process finds that opens the journal.
    #[must_use]
    pub fn reopened(&self) -> Self {
        let contents = self.kept().contents.clone();
        let kept = Kept { contents, ..Kept::default() };
        Self { kept: Arc::new(Mutex::new(kept)) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn append(&mut self, first: u64, records: Vec<Vec<u8>>) -> Result<(), JournalError> {
        if self.broken {
            return Err(JournalError::Broken);
        }
        let next = self.contents.next();
        if first != next {
            return Err(JournalError::Moved { given: first, next });
        }
        self.appends += 1;
        let fault = self.fault.filter(|(append, _)| *append == self.appends);
        let Some((_, fault)) = fault else {
            self.contents.records.extend(records);
            return Ok(());
        };
        self.broken = true;
        if fault == JournalFault::After {
            self.contents.records.extend(records);
        }
        Err(JournalError::Storage(format!("a fault was planted: {fault:?}")))
    }

    fn compact(&mut self, last: u64, snapshot: Vec<u8>) -> Result<(), JournalError> {
        if self.broken {
            return Err(JournalError::Broken);
        }
        let (first, next) = (self.contents.first(), self.contents.next());
        if last + 1 < first || last >= next {
            return Err(JournalError::Moved { given: last, next });
        }
        let behind = usize::try_from(last + 1 - first).unwrap_or(usize::MAX);
        self.contents.records.drain(..behind);
        self.contents.snapshot = Some((last, snapshot));
        Ok(())
    }
}

impl KernelJournal for MemoryJournal {
    fn append(&self, first: u64, records: Vec<Vec<u8>>) -> BoxFuture<'_, Result<(), JournalError>> {
        ready(self.kept().append(first, records)).boxed()
    }

    fn read(&self) -> BoxFuture<'_, Result<JournalContents, JournalError>> {
        let kept = self.kept();
        let read = if kept.broken { Err(JournalError::Broken) } else { Ok(kept.contents.clone()) };
        ready(read).boxed()
    }

    fn compact(&self, last: u64, snapshot: Vec<u8>) -> BoxFuture<'_, Result<(), JournalError>> {
        ready(self.kept().compact(last, snapshot)).boxed()
    }
}
