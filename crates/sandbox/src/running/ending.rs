//! When a running command is asked to end, and when it is killed.

use std::time::{Duration, Instant};

use super::Timeout;
use crate::message::Kind;

/// How long a command whose terminal hung up has until it is asked to end as any other.
const HANG_UP: Duration = Duration::from_millis(200);
/// Requests to end that come closer together than this are one: whoever ends a whole group of processes may send a signal
/// twice.
const ONE_REQUEST: Duration = Duration::from_millis(100);

/// The end of a command from the caller's side.
pub(crate) struct Ending {
    deadline: Option<Instant>,
    grace: Duration,
    stage: Stage,
    /// Its time was over.
    pub(crate) timed_out: bool,
    /// Somebody wanted it to end.
    pub(crate) interrupted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Not,
    /// Its terminal is gone since then.
    HungUp(Instant),
    /// It was asked to end then.
    Asked(Instant),
    Killed,
}

impl Ending {
    pub(super) fn new(timeout: &Timeout, started: Instant) -> Self {
        let deadline = timeout.after.and_then(|after| started.checked_add(after));
        let (stage, grace) = (Stage::Not, timeout.grace);
        Self { deadline, grace, stage, timed_out: false, interrupted: false }
    }

    /// When something is to be done; never where there is none.
    pub(super) fn until(&self) -> Option<Instant> {
        match self.stage {
            Stage::Not => self.deadline,
            Stage::HungUp(since) => Some(since + HANG_UP),
            Stage::Asked(since) => since.checked_add(self.grace),
            Stage::Killed => None,
        }
    }

    /// What to say to the init because time has passed.
    pub(super) fn due(&mut self, now: Instant) -> Option<Kind> {
        if self.until().is_none_or(|until| now < until) {
            return None;
        }
        match self.stage {
            Stage::Not => {
                self.timed_out = true;
                self.ask(now)
            }
            Stage::HungUp(_) => self.ask(now),
            Stage::Asked(_) => self.kill(),
            Stage::Killed => None,
        }
    }

    /// Somebody wants the command to end. Who says it twice means at once.
    pub(super) fn interrupt(&mut self, now: Instant) -> Option<Kind> {
        self.begin();
        match self.stage {
            Stage::Not | Stage::HungUp(_) => self.ask(now),
            Stage::Asked(since) if now < since + ONE_REQUEST => None,
            Stage::Asked(_) => self.kill(),
            Stage::Killed => None,
        }
    }

    /// A program asked so often for the command to end. Each of its requests is one, however close they come together.
    pub(super) fn cancel(&mut self, times: u64, now: Instant) -> Option<Kind> {
        match (times, self.stage) {
            (0, _) => None,
            (1, Stage::Not | Stage::HungUp(_)) => self.interrupt(now),
            _ => self.quit(),
        }
    }

    /// Somebody wants the command to end at once.
    pub(super) fn quit(&mut self) -> Option<Kind> {
        self.begin();
        self.kill()
    }

    /// The terminal is gone. The kernel has told the command so; what does not end by that is asked to.
    pub(super) fn hang_up(&mut self, now: Instant) {
        if self.stage == Stage::Not {
            self.begin();
            self.stage = Stage::HungUp(now);
        }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.stage != Stage::Not
    }

    fn begin(&mut self) {
        self.interrupted |= self.stage == Stage::Not;
    }

    fn ask(&mut self, now: Instant) -> Option<Kind> {
        self.stage = Stage::Asked(now);
        Some(Kind::Terminate)
    }

    fn kill(&mut self) -> Option<Kind> {
        let again = std::mem::replace(&mut self.stage, Stage::Killed) == Stage::Killed;
        (!again).then_some(Kind::Kill)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn ending(after: Option<Duration>) -> (Ending, Instant) {
        let now = Instant::now();
        (Ending::new(&Timeout { after, grace: 2 * SECOND }, now), now)
    }

    #[test]
    fn a_command_whose_time_is_over_is_asked_and_then_killed() {
        let (mut ending, start) = ending(Some(5 * SECOND));
        assert_eq!(ending.due(start + 4 * SECOND), None);
        assert_eq!(ending.due(start + 5 * SECOND), Some(Kind::Terminate));
        assert_eq!(ending.due(start + 6 * SECOND), None);
        assert_eq!(ending.due(start + 7 * SECOND), Some(Kind::Kill));
        assert_eq!((ending.due(start + 9 * SECOND), ending.until()), (None, None));
        assert!(ending.timed_out && !ending.interrupted);
    }

    #[test]
    fn the_second_interrupt_kills() {
        let (mut ending, start) = ending(None);
        assert_eq!(ending.interrupt(start), Some(Kind::Terminate));
        assert_eq!(ending.interrupt(start + ONE_REQUEST / 2), None);
        assert_eq!(ending.interrupt(start + SECOND), Some(Kind::Kill));
        assert_eq!(ending.interrupt(start + 2 * SECOND), None);
        assert!(ending.interrupted && !ending.timed_out);
    }

    #[test]
    fn a_program_that_asks_twice_means_it() {
        let (mut ending, start) = ending(None);
        assert_eq!(ending.cancel(0, start), None);
        assert_eq!(ending.cancel(1, start), Some(Kind::Terminate));
        assert_eq!(ending.cancel(1, start + ONE_REQUEST / 2), Some(Kind::Kill));
        assert_eq!(ending.cancel(1, start + SECOND), None);
        assert!(ending.interrupted && !ending.timed_out);
    }

    #[test]
    fn two_requests_of_a_program_that_are_seen_at_once_are_two() {
        let (mut ending, start) = ending(None);
        assert_eq!(ending.cancel(2, start), Some(Kind::Kill));
        assert!(ending.interrupted);
    }

    #[test]
    fn an_interrupt_after_the_time_was_over_kills_and_is_no_interrupt() {
        let (mut ending, start) = ending(Some(SECOND));
        assert_eq!(ending.due(start + SECOND), Some(Kind::Terminate));
        assert_eq!(ending.interrupt(start + 2 * SECOND), Some(Kind::Kill));
        assert!(ending.timed_out && !ending.interrupted);
    }

    #[test]
    fn a_hang_up_comes_before_the_request_to_end_and_never_kills() {
        let (mut ending, start) = ending(None);
        ending.hang_up(start);
        assert_eq!(ending.due(start), None);
        assert_eq!(ending.due(start + HANG_UP), Some(Kind::Terminate));
        ending.hang_up(start + SECOND);
        assert_eq!(ending.due(start + SECOND), None);
        assert_eq!(ending.due(start + 3 * SECOND), Some(Kind::Kill));
        assert!(ending.interrupted);
    }

    #[test]
    fn quitting_kills_at_once() {
        let (mut ending, _) = ending(None);
        assert_eq!(ending.quit(), Some(Kind::Kill));
        assert_eq!(ending.quit(), None);
        assert!(ending.interrupted);
    }
}
