//! Where the events of a plan are kept.

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::Mutex;

use super::event::PlanEvent;
use super::state::PlanState;
use crate::journal::{JournalError, KernelJournal};

/// Keeps the events of one plan.
pub trait PlanStore: Send + Sync {
    /// How far the plan is.
    fn load(&self) -> BoxFuture<'_, Result<PlanState, String>>;

    /// Adds events. They are durable when this returns; all of them, or none.
    fn append(&self, events: Vec<PlanEvent>) -> BoxFuture<'_, Result<(), String>>;
}

/// A plan in a journal of its own.
#[derive(Debug)]
pub struct JournalPlanStore<J> {
    journal: J,
    next: Mutex<u64>,
}

impl<J: KernelJournal> JournalPlanStore<J> {
    /// A store in a journal, which is for one plan alone.
    pub fn new(journal: J) -> Self {
        Self { journal, next: Mutex::new(1) }
    }
}

impl<J: KernelJournal> PlanStore for JournalPlanStore<J> {
    fn load(&self) -> BoxFuture<'_, Result<PlanState, String>> {
        async {
            let contents = self.journal.read().await.map_err(|error| error.to_string())?;
            let mut state = PlanState::default();
            for record in &contents.records {
                let event = serde_json::from_slice(record).map_err(|error| error.to_string())?;
                state.apply(&event);
            }
            *self.next.lock().await = contents.next();
            Ok(state)
        }
        .boxed()
    }

    fn append(&self, events: Vec<PlanEvent>) -> BoxFuture<'_, Result<(), String>> {
        async move {
            let records: Result<Vec<Vec<u8>>, serde_json::Error> =
                events.iter().map(serde_json::to_vec).collect();
            let records = records.map_err(|error| error.to_string())?;
            let mut next = self.next.lock().await;
            let count = records.len() as u64;
            let appended: Result<(), JournalError> = self.journal.append(*next, records).await;
            appended.map_err(|error| error.to_string())?;
            *next += count;
            Ok(())
        }
        .boxed()
    }
}
