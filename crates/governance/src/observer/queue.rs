//! A queue before an observer that may be slow, fail or hang.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::event::GovernanceEvent;
use crate::observer::{GovernanceObserver, ObserverError, tell};
use crate::outbox::GovernanceOutbox;

/// After so many failures in a row the observer is given time.
const FAILURES_IN_A_ROW: u32 = 3;

/// How much a queue holds and how long it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// How many events are kept in memory that may be lost.
    pub capacity: usize,
    /// How long the observer is left alone after it failed, in milliseconds. The time doubles with each pass that fails.
    pub first_wait_ms: u64,
    /// The longest such time.
    pub longest_wait_ms: u64,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { capacity: 1024, first_wait_ms: 100, longest_wait_ms: 60_000 }
    }
}

/// What came of events so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStats {
    /// How many arrived.
    pub delivered: u64,
    /// How many deliveries failed.
    pub failed: u64,
    /// How many were dropped because the queue was full. None of them had to arrive.
    pub dropped: u64,
}

/// What one call of [`ObserverQueue::pump`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PumpReport {
    /// How many events arrived.
    pub delivered: usize,
    /// How many deliveries failed.
    pub failed: usize,
    /// When to try again, in milliseconds; none where the observer is not left alone.
    pub wait_until_ms: Option<u64>,
}

/// Stands before an observer, so that telling it takes no longer than one append to the outbox, and that only for what must arrive. See
/// `docs/design/governance.md`.
///
/// ```
/// use std::sync::Arc;
///
/// use offshoot_governance::{
///     GovernanceEngine, GovernanceEvent, GovernanceGate, GovernanceObserver, GovernanceOptions, GovernanceRequest,
///     GovernedAction, MemoryOutbox, ObserverError, ObserverQueue, QueueLimits,
/// };
///
/// struct Print;
///
/// impl GovernanceObserver for Print {
///     fn name(&self) -> &str {
///         "print"
///     }
///
///     fn observe(&self, event: &GovernanceEvent) -> Result<(), ObserverError> {
///         println!("{} {}: {}", event.kind, event.request.target, event.reason);
///         Ok(())
///     }
/// }
///
/// let queue = Arc::new(ObserverQueue::new(Arc::new(Print), Arc::new(MemoryOutbox::default()), QueueLimits::default()));
/// let engine = GovernanceEngine::new(&GovernanceOptions::of(Vec::new()))?;
/// let gate = GovernanceGate::new(Arc::new(engine), Arc::clone(&queue) as _);
/// gate.decide(&GovernanceRequest::new("helper", GovernedAction::Spend, "account"), 0);
/// // A thread of its own does this again and again.
/// assert_eq!(queue.pump(0, 100)?.delivered, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ObserverQueue {
    observer: Arc<dyn GovernanceObserver>,
    outbox: Arc<dyn GovernanceOutbox>,
    limits: QueueLimits,
    state: Mutex<QueueState>,
    /// Held by whoever delivers, so that no event is delivered by two at once.
    delivering: Mutex<()>,
    arrived: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<GovernanceEvent>,
    stats: QueueStats,
    /// The number behind which the next pass begins.
    cursor: u64,
    /// How many passes in a row failed.
    failing: u32,
    wait_until_ms: Option<u64>,
    /// Something came since somebody last waited.
    has_news: bool,
}

impl ObserverQueue {
    /// A queue before this observer. What is left in the outbox from before is delivered, too.
    pub fn new(
        observer: Arc<dyn GovernanceObserver>,
        outbox: Arc<dyn GovernanceOutbox>,
        limits: QueueLimits,
    ) -> Self {
        let state = Mutex::new(QueueState { has_news: true, ..QueueState::default() });
        let (delivering, arrived) = (Mutex::new(()), Condvar::new());
        Self { observer, outbox, limits, state, delivering, arrived }
    }

    /// What came of events so far.
    pub fn stats(&self) -> QueueStats {
        self.state().stats
    }

    /// How many events wait in memory.
    pub fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    /// Delivers up to `most` events. The one who calls this waits for the observer, so it is a thread of its own.
    pub fn pump(&self, now_ms: u64, most: usize) -> Result<PumpReport, ObserverError> {
        let _delivering = self.delivering.lock().unwrap_or_else(PoisonError::into_inner);
        let mut report = PumpReport::default();
        if let Some(until) = self.state().wait_until_ms.filter(|until| now_ms < *until) {
            report.wait_until_ms = Some(until);
            return Ok(report);
        }
        let mut in_a_row = 0;
        self.pump_outbox(most, &mut report, &mut in_a_row)?;
        while in_a_row < FAILURES_IN_A_ROW && report.delivered + report.failed < most {
            let Some(event) = self.state().waiting.pop_front() else { break };
            if self.deliver(&event, &mut report, &mut in_a_row) {
                continue;
            }
            // It goes back to its place, if that was not taken meanwhile.
            let mut state = self.state();
            if state.waiting.len() < self.limits.capacity {
                state.waiting.push_front(event);
            } else {
                state.stats.dropped += 1;
            }
            break;
        }
        let mut state = self.state();
        if in_a_row > 0 {
            let doublings = state.failing.min(32);
            let wait = self.limits.first_wait_ms.saturating_mul(1 << doublings);
            let until = now_ms.saturating_add(wait.min(self.limits.longest_wait_ms));
            state.failing = state.failing.saturating_add(1);
            state.wait_until_ms = Some(until);
            report.wait_until_ms = Some(until);
        } else {
            state.failing = 0;
            state.wait_until_ms = None;
        }
        Ok(report)
    }

    /// Delivers what must arrive: once around from where the last pass stopped.
    fn pump_outbox(
        &self,
        most: usize,
        report: &mut PumpReport,
        in_a_row: &mut u32,
    ) -> Result<(), ObserverError> {
        let failed = |error: crate::outbox::OutboxError| {
            ObserverError::new(self.observer.name(), error.to_string())
        };
        let start = self.state().cursor;
        let mut after = start;
        let mut has_wrapped = start == 0;
        while *in_a_row < FAILURES_IN_A_ROW && report.delivered + report.failed < most {
            let next = self.outbox.next_after(after).map_err(failed)?;
            // After the end it goes on at the beginning, up to where it began.
            let next = next.filter(|entry| !has_wrapped || start == 0 || entry.number <= start);
            let Some(entry) = next else {
                if has_wrapped {
                    self.state().cursor = 0;
                    return Ok(());
                }
                (after, has_wrapped) = (0, true);
                continue;
            };
            after = entry.number;
            let event = GovernanceEvent { number: Some(entry.number), ..entry.event };
            if self.deliver(&event, report, in_a_row) {
                self.outbox.acknowledge(entry.number).map_err(failed)?;
            }
            self.state().cursor = after;
        }
        Ok(())
    }

    fn deliver(
        &self,
        event: &GovernanceEvent,
        report: &mut PumpReport,
        in_a_row: &mut u32,
    ) -> bool {
        let arrived = tell(self.observer.as_ref(), event).is_ok();
        let mut state = self.state();
        if arrived {
            *in_a_row = 0;
            report.delivered += 1;
            state.stats.delivered += 1;
        } else {
            *in_a_row += 1;
            report.failed += 1;
            state.stats.failed += 1;
        }
        arrived
    }

    /// Waits until something came since the last call, at most so long; says whether it did.
    pub fn wait(&self, timeout: Duration) -> bool {
        let state = self.state();
        let waited = self.arrived.wait_timeout_while(state, timeout, |state| !state.has_news);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.has_news)
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GovernanceObserver for ObserverQueue {
    fn name(&self) -> &str {
        self.observer.name()
    }

    fn observe(&self, event: &GovernanceEvent) -> Result<(), ObserverError> {
        if event.kind.must_arrive() {
            let appended = self.outbox.append(event);
            appended.map_err(|error| ObserverError::new(self.name(), error.to_string()))?;
        }
        let mut state = self.state();
        if !event.kind.must_arrive() {
            if state.waiting.len() >= self.limits.capacity {
                state.stats.dropped += 1;
                return Ok(());
            }
            state.waiting.push_back(event.clone());
        }
        state.has_news = true;
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }
}
