//! The terminal while a prompt is in it, and as it was before.

use std::io::stdin;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::output;

/// Whoever shows a prompt changes the modes of the terminal within this time.
const PATIENCE: Duration = Duration::from_millis(200);
/// Takes the line of the prompt away, and has pasted text come as it is typed.
const ERASED: &[u8] = b"\r\x1b[J\x1b[?2004l";

/// A terminal in which a thread shows a prompt: nobody can call that back, so whoever leaves brings the terminal back.
#[derive(Debug)]
pub(super) struct PromptTerminal {
    /// The terminal and its modes; nothing where it is none any more.
    before: Option<(OwnedFd, Termios)>,
    is_shown: AtomicBool,
    is_over: AtomicBool,
}

impl PromptTerminal {
    /// The terminal as it is now.
    pub(super) fn new() -> Self {
        let terminal = stdin().as_fd().try_clone_to_owned().ok();
        let before = terminal.and_then(|terminal| {
            let modes = tcgetattr(&terminal).ok()?;
            Some((terminal, modes))
        });
        Self { before, is_shown: AtomicBool::new(false), is_over: AtomicBool::new(false) }
    }

    /// A prompt is shown from now on; whether it may be.
    pub(super) fn show(&self) -> bool {
        self.is_shown.store(true, Ordering::SeqCst);
        if self.is_over() {
            self.hide();
            return false;
        }
        true
    }

    /// It is gone.
    pub(super) fn hide(&self) {
        self.is_shown.store(false, Ordering::SeqCst);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Whether nobody can see it any more.
    pub(super) fn is_gone(&self) -> bool {
        self.before.as_ref().is_none_or(|(terminal, _)| tcgetattr(terminal).is_err())
    }

    /// Takes the prompt away, for good: the terminal is as it was before.
    pub(super) fn end(&self) {
        if self.is_over.swap(true, Ordering::SeqCst) {
            return;
        }
        let Some((terminal, before)) = &self.before else { return };
        let is_shown = || self.is_shown.load(Ordering::SeqCst);
        let is_changed = || {
            tcgetattr(terminal).is_ok_and(|now| {
                (now.local_modes, now.input_modes) != (before.local_modes, before.input_modes)
            })
        };
        let limit = Instant::now() + PATIENCE;
        while is_shown() && !is_changed() && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(1));
        }
        if is_shown() {
            // A terminal that is gone shows nothing, and has no modes to be brought back.
            drop(output::print_bytes(ERASED));
            let _gone = tcsetattr(terminal, OptionalActions::Now, before).is_err();
        }
    }
}

impl Drop for PromptTerminal {
    fn drop(&mut self) {
        self.end();
    }
}
