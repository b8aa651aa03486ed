//! Leaves a server alone that fails again and again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{ErrorKind, ProviderError};

/// When a server is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerPolicy {
    /// After how many failures in a row; 0 is never.
    pub failures: u32,
    /// How long.
    pub pause: Duration,
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        Self { failures: 5, pause: Duration::from_secs(30) }
    }
}

/// Counts failures.
pub(super) struct Breaker {
    policy: BreakerPolicy,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    failures: u32,
    /// Until when nothing is sent.
    open: Option<Instant>,
    /// Whether a request is under way that tries whether the server is back.
    is_tried: bool,
}

/// The right to send a request, and the duty to say how it went. Dropped without a word, it says nothing of the server.
pub(super) struct Pass {
    breaker: Arc<Breaker>,
    is_trial: bool,
}

impl Breaker {
    pub(super) fn new(policy: BreakerPolicy) -> Self {
        Self { policy, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a request through, unless the server is left alone.
    pub(super) fn enter(self: &Arc<Self>) -> Result<Pass, ProviderError> {
        let mut state = self.state();
        let Some(open) = state.open else {
            return Ok(Pass { breaker: Arc::clone(self), is_trial: false });
        };
        let left = open.saturating_duration_since(Instant::now());
        if left.is_zero() && !state.is_tried {
            state.is_tried = true;
            return Ok(Pass { breaker: Arc::clone(self), is_trial: true });
        }
        let message =
            format!("the server failed {} times in a row, and is left alone", state.failures);
        let error = ProviderError::new(ErrorKind::Overloaded, message);
        Err(error.with_retry_after(Some(left)))
    }
}

impl Pass {
    /// The server answered.
    pub(super) fn succeeded(&mut self) {
        *self.breaker.state() = State::default();
        self.is_trial = false;
    }

    /// The request failed, which may be the server's fault.
    pub(super) fn failed(&mut self, error: &ProviderError) {
        let policy = self.breaker.policy;
        if !error.is_servers() {
            // It answered, if only with a refusal.
            return self.succeeded();
        }
        let mut state = self.breaker.state();
        state.failures = state.failures.saturating_add(1);
        if policy.failures > 0 && state.failures >= policy.failures {
            state.open = Some(Instant::now() + policy.pause);
        }
        if std::mem::take(&mut self.is_trial) {
            state.is_tried = false;
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if self.is_trial {
            self.breaker.state().is_tried = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> ProviderError {
        ProviderError::new(ErrorKind::Overloaded, "no")
    }

    #[test]
    fn a_server_is_left_alone_and_tried_by_one() {
        let policy = BreakerPolicy { failures: 2, pause: Duration::from_millis(30) };
        let breaker = Arc::new(Breaker::new(policy));
        breaker.enter().unwrap().failed(&failure());
        breaker.enter().unwrap().failed(&failure());
        let error = breaker.enter().err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Overloaded);
        assert!(error.details().retry_after.unwrap() <= Duration::from_millis(30));
        std::thread::sleep(Duration::from_millis(40));
        let trial = breaker.enter().unwrap();
        assert!(breaker.enter().is_err(), "one at a time");
        drop(trial);
        let mut trial = breaker.enter().unwrap();
        trial.failed(&failure());
        assert!(breaker.enter().is_err(), "for another pause");
        std::thread::sleep(Duration::from_millis(40));
        breaker.enter().unwrap().succeeded();
        assert!(breaker.enter().is_ok() && breaker.enter().is_ok());
    }

    #[test]
    fn refusals_are_no_failures_of_the_server() {
        let policy = BreakerPolicy { failures: 1, pause: Duration::from_secs(60) };
        let breaker = Arc::new(Breaker::new(policy));
        for kind in [ErrorKind::BadRequest, ErrorKind::RateLimited, ErrorKind::Auth] {
            breaker.enter().unwrap().failed(&ProviderError::new(kind, "no"));
        }
        assert!(breaker.enter().is_ok());
    }
}
