//! Starting again what failed.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::Instant;

use crate::task::TaskRetry;

/// How often something is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartPolicy {
    /// At most so many restarts,
    pub max: usize,
    /// within this time, in milliseconds.
    pub window_ms: u64,
    /// The first wait, which doubles with each restart in the window.
    pub base_ms: u64,
    /// The longest wait.
    pub max_ms: u64,
}

impl Default for RestartPolicy {
    fn default() -> Self {
        Self { max: 5, window_ms: 60_000, base_ms: 100, max_ms: 10_000 }
    }
}

/// Starts something again that ends with an error or panics, as often as its policy allows.
///
/// ```
/// use offshoot_kernel::{RestartPolicy, Supervisor};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let mut starts = 0;
/// let supervisor = Supervisor::new(RestartPolicy { base_ms: 1, ..RestartPolicy::default() });
/// let run = supervisor.run(|| {
///     starts += 1;
///     std::future::ready(if starts < 3 { Err("not yet") } else { Ok(starts) })
/// });
/// assert_eq!(run.await, Ok(3));
/// # });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Supervisor {
    policy: RestartPolicy,
    seed: u64,
}

/// Why something is not started again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed {failures} times within {window_ms} ms, the last time because: {last}")]
pub struct GaveUp {
    /// How often it failed within the window.
    pub failures: usize,
    /// The window.
    pub window_ms: u64,
    /// Why it failed the last time.
    pub last: String,
}

impl Supervisor {
    /// A supervisor with a policy.
    #[must_use]
    pub fn new(policy: RestartPolicy) -> Self {
        Self { policy, seed: 0 }
    }

    /// With a seed for the waits.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Runs something until it succeeds, or fails too often.
    pub async fn run<T, E, F, R>(&self, mut start: F) -> Result<T, GaveUp>
    where
        E: std::fmt::Display,
        F: FnMut() -> R,
        R: Future<Output = Result<T, E>>,
    {
        let mut failures: VecDeque<Instant> = VecDeque::new();
        let window = Duration::from_millis(self.policy.window_ms);
        loop {
            // It may panic before it makes a future, too.
            let ended = AssertUnwindSafe(async { start().await }).catch_unwind().await;
            let last = match ended {
                Ok(Ok(done)) => return Ok(done),
                Ok(Err(error)) => error.to_string(),
                Err(_) => "it panicked".to_owned(),
            };
            let now = Instant::now();
            failures.push_back(now);
            while failures.front().is_some_and(|first| now.duration_since(*first) > window) {
                failures.pop_front();
            }
            if failures.len() > self.policy.max {
                let window_ms = self.policy.window_ms;
                return Err(GaveUp { failures: failures.len(), window_ms, last });
            }
            tokio::time::sleep(Duration::from_millis(self.wait_ms(failures.len()))).await;
        }
    }

    fn wait_ms(&self, failures: usize) -> u64 {
        let RestartPolicy { base_ms, max_ms, .. } = self.policy;
        let attempt = u32::try_from(failures).unwrap_or(u32::MAX);
        let random = self.seed.wrapping_add(u64::from(attempt)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        TaskRetry { attempts: u32::MAX, base_ms, max_ms }.wait_ms(attempt, random >> 16)
    }
}
