//! Tasks in memory: by name, and by when they changed last.

use std::collections::{BTreeSet, HashMap};

use crate::limits::A2aTaskLimits;
use crate::record::{A2aTaskChange, A2aTaskRecord};
use crate::store::{A2aChanged, A2aStoreError, A2aTaskQuery, A2aTaskSlice};

/// All tasks of a store.
#[derive(Debug, Default)]
pub(super) struct Table {
    records: HashMap<String, A2aTaskRecord>,
    order: BTreeSet<(i64, String)>,
    /// Bytes of all records.
    weight: usize,
}

impl Table {
    /// The oldest tasks that have to go before this one can come.
    pub(super) fn room_for(
        &self,
        record: &A2aTaskRecord,
        limits: &A2aTaskLimits,
    ) -> Result<Vec<String>, A2aStoreError> {
        let (mut tasks, mut weight) = (self.records.len() + 1, self.weight + record.weight);
        let mut gone = Vec::new();
        let fits = |tasks: usize, weight: usize| tasks <= limits.tasks && weight <= limits.bytes;
        for (_, id) in &self.order {
            if fits(tasks, weight) {
                break;
            }
            let known = &self.records[id];
            if known.state().is_terminal() {
                tasks -= 1;
                weight -= known.weight;
                gone.push(id.clone());
            }
        }
        if record.weight > limits.task_bytes || !fits(tasks, weight) {
            return Err(A2aStoreError::Full { tasks: limits.tasks, bytes: limits.bytes });
        }
        Ok(gone)
    }

    pub(super) fn insert(&mut self, record: A2aTaskRecord) {
        let id = record.task.id.clone();
        self.remove(&id);
        self.order.insert((record.changed, id.clone()));
        self.weight += record.weight;
        self.records.insert(id, record);
    }

    pub(super) fn remove(&mut self, id: &str) {
        if let Some(record) = self.records.remove(id) {
            self.order.remove(&(record.changed, record.task.id));
            self.weight -= record.weight;
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<&A2aTaskRecord> {
        self.records.get(id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &A2aTaskRecord> {
        self.order.iter().map(|(_, id)| &self.records[id])
    }

    /// Whether a change may be made.
    pub(super) fn check(
        &self,
        id: &str,
        change: &A2aTaskChange,
        limits: &A2aTaskLimits,
    ) -> Result<(), A2aStoreError> {
        let missing = || A2aStoreError::NotFound { id: id.to_owned() };
        Ok(self.get(id).ok_or_else(missing)?.check(&change.what, limits)?)
    }

    /// Makes a change that was checked.
    pub(super) fn commit(
        &mut self,
        id: &str,
        change: A2aTaskChange,
        limits: &A2aTaskLimits,
    ) -> Result<A2aChanged, A2aStoreError> {
        let missing = || A2aStoreError::NotFound { id: id.to_owned() };
        let record = self.records.get_mut(id).ok_or_else(missing)?;
        let (changed, weight) = (record.changed, record.weight);
        let event = record.commit(change, limits);
        self.weight = self.weight - weight + record.weight;
        if record.changed != changed {
            self.order.remove(&(changed, id.to_owned()));
            self.order.insert((record.changed, id.to_owned()));
        }
        let pushes = event.as_ref().map(|_| record.pushes.clone()).unwrap_or_default();
        Ok(A2aChanged { event, state: record.state(), pushes })
    }

    pub(super) fn list(&self, query: &A2aTaskQuery) -> A2aTaskSlice {
        let mut slice = A2aTaskSlice::default();
        let mut last = None;
        for key in self.order.iter().rev() {
            let record = &self.records[&key.1];
            let fits = record.owner == query.owner
                && query.context.as_ref().is_none_or(|context| record.task.context_id == *context)
                && query.state.is_none_or(|state| record.state() == state)
                && query.since.is_none_or(|since| record.changed >= since);
            if !fits {
                continue;
            }
            slice.total += 1;
            if query.after.as_ref().is_some_and(|after| key >= after) {
                continue;
            }
            if slice.tasks.len() < query.most {
                slice.tasks.push(record.view(query.history, query.artifacts));
                last = Some(key.clone());
            } else if slice.next.is_none() {
                slice.next = last.take();
            }
        }
        slice
    }

    pub(super) fn unfinished(&self) -> Vec<String> {
        let open = self.all().filter(|record| !record.state().is_terminal());
        open.map(|record| record.task.id.clone()).collect()
    }
}
