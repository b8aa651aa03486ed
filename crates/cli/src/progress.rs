//! Progress on standard error for anything that takes more than a second.

use offshoot_protocol::When;
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use offshoot_engine::import::Progress;

/// Nothing is shown before this.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is on the screen now. It stands in a line of its own, which whoever else prints would leave behind, and draws over theirs.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Prints something while progress may be on the screen: that makes room, and comes back below.
pub(crate) fn beside<T>(print: impl FnOnce() -> T) -> T {
    let bar = shown().clone();
    match bar {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// Takes progress off the screen for good, since the last words come now.
pub(crate) fn end() {
    let bar = shown().take();
    bar.iter().for_each(ProgressBar::finish_and_clear);
}

fn shown() -> MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that turns beside its message, which a bar would not show. Nobody knows how long it takes.
fn turning() -> ProgressBar {
    let hidden = ProgressDrawTarget::hidden();
    ProgressBar::with_draw_target(None, hidden).with_style(ProgressStyle::default_spinner())
}

fn show(bar: &ProgressBar, target: ProgressDrawTarget) {
    bar.set_draw_target(target);
    *shown() = Some(bar.clone());
}

/// Shows an import once it has taken a second.
struct Bar {
    bar: ProgressBar,
    started: Instant,
    patience: Duration,
}

/// A progress display, where one is wanted.
pub(crate) fn import_progress(when: When, silent: bool) -> Option<Arc<dyn Progress>> {
    let patience = patience(when, silent)?;
    let bar = turning();
    Some(Arc::new(Bar { bar, started: Instant::now(), patience }))
}

impl Bar {
    fn wake(&self) {
        if self.bar.is_hidden() && self.started.elapsed() >= self.patience {
            show(&self.bar, ProgressDrawTarget::stderr());
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
        // One that nobody saw leaves alone what is on the screen.
        if !self.bar.is_hidden() {
            end();
        }
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
                let spinner = turning();
                spinner.set_message(text);
                show(&spinner, ProgressDrawTarget::stderr());
                spinner.enable_steady_tick(Duration::from_millis(100));
                // Ends when the other end is dropped.
                let _done = waiting.recv().is_err();
                end();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A terminal that remembers what was done to it.
    #[derive(Clone, Debug, Default)]
    struct Recorded(Arc<Mutex<Vec<String>>>);

    impl Recorded {
        fn push(&self, what: &str) {
            // What turns stands in front of the message.
            let what = if what.ends_with(" turning") { "turning" } else { what };
            self.0.lock().unwrap().push(what.trim_end().to_owned());
        }

        fn take(&self) -> Vec<String> {
            let mut done = std::mem::take(&mut *self.0.lock().unwrap());
            done.retain(|what| !what.is_empty());
            done
        }
    }

    impl indicatif::TermLike for Recorded {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn write_line(&self, line: &str) -> std::io::Result<()> {
            self.push(line);
            Ok(())
        }

        fn write_str(&self, text: &str) -> std::io::Result<()> {
            self.push(text);
            Ok(())
        }

        fn clear_line(&self) -> std::io::Result<()> {
            self.push("cleared");
            Ok(())
        }

        fn flush(&self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_printed_meanwhile_has_a_line_of_its_own() {
        let screen = Recorded::default();
        let bar = turning();
        bar.set_message("turning");
        show(&bar, ProgressDrawTarget::term_like(Box::new(screen.clone())));
        bar.tick();
        assert_eq!(screen.take(), ["turning"]);
        beside(|| screen.push("note"));
        assert_eq!(screen.take(), ["cleared", "note", "turning"]);
        // Nothing is drawn below the last words.
        end();
        assert_eq!(screen.take(), ["cleared"]);
        beside(|| screen.push("error"));
        bar.tick();
        assert_eq!(screen.take(), ["error"]);
    }
}
