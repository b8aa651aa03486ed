//! Who is told what happens.

pub(crate) mod queue;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::event::GovernanceEvent;

/// Is told what happens.
pub trait GovernanceObserver: Send + Sync {
    /// What it is called in errors.
    fn name(&self) -> &str;

    /// Takes an event. Where it returns an error, or panics, the event did not arrive.
    fn observe(&self, event: &GovernanceEvent) -> Result<(), ObserverError>;
}

/// An event did not arrive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.lines())]
pub struct ObserverError {
    /// The observers that it did not arrive at, and why.
    pub failures: Vec<(String, String)>,
}

impl ObserverError {
    /// The error of one observer.
    pub fn new(observer: &str, why: impl Into<String>) -> Self {
        Self { failures: vec![(observer.to_owned(), why.into())] }
    }

    fn lines(&self) -> String {
        let lines: Vec<String> =
            self.failures.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        lines.join("; ")
    }
}

/// Tells one observer, also one that panics.
pub(crate) fn tell(
    observer: &dyn GovernanceObserver,
    event: &GovernanceEvent,
) -> Result<(), ObserverError> {
    // Of the observer nothing is used after a panic but what it locks itself.
    let told = catch_unwind(AssertUnwindSafe(|| observer.observe(event)));
    told.unwrap_or_else(|_| Err(ObserverError::new(observer.name(), "it panicked")))
}

/// Tells several observers. One that fails keeps none of the others from being told.
#[derive(Default)]
pub struct CompositeObserver {
    observers: Vec<Arc<dyn GovernanceObserver>>,
}

impl CompositeObserver {
    /// Tells these, in this order.
    pub fn new(observers: Vec<Arc<dyn GovernanceObserver>>) -> Self {
        Self { observers }
    }
}

impl GovernanceObserver for CompositeObserver {
    fn name(&self) -> &str {
        "composite"
    }

    fn observe(&self, event: &GovernanceEvent) -> Result<(), ObserverError> {
        let mut failures = Vec::new();
        for observer in &self.observers {
            if let Err(error) = tell(observer.as_ref(), event) {
                failures.extend(error.failures);
            }
        }
        if failures.is_empty() { Ok(()) } else { Err(ObserverError { failures }) }
    }
}
