//! Ctrl-C, SIGTERM and the like in commands that run no other: what is said, and the exit code.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use offshoot_engine::exec::Signals;
use offshoot_protocol::ExitCode;
use rustix::event::{PollFd, PollFlags, poll};

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::output::{interruption_answers, report_error};

/// What is said where nothing has happened yet.
pub(crate) const NOTHING: &str = "nothing was changed";

/// Watches for signals that ask this process to end, until dropped. What is then told is true at any moment, since whatever a
/// command does can be cut short anywhere.
#[derive(Debug)]
pub(crate) struct Watch {
    state: Arc<Mutex<&'static str>>,
    /// Closed to let the watcher go.
    held: Option<OwnedFd>,
    watcher: Option<JoinHandle<Option<Signals>>>,
}

impl Watch {
    /// Starts to watch; `state` is what is said about the state that things are left in.
    pub(crate) fn start(context: &Context, state: &'static str) -> Result<Self> {
        let json = context.output.is_json();
        Self::answering(state, move |error| {
            report_error(error, json);
        })
    }

    /// The same, with another way to tell that it was interrupted.
    pub(crate) fn answering(
        state: &'static str,
        tell: impl FnOnce(&CliError) + Send + 'static,
    ) -> Result<Self> {
        Self::asking(state, |_| false, tell)
    }

    /// The same for a command that can be asked to end by itself: `ask` gets what the first signal stands for, and says whether it was. Then only the next
    /// signal ends this process.
    pub(crate) fn asking(
        state: &'static str,
        mut ask: impl FnMut(ExitCode) -> bool + Send + 'static,
        tell: impl FnOnce(&CliError) + Send + 'static,
    ) -> Result<Self> {
        let failed = |error: rustix::io::Errno| {
            CliError::new(ExitCode::Failure, format!("cannot watch for signals: {error}"))
        };
        let signals = Signals::take_over().map_err(failed)?;
        let (released, held) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(failed)?;
        let state = Arc::new(Mutex::new(state));
        let said = Arc::clone(&state);
        let (hand_over, handed) = mpsc::channel();
        let wait = move || watch(handed.recv().ok()?, &released, &said, (&mut ask, tell));
        let watcher = std::thread::Builder::new().spawn(wait).ok();
        match &watcher {
            Some(_) => drop(hand_over.send(signals)),
            // Where no thread can be started a signal ends the process, without a word.
            None => signals.give_back(),
        }
        Ok(Self { state, held: Some(held), watcher })
    }

    /// What is said from now on.
    pub(crate) fn say(&self, state: &'static str) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.held.take();
        let ended = self.watcher.take().and_then(|watcher| watcher.join().ok());
        if let Some(signals) = ended.flatten() {
            signals.give_back();
        }
    }
}

/// Waits for a signal, or until nobody wants to know any more; gives the signals back then.
fn watch(
    signals: Signals,
    released: &OwnedFd,
    state: &Mutex<&'static str>,
    (ask, tell): (&mut dyn FnMut(ExitCode) -> bool, impl FnOnce(&CliError)),
) -> Option<Signals> {
    loop {
        let mut watched =
            [PollFd::new(&signals, PollFlags::IN), PollFd::new(released, PollFlags::IN)];
        let polled = poll(&mut watched, None);
        let is_over = !watched[1].revents().is_empty();
        match polled {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return Some(signals),
            Ok(_) => {}
        }
        if signals.ask_to_end() {
            let code = signals.ended_by().and_then(ExitCode::of_signal);
            let code = code.unwrap_or(ExitCode::Interrupted);
            if !ask(code) && interruption_answers() {
                let state = *state.lock().unwrap_or_else(PoisonError::into_inner);
                end(code, state, tell);
            }
        }
        if is_over {
            return Some(signals);
        }
    }
}

#[expect(clippy::exit, reason = "whoever sent the signal waits for the end of this process")]
fn end(code: ExitCode, state: &str, tell: impl FnOnce(&CliError)) -> ! {
    tell(&CliError::new(code, format!("{}; {state}", code.as_str().replace('_', " "))));
    std::process::exit(code.number().into());
}
