//! The two clocks: wall time for what outlives the process, monotonic time for what is in flight.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A moment by both clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Milliseconds since 1970. It may jump, in both directions.
    pub wall_ms: u64,
    /// Milliseconds since some moment in this process. It never goes back.
    pub mono_ms: u64,
}

/// Where the kernel reads the time.
pub trait KernelClock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Moment;
}

/// The clocks of the host.
#[derive(Clone, Debug)]
pub struct HostClock {
    began: Instant,
}

impl Default for HostClock {
    fn default() -> Self {
        Self { began: Instant::now() }
    }
}

impl KernelClock for HostClock {
    fn now(&self) -> Moment {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment { wall_ms: millis(wall), mono_ms: millis(self.began.elapsed()) }
    }
}

/// A clock that follows the time of tokio, which tests pause, and whose wall time can be moved.
#[derive(Debug)]
pub struct TokioClock {
    began: tokio::time::Instant,
    wall_at_begin: AtomicI64,
}

impl TokioClock {
    /// A clock that begins at a wall time. It needs a runtime.
    pub fn starting_at(wall_ms: u64) -> Self {
        let wall = i64::try_from(wall_ms).unwrap_or(i64::MAX);
        Self { began: tokio::time::Instant::now(), wall_at_begin: AtomicI64::new(wall) }
    }

    /// Moves the wall time, as an administrator would.
    pub fn jump(&self, by_ms: i64) {
        self.wall_at_begin.fetch_add(by_ms, Ordering::SeqCst);
    }
}

impl KernelClock for TokioClock {
    fn now(&self) -> Moment {
        let mono_ms = millis(self.began.elapsed());
        let begin = self.wall_at_begin.load(Ordering::SeqCst);
        let wall_ms = begin.saturating_add(i64::try_from(mono_ms).unwrap_or(i64::MAX));
        Moment { wall_ms: u64::try_from(wall_ms).unwrap_or(0), mono_ms }
    }
}

impl<C: KernelClock> KernelClock for std::sync::Arc<C> {
    fn now(&self) -> Moment {
        (**self).now()
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
