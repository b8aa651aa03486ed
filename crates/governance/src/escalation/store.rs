//! Where escalations are kept.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::escalation::error::EscalationError;
use crate::escalation::record::{EscalationRecord, EscalationState};

/// Keeps records. It is where a grant becomes one that is used once: `replace` compares and changes in one step, for all processes that share the store.
pub trait EscalationStore: Send + Sync {
    /// The record with this id.
    fn get(&self, id: &str) -> Result<Option<EscalationRecord>, EscalationError>;

    /// Stores `after` durably if the record still is `before`, or is not there yet where that is none; says whether it did.
    fn replace(
        &self,
        before: Option<&EscalationRecord>,
        after: &EscalationRecord,
    ) -> Result<bool, EscalationError>;

    /// All records that wait for an answer, by their ids.
    fn pending(&self) -> Result<Vec<EscalationRecord>, EscalationError>;
}

/// Records in memory: for one process, and for tests.
#[derive(Debug, Default)]
pub struct MemoryEscalations {
    records: Mutex<BTreeMap<String, EscalationRecord>>,
}

impl EscalationStore for MemoryEscalations {
    fn get(&self, id: &str) -> Result<Option<EscalationRecord>, EscalationError> {
        Ok(self.records.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned())
    }

    fn replace(
        &self,
        before: Option<&EscalationRecord>,
        after: &EscalationRecord,
    ) -> Result<bool, EscalationError> {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = records.get(&after.id) == before;
        if is_same {
            records.insert(after.id.clone(), after.clone());
        }
        Ok(is_same)
    }

    fn pending(&self) -> Result<Vec<EscalationRecord>, EscalationError> {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |record: &&EscalationRecord| record.state == EscalationState::Pending;
        Ok(records.values().filter(waits).cloned().collect())
    }
}

/// A store that several share.
impl<S: EscalationStore + ?Sized> EscalationStore for std::sync::Arc<S> {
    fn get(&self, id: &str) -> Result<Option<EscalationRecord>, EscalationError> {
        (**self).get(id)
    }

    fn replace(
        &self,
        before: Option<&EscalationRecord>,
        after: &EscalationRecord,
    ) -> Result<bool, EscalationError> {
        (**self).replace(before, after)
    }

    fn pending(&self) -> Result<Vec<EscalationRecord>, EscalationError> {
        (**self).pending()
    }
}
