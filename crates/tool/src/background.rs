//! Commands of calls: each is followed from its start, so that it can go on when its call is over.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use offshoot_engine::exec::{Event, Exec};
use offshoot_engine::id::Id;
use offshoot_engine::text::plain;
use tokio::sync::watch;

use crate::context::{CallContext, CallProgress};
use crate::error::ToolError;

/// So many run at once.
const MOST_RUNNING: usize = 8;
/// So many that have ended are remembered; the vault has the others.
const MOST_ENDED: usize = 64;
/// What is kept of the output of one, from its end.
const MOST_OUTPUT: usize = 256 << 10;
/// So long a command may take to end when it is asked to, before it is killed.
const PATIENCE: Duration = Duration::from_secs(5);

/// The commands of a session.
#[derive(Debug, Default)]
pub(crate) struct Background {
    all: Mutex<BTreeMap<Id, Job>>,
}

/// A command that was started. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) exec: Exec,
    printed: Arc<Mutex<Printed>>,
    over: watch::Receiver<bool>,
}

/// What a command printed, as it came.
#[derive(Debug, Default)]
struct Printed {
    bytes: Vec<u8>,
    /// How many came before those.
    before: usize,
}

impl Background {
    /// Fails if there is no room for one more.
    pub(crate) fn check_room(&self) -> Result<(), ToolError> {
        let all = locked(&self.all);
        let running = all.values().filter(|job| !job.is_over()).count();
        if running < MOST_RUNNING {
            return Ok(());
        }
        Err(ToolError::refused(format!("{running} commands are running in the background"))
            .hint("end one with end_command, or wait with poll_command until one is over"))
    }

    /// Follows a command.
    pub(crate) fn follow(&self, exec: &Exec, context: &CallContext) -> Result<Job, ToolError> {
        let printed: Arc<Mutex<Printed>> = Arc::default();
        let (tell, over) = watch::channel(false);
        let job = Job { exec: exec.clone(), printed: Arc::clone(&printed), over };
        // The reader must not keep the session alive, which ends its commands.
        let (events, listener) = (exec.events(), context.listener());
        let reader = move || {
            for event in events {
                match event {
                    Event::Output { bytes, .. } => {
                        listener(CallProgress::Output(plain(&bytes)));
                        locked(&printed).add(&bytes);
                    }
                    Event::Waiting { holder } => listener(CallProgress::Waiting { holder }),
                    Event::Pending { approval } => listener(CallProgress::Pending { approval }),
                    _ => {}
                }
            }
            // Nobody may be waiting.
            tell.send_replace(true);
        };
        let thread = std::thread::Builder::new().name("offshoot-tool-events".to_owned());
        if let Err(error) = thread.spawn(reader) {
            exec.cancel();
            return Err(ToolError::fatal(format!("cannot start a thread: {error}")));
        }
        let mut all = locked(&self.all);
        all.insert(exec.id(), job.clone());
        let ended: Vec<Id> =
            all.iter().filter(|(_, job)| job.is_over()).map(|(id, _)| *id).collect();
        for id in ended.iter().take(ended.len().saturating_sub(MOST_ENDED)) {
            all.remove(id);
        }
        Ok(job)
    }

    pub(crate) fn get(&self, id: &Id) -> Option<Job> {
        locked(&self.all).get(id).cloned()
    }

    /// The ids of those that run.
    pub(crate) fn running(&self) -> Vec<Id> {
        locked(&self.all).iter().filter(|(_, job)| !job.is_over()).map(|(id, _)| *id).collect()
    }

    /// Ends those that run, and waits until they are over; gives what they were.
    pub(crate) async fn finish(&self) -> Vec<String> {
        let running: Vec<Job> =
            locked(&self.all).values().filter(|job| !job.is_over()).cloned().collect();
        let mut ended = Vec::new();
        for job in running {
            job.end().await;
            if let Some(envelope) = job.exec.outcome() {
                ended.push(format!("command {}: {}", job.exec.id(), envelope.result.command));
            }
        }
        ended
    }

    /// Ends all.
    pub(crate) fn end(&self) {
        for job in locked(&self.all).values().filter(|job| !job.is_over()) {
            job.exec.cancel();
        }
    }
}

impl Job {
    pub(crate) fn is_over(&self) -> bool {
        self.exec.outcome().is_some()
    }

    /// Asks it to end, and kills it if it does not.
    pub(crate) async fn end(&self) {
        self.exec.cancel();
        if tokio::time::timeout(PATIENCE, self.over()).await.is_err() {
            self.exec.cancel();
            self.over().await;
        }
    }

    /// Waits until it is over.
    pub(crate) async fn over(&self) {
        let mut over = self.over.clone();
        // The reader is gone only when the command is.
        let _gone = over.wait_for(|over| *over).await.is_err();
    }

    /// What it printed from a byte on, and where that ends; what is not kept any more is counted.
    pub(crate) fn printed(&self, offset: usize) -> (String, usize) {
        let printed = locked(&self.printed);
        let missing = printed.before.saturating_sub(offset);
        let start = offset.saturating_sub(printed.before).min(printed.bytes.len());
        let mut text = plain(&printed.bytes[start..]);
        if missing > 0 {
            text = format!("[{missing} bytes before are not kept]\n{text}");
        }
        (text, printed.before + printed.bytes.len())
    }
}

impl Printed {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let surplus = self.bytes.len().saturating_sub(MOST_OUTPUT);
        self.bytes.drain(..surplus);
        self.before += surplus;
    }
}

/// A lock whose holder may have panicked: what it guards is whole after every statement.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_output_is_bounded_and_counted() {
        let mut printed = Printed::default();
        printed.add(&vec![b'a'; MOST_OUTPUT]);
        printed.add(b"end");
        assert_eq!((printed.bytes.len(), printed.before), (MOST_OUTPUT, 3));
        assert!(printed.bytes.ends_with(b"aend"));
    }
}
