//! An outbox in memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::event::GovernanceEvent;
use crate::outbox::{GovernanceOutbox, OutboxEntry, OutboxError};

/// An outbox that ends with its process: for tests, and where nothing has to outlive it.
#[derive(Debug, Default)]
pub struct MemoryOutbox {
    events: Mutex<(u64, BTreeMap<u64, GovernanceEvent>)>,
}

impl MemoryOutbox {
    fn events(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, GovernanceEvent>)> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GovernanceOutbox for MemoryOutbox {
    fn append(&self, event: &GovernanceEvent) -> Result<u64, OutboxError> {
        let mut events = self.events();
        events.0 += 1;
        let number = events.0;
        events.1.insert(number, event.clone());
        Ok(number)
    }

    fn acknowledge(&self, number: u64) -> Result<(), OutboxError> {
        self.events().1.remove(&number);
        Ok(())
    }

    fn next_after(&self, number: u64) -> Result<Option<OutboxEntry>, OutboxError> {
        let events = self.events();
        let mut behind = events.1.range((Bound::Excluded(number), Bound::Unbounded));
        Ok(behind
            .next()
            .map(|(number, event)| OutboxEntry { number: *number, event: event.clone() }))
    }

    fn len(&self) -> usize {
        self.events().1.len()
    }
}
