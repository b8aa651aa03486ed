//! What tasks print.

use std::time::Duration;

/// Prints a line for whoever runs the task.
#[expect(clippy::print_stdout, reason = "a task talks to whoever runs it")]
pub(crate) fn say(text: &str) {
    println!("{}", text.trim_end());
}

/// Prints what went wrong.
#[expect(clippy::print_stderr, reason = "a task talks to whoever runs it")]
pub(crate) fn complain(text: &str) {
    eprintln!("xtask: {}", text.trim_end());
}

/// A time as people read it.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
