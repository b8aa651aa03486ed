//! How many requests go at once, and in a minute.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

/// How many requests go at once, and in a minute. By default as many as are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateLimits {
    /// How many go at once, each until its answer ends.
    pub concurrency: Option<u32>,
    /// How many go in a minute.
    pub per_minute: Option<u32>,
    /// How many of these may go without a pause; at least one.
    pub burst: u32,
}

/// Lets requests through.
pub(super) struct Gate {
    concurrency: Option<Arc<Semaphore>>,
    rate: Option<Rate>,
}

/// The right to have a request under way.
pub(super) struct Ticket {
    _permit: Option<OwnedSemaphorePermit>,
}

struct Rate {
    interval: Duration,
    /// How far ahead of time requests may be.
    ahead: Duration,
    /// The time of the next request if all went evenly.
    next: Mutex<Option<Instant>>,
}

impl Gate {
    pub(super) fn new(limits: GateLimits) -> Self {
        let rate = limits.per_minute.map(|per_minute| {
            let interval = Duration::from_secs(60) / per_minute.max(1);
            Rate {
                interval,
                ahead: interval * limits.burst.saturating_sub(1),
                next: Mutex::new(None),
            }
        });
        let concurrency =
            limits.concurrency.map(|most| Arc::new(Semaphore::new(most.max(1) as usize)));
        Self { concurrency, rate }
    }

    /// Waits for the turn of a request.
    pub(super) async fn enter(&self) -> Ticket {
        let permit = match &self.concurrency {
            // It is never closed.
            Some(semaphore) => Arc::clone(semaphore).acquire_owned().await.ok(),
            None => None,
        };
        if let Some(wait) = self.rate.as_ref().map(Rate::take).filter(|wait| !wait.is_zero()) {
            sleep(wait).await;
        }
        Ticket { _permit: permit }
    }
}

impl Rate {
    /// Takes the next turn, and says how long it is until then.
    fn take(&self) -> Duration {
        let now = Instant::now();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = next.unwrap_or(now).max(now);
        *next = Some(turn + self.interval);
        turn.saturating_duration_since(now).saturating_sub(self.ahead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_spread_over_a_minute() {
        let limits = GateLimits { per_minute: Some(60), burst: 3, concurrency: None };
        let gate = Gate::new(limits);
        let rate = gate.rate.as_ref().unwrap();
        let waits: Vec<u64> =
            (0..5).map(|_| rate.take().as_millis().div_ceil(100) as u64 * 100).collect();
        assert_eq!(waits, [0, 0, 0, 1000, 2000]);
    }
}
