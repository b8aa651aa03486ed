//! How long to wait before the next attempt to connect.

use std::time::Duration;

/// Waits that double from the least to the longest, each by chance between half of it and all.
///
/// ```
/// use std::time::Duration;
/// use offshoot_transport::Backoff;
///
/// let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30), 7);
/// let first = backoff.next_wait();
/// assert!(first >= Duration::from_millis(500) && first <= Duration::from_secs(1));
/// ```
#[derive(Clone, Debug)]
pub struct Backoff {
    least: Duration,
    longest: Duration,
    next: Duration,
    random: fastrand::Rng,
}

impl Backoff {
    /// From the least wait to the longest. The same seed gives the same waits.
    pub fn new(least: Duration, longest: Duration, seed: u64) -> Self {
        Self { least, longest, next: least, random: fastrand::Rng::with_seed(seed) }
    }

    /// The next wait.
    pub fn next_wait(&mut self) -> Duration {
        let all = self.next.min(self.longest);
        self.next = all.saturating_mul(2);
        all.mul_f64(0.5 + self.random.f64() / 2.0)
    }

    /// A connection lasted so long. If that was as long as the longest wait, the next wait is the least again.
    pub fn lasted(&mut self, time: Duration) {
        if time >= self.longest {
            self.next = self.least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let second = Duration::from_secs(1);
        let mut backoff = Backoff::new(second, 30 * second, 3);
        let waits: Vec<Duration> = (0..8).map(|_| backoff.next_wait()).collect();
        for (wait, all) in waits.iter().zip([1, 2, 4, 8, 16, 30, 30, 30]) {
            assert!(*wait >= all * second / 2 && *wait <= all * second, "{waits:?}");
        }
        backoff.lasted(29 * second);
        assert!(backoff.next_wait() >= 15 * second);
        backoff.lasted(30 * second);
        assert!(backoff.next_wait() <= second);
        let again: Vec<Duration> = {
            let mut backoff = Backoff::new(second, 30 * second, 3);
            (0..8).map(|_| backoff.next_wait()).collect()
        };
        assert_eq!(waits, again);
    }
}
