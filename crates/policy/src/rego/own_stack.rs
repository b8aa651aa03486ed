//! Work for the interpreter, apart from the caller.
//!
//! The interpreter calls itself for rules that need rules, and nothing in it bounds how deep. It looks at the clock between
//! steps, but not while it reads a policy, nor within a step. So it works on a thread of its own, with a stack for the longest
//! policy that is read, and the caller waits for it only so long.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Enough for a policy of the greatest length in which each rule needs the next. Only what is used of it takes memory.
const STACK: usize = 256 * 1024 * 1024;

/// Does some work and waits for its result; or why there is none.
pub(super) fn run<T: Send + 'static>(
    wait: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let (sender, receiver) = channel();
    // Whoever has stopped waiting needs no result.
    let spawned = spawn(move || drop(sender.send(work())));
    spawned.map_err(|error| format!("there is no thread for the interpreter: {error}"))?;
    receiver.recv_timeout(wait).map_err(|error| match error {
        RecvTimeoutError::Timeout => format!("it took longer than {} ms", wait.as_millis()),
        RecvTimeoutError::Disconnected => "the interpreter failed".to_owned(),
    })
}

/// Does some work that nobody waits for.
pub(super) fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name("policy".to_owned()).stack_size(STACK).spawn(work)
}
