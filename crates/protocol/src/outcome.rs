//! What an exec came to: the one definition of its success and of its exit code.

use offshoot_vocabulary::{ExecState, ExitCode};

/// What decides about the success of an exec and about the exit code that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecOutcome {
    /// How far it came.
    pub state: ExecState,
    /// What it returned.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its time was over before it was.
    pub timed_out: bool,
    /// The caller was interrupted.
    pub interrupted: bool,
    /// Offshoot itself failed.
    pub failed: bool,
}

impl ExecOutcome {
    /// The command ran to its end, exited with 0, and its changes are kept.
    pub fn is_success(self) -> bool {
        self.exit_code(None) == ExitCode::Success.number()
    }

    /// The exit code that stands for it; `interrupted_by` is the signal that the caller got.
    pub fn exit_code(self, interrupted_by: Option<i32>) -> u8 {
        if self.interrupted
            && let Some(signal) = interrupted_by
        {
            return byte(128 + signal);
        }
        // What a trial came to is told, and the answer to whoever asked is that it waits.
        if let Some(refused) = self.state.refusal_code() {
            return refused.number();
        }
        if self.timed_out {
            return ExitCode::Timeout.number();
        }
        match (self.exit_code, self.signal, self.failed) {
            (Some(0), _, false) if self.interrupted => ExitCode::Interrupted.number(),
            (Some(0), _, false) if self.state != ExecState::Completed => {
                ExitCode::ExecFailed.number()
            }
            (Some(code), _, false) | (Some(code @ (126 | 127)), _, true) => byte(code),
            (None, Some(signal), false) => byte(128 + signal),
            _ => ExitCode::ExecFailed.number(),
        }
    }
}

fn byte(number: i32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: ExecOutcome = ExecOutcome {
        state: ExecState::Completed,
        exit_code: Some(0),
        signal: None,
        timed_out: false,
        interrupted: false,
        failed: false,
    };

    /// Whatever becomes of a command: it succeeded where and only where the exit code is 0, and only in one way.
    #[test]
    fn success_is_the_exit_code_0() {
        let flags = [false, true];
        let (mut outcomes, mut good) = (0, Vec::new());
        for &state in ExecState::ALL {
            for exit_code in [None, Some(0), Some(1), Some(126), Some(300)] {
                for (signal, by) in [(None, None), (Some(15), None), (None, Some(2))] {
                    for (timed_out, interrupted) in flags.map(|a| flags.map(|b| (a, b))).concat() {
                        for failed in flags {
                            let outcome = ExecOutcome {
                                state,
                                exit_code,
                                signal,
                                timed_out,
                                interrupted,
                                failed,
                            };
                            outcomes += 1;
                            let code = outcome.exit_code(by);
                            assert_eq!(outcome.is_success(), code == 0, "{outcome:?}");
                            good.extend(outcome.is_success().then_some(outcome));
                        }
                    }
                }
            }
        }
        assert_eq!(outcomes, ExecState::ALL.len() * 5 * 3 * 4 * 2);
        good.dedup_by_key(|outcome| ExecOutcome { signal: None, ..*outcome });
        assert_eq!(good, [GOOD]);
    }

    #[test]
    fn the_exit_code_says_what_happened() {
        let code = |outcome: ExecOutcome| outcome.exit_code(None);
        assert_eq!(code(GOOD), 0);
        assert_eq!(code(ExecOutcome { exit_code: Some(3), ..GOOD }), 3);
        assert_eq!(code(ExecOutcome { exit_code: None, signal: Some(9), ..GOOD }), 137);
        assert_eq!(code(ExecOutcome { timed_out: true, ..GOOD }), 124);
        assert_eq!(code(ExecOutcome { state: ExecState::Denied, exit_code: None, ..GOOD }), 122);
        assert_eq!(code(ExecOutcome { failed: true, ..GOOD }), 125);
        assert_eq!(code(ExecOutcome { failed: true, exit_code: Some(127), ..GOOD }), 127);
        assert_eq!(code(ExecOutcome { state: ExecState::Failed, ..GOOD }), 125);
        assert_eq!(ExecOutcome { interrupted: true, ..GOOD }.exit_code(Some(15)), 143);
        assert_eq!(code(ExecOutcome { interrupted: true, ..GOOD }), 130);
    }
}
