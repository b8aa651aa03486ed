//! Worker threads, where the system lets any be started.

use std::io;
use std::sync::{Once, mpsc};
use std::thread;

use rayon::iter::IntoParallelIterator;
use rayon::{ThreadBuilder, ThreadPoolBuilder};

use crate::error::HostError;

/// Fewer files are read one after the other: starting worker threads takes longer.
pub const FEW: usize = 64;

/// Goes through items with all worker threads, which the first caller starts. Where none can be started, the caller does it alone.
#[expect(clippy::disallowed_methods, reason = "this is where it is safe to call")]
pub fn share<I: IntoParallelIterator>(items: I) -> I::Iter {
    ready();
    items.into_par_iter()
}

/// Runs work with that many worker threads of its own, 0 for as many as there are processors, or with those that can be started.
pub fn with_own<T: Send>(count: usize, work: impl FnOnce() -> T + Send) -> Result<T, HostError> {
    let Some(first) = start_first() else {
        ready();
        return Ok(work());
    };
    let pool = ThreadPoolBuilder::new().num_threads(count).spawn_handler(start_others(first));
    let pool = pool.build().map_err(|error| HostError::Threads(error.to_string()))?;
    Ok(pool.install(work))
}

/// Sees to it that the global pool is there: where rayon has to make it, a thread that cannot be started is a panic.
fn ready() {
    static READY: Once = Once::new();
    if rayon::current_thread_index().is_some() {
        return;
    }
    READY.call_once(|| {
        let pool = ThreadPoolBuilder::new();
        let built = match start_first() {
            Some(first) => pool.spawn_handler(start_others(first)).build_global(),
            None => pool.num_threads(1).use_current_thread().build_global(),
        };
        // Whoever uses this library may have made one before, which is as good.
        drop(built);
    });
}

/// Starts a thread that waits for what it is to do; none where the system lets none be started.
fn start_first() -> Option<mpsc::Sender<ThreadBuilder>> {
    let (sender, receiver) = mpsc::channel::<ThreadBuilder>();
    let wait = move || receiver.recv().map_or((), ThreadBuilder::run);
    thread::Builder::new().spawn(wait).ok().map(|_| sender)
}

/// Makes the thread that is there the first worker of a pool and starts the others. Work that one which cannot be started would
/// have done is done by the rest.
fn start_others(first: mpsc::Sender<ThreadBuilder>) -> impl FnMut(ThreadBuilder) -> io::Result<()> {
    let mut first = Some(first);
    move |worker| match first.take() {
        Some(first) => first.send(worker).map_err(|_| io::ErrorKind::BrokenPipe.into()),
        None => {
            drop(thread::Builder::new().spawn(move || worker.run()));
            Ok(())
        }
    }
}
