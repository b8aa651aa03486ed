//! Progress on standard error for anything that takes more than a second.

use offshoot_protocol::When;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use offshoot_engine::import::Progress;

/// Nothing is shown before this.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows an import once it has taken a second.
struct Bar {
    bar: ProgressBar,
    started: Instant,
    patience: Duration,
}

/// A progress display, where one is wanted.
pub(crate) fn import_progress(when: When, silent: bool) -> Option<Arc<dyn Progress>> {
    let patience = patience(when, silent)?;
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    Some(Arc::new(Bar { bar, started: Instant::now(), patience }))
}

impl Bar {
    fn wake(&self) {
        if self.bar.is_hidden() && self.started.elapsed() >= self.patience {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Progress for Bar {
    fn found(&self, entries: u64) {
        self.bar.set_message(format!("found {entries} entries"));
        self.wake();
        self.bar.tick();
    }

    fn reading(&self, files: u64, bytes: u64) {
        let style = "{bar:30} {bytes}/{total_bytes} {msg} {eta}";
        if let Ok(style) = ProgressStyle::with_template(style) {
            self.bar.set_style(style);
        }
        self.bar.set_length(bytes);
        self.bar.set_message(format!("of {files} files"));
    }

    fn read(&self, bytes: u64) {
        self.bar.inc(bytes);
        self.wake();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Says what takes so long once it has taken a second, until dropped.
#[derive(Debug)]
pub(crate) struct Patience {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Patience {
    /// Begins to wait, where progress is wanted.
    pub(crate) fn new(when: When, silent: bool, text: &'static str) -> Option<Self> {
        let patience = patience(when, silent)?;
        let (done, waiting) = mpsc::channel::<()>();
        let wait = move || {
            if waiting.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
                spinner.set_message(text);
                spinner.enable_steady_tick(Duration::from_millis(100));
                // Ends when the other end is dropped.
                let _done = waiting.recv().is_err();
                spinner.finish_and_clear();
            }
        };
        // Where no thread can be started nothing is said.
        let thread = std::thread::Builder::new().spawn(wait).ok()?;
        Some(Self { done: Some(done), thread: Some(thread) })
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        self.done = None;
        if let Some(thread) = self.thread.take() {
            // A thread that only draws cannot fail in a way that matters.
            drop(thread.join());
        }
    }
}

/// How long nothing is shown; none where nothing ever is.
fn patience(when: When, silent: bool) -> Option<Duration> {
    match when {
        When::Always => Some(Duration::ZERO),
        When::Auto if std::io::stderr().is_terminal() && !silent => Some(PATIENCE),
        When::Auto | When::Never => None,
    }
}
