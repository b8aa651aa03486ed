//! When an agent registers and sends heartbeats, without I/O.

use std::time::Duration;

use offshoot_transport::Backoff;

/// So many heartbeats in a row may fail.
const FAILURES: u32 = 3;

/// What is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseStep {
    /// A registration.
    Register,
    /// A heartbeat.
    Heartbeat,
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseReply {
    /// The registry did what it was asked.
    Done,
    /// The registry does not know the agent.
    NeedsRegister,
    /// It refused, or did not answer.
    Failed,
}

/// Keeps one agent registered at one registry. Times are counted from any one point.
///
/// ```
/// use std::time::Duration;
/// use offshoot_registry::{LeaseKeeper, LeaseReply, LeaseStep};
///
/// let mut keeper = LeaseKeeper::new(Duration::from_secs(10), 7);
/// assert_eq!(keeper.next(), (Duration::ZERO, LeaseStep::Register));
/// keeper.replied(Duration::ZERO, LeaseReply::Done);
/// assert_eq!(keeper.next(), (Duration::from_secs(10), LeaseStep::Heartbeat));
/// ```
#[derive(Clone, Debug)]
pub struct LeaseKeeper {
    heartbeat: Duration,
    seed: u64,
    backoff: Backoff,
    registered: bool,
    failures: u32,
    next: Duration,
}

impl LeaseKeeper {
    /// Not registered yet. The seed decides how waits are spread.
    pub fn new(heartbeat: Duration, seed: u64) -> Self {
        let (registered, failures, next) = (false, 0, Duration::ZERO);
        Self { heartbeat, seed, backoff: waits(seed), registered, failures, next }
    }

    /// What comes next, and when.
    pub fn next(&self) -> (Duration, LeaseStep) {
        match self.registered {
            true => (self.next, LeaseStep::Heartbeat),
            false => (self.next, LeaseStep::Register),
        }
    }

    /// How the last step went.
    pub fn replied(&mut self, now: Duration, reply: LeaseReply) {
        match (reply, self.registered) {
            (LeaseReply::Done, was_registered) => {
                if !was_registered {
                    self.backoff = waits(self.seed);
                }
                (self.registered, self.failures) = (true, 0);
                self.next = now + self.heartbeat;
            }
            (LeaseReply::NeedsRegister, true) => {
                (self.registered, self.failures) = (false, 0);
                self.next = now;
            }
            (LeaseReply::Failed, true) => {
                self.failures += 1;
                self.registered = self.failures < FAILURES;
                self.next = now + if self.registered { self.heartbeat } else { Duration::ZERO };
            }
            (LeaseReply::Failed | LeaseReply::NeedsRegister, false) => {
                self.next = now + self.backoff.next_wait();
            }
        }
    }

    /// Whether the registry knows the agent, as far as its answers say.
    pub fn is_registered(&self) -> bool {
        self.registered
    }
}

fn waits(seed: u64) -> Backoff {
    Backoff::new(Duration::from_secs(1), Duration::from_secs(30), seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn three_failures_in_a_row_register_again() {
        let mut keeper = LeaseKeeper::new(10 * SECOND, 1);
        keeper.replied(Duration::ZERO, LeaseReply::Done);
        for (reply, at, step) in [
            (LeaseReply::Failed, 20, LeaseStep::Heartbeat),
            (LeaseReply::Failed, 30, LeaseStep::Heartbeat),
            (LeaseReply::Done, 40, LeaseStep::Heartbeat),
            (LeaseReply::Failed, 50, LeaseStep::Heartbeat),
            (LeaseReply::Failed, 60, LeaseStep::Heartbeat),
            (LeaseReply::Failed, 60, LeaseStep::Register),
        ] {
            let (now, _) = keeper.next();
            keeper.replied(now, reply);
            assert_eq!(keeper.next(), (at * SECOND, step));
        }
    }

    #[test]
    fn whoever_is_not_known_registers_at_once() {
        let mut keeper = LeaseKeeper::new(10 * SECOND, 1);
        keeper.replied(Duration::ZERO, LeaseReply::Done);
        keeper.replied(10 * SECOND, LeaseReply::NeedsRegister);
        assert_eq!(keeper.next(), (10 * SECOND, LeaseStep::Register));
        assert!(!keeper.is_registered());
    }

    #[test]
    fn failed_registrations_wait_longer_and_longer() {
        let mut keeper = LeaseKeeper::new(10 * SECOND, 1);
        let mut now = Duration::ZERO;
        for all in [1, 2, 4, 8, 16, 30, 30] {
            keeper.replied(now, LeaseReply::Failed);
            let (next, step) = keeper.next();
            assert_eq!(step, LeaseStep::Register);
            assert!(next - now >= all * SECOND / 2 && next - now <= all * SECOND);
            now = next;
        }
        keeper.replied(now, LeaseReply::Done);
        keeper.replied(now, LeaseReply::NeedsRegister);
        keeper.replied(now, LeaseReply::Failed);
        assert!(keeper.next().0 - now <= SECOND);
    }
}
