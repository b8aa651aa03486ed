//! Tasks that are gone with the process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::limits::A2aTaskLimits;
use crate::record::{A2aTaskChange, A2aTaskRecord};
use crate::store::table::Table;
use crate::store::{A2aChanged, A2aStoreError, A2aTaskQuery, A2aTaskSlice, A2aTaskStore};

/// Keeps tasks in memory.
#[derive(Debug, Default)]
pub struct A2aMemoryTasks {
    table: Mutex<Table>,
    limits: A2aTaskLimits,
}

impl A2aMemoryTasks {
    /// An empty store.
    #[must_use]
    pub fn new(limits: A2aTaskLimits) -> Self {
        Self { table: Mutex::default(), limits }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl A2aTaskStore for A2aMemoryTasks {
    fn create(&self, record: A2aTaskRecord) -> Result<(), A2aStoreError> {
        let mut table = self.table();
        for id in table.room_for(&record, &self.limits)? {
            table.remove(&id);
        }
        table.insert(record);
        Ok(())
    }

    fn change(&self, id: &str, change: A2aTaskChange) -> Result<A2aChanged, A2aStoreError> {
        let mut table = self.table();
        table.check(id, &change, &self.limits)?;
        table.commit(id, change, &self.limits)
    }

    fn get(&self, id: &str) -> Result<Option<A2aTaskRecord>, A2aStoreError> {
        Ok(self.table().get(id).cloned())
    }

    fn list(&self, query: &A2aTaskQuery) -> Result<A2aTaskSlice, A2aStoreError> {
        Ok(self.table().list(query))
    }

    fn unfinished(&self) -> Result<Vec<String>, A2aStoreError> {
        Ok(self.table().unfinished())
    }
}
