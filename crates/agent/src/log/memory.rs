//! A log in memory.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use super::{EventLog, LogError, check_order};
use crate::event::EventRecord;

/// A log in memory, which its copies share.
#[derive(Clone, Debug, Default)]
pub struct MemoryLog {
    records: Arc<Mutex<Vec<EventRecord>>>,
}

impl MemoryLog {
    /// A log with events, such as those of a fork.
    pub fn with(records: Vec<EventRecord>) -> Self {
        Self { records: Arc::new(Mutex::new(records)) }
    }

    /// All events.
    pub fn records(&self) -> Vec<EventRecord> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl EventLog for MemoryLog {
    fn append(&self, records: Vec<EventRecord>) -> BoxFuture<'_, Result<(), LogError>> {
        let mut all = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let checked = check_order(all.len() as u64, &records);
        if checked.is_ok() {
            all.extend(records);
        }
        ready(checked).boxed()
    }

    fn read(&self, from: u64) -> BoxFuture<'_, Result<Vec<EventRecord>, LogError>> {
        let before = usize::try_from(from.saturating_sub(1)).unwrap_or(usize::MAX);
        let records = self.records().into_iter().skip(before).collect();
        ready(Ok(records)).boxed()
    }
}
