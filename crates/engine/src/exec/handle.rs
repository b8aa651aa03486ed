//! A command that runs, as its caller holds it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use offshoot_protocol::ExecEnvelopeDoc;
use offshoot_store::Id;

use super::events::{Event, Events, Queue};
use super::steering::Steering;

/// A command that was started. Cheap to clone; dropping it ends nothing, the command runs on and is recorded.
///
/// ```
/// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
/// let exec = workspace.exec(["make"])?;
/// let watcher = exec.clone();
/// std::thread::spawn(move || watcher.events().for_each(drop));
/// println!("{:?}", exec.wait().result.exit_code);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Exec(Arc<Shared>);

impl Exec {
    /// The id that it is recorded under.
    ///
    /// ```
    /// # fn example(exec: &offshoot_engine::exec::Exec) {
    /// println!("offshoot kill {}", exec.id());
    /// # }
    /// ```
    pub fn id(&self) -> Id {
        self.0.id
    }

    /// What happens to it, from now on and as far as it is still known. Everybody who asks gets all of it. The command waits for those
    /// who do not read on: read, or drop what this returns, before you [`wait`](Self::wait) for the end on the same thread.
    ///
    /// ```
    /// # fn example(exec: &offshoot_engine::exec::Exec) {
    /// let printed = exec.events().count();
    /// # }
    /// ```
    pub fn events(&self) -> Events {
        self.0.events.read()
    }

    /// Asks it to end, and it alone: it has its grace, and is killed when that is over or when it is asked once more. What it
    /// wrote so far is recorded like that of any other.
    ///
    /// ```
    /// # fn example(exec: &offshoot_engine::exec::Exec) {
    /// exec.cancel();
    /// let envelope = exec.wait();
    /// # }
    /// ```
    pub fn cancel(&self) {
        self.0.steering.cancel();
    }

    /// Waits for its end. Whatever became of it, there is an envelope that says so.
    ///
    /// ```
    /// # fn example(exec: &offshoot_engine::exec::Exec) {
    /// let envelope = exec.wait();
    /// println!("{:?}", envelope.result.state);
    /// # }
    /// ```
    pub fn wait(&self) -> Arc<ExecEnvelopeDoc> {
        let mut outcome = self.0.outcome();
        loop {
            if let Some(outcome) = &*outcome {
                return Arc::clone(outcome);
            }
            outcome = self.0.over.wait(outcome).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Its envelope, where it has ended.
    ///
    /// ```
    /// # fn example(exec: &offshoot_engine::exec::Exec) {
    /// match exec.outcome() {
    ///     Some(envelope) => println!("{:?}", envelope.result.exit_code),
    ///     None => println!("still running"),
    /// }
    /// # }
    /// ```
    pub fn outcome(&self) -> Option<Arc<ExecEnvelopeDoc>> {
        self.0.outcome().clone()
    }

    /// The handle of what somebody follows.
    pub(super) fn of(shared: Arc<Shared>) -> Self {
        Self(shared)
    }
}

/// What all handles of a command share with whoever follows it.
#[derive(Debug)]
pub(super) struct Shared {
    id: Id,
    steering: Arc<dyn Steering>,
    events: Arc<Queue>,
    /// The envelope, once there is one.
    outcome: Mutex<Option<Arc<ExecEnvelopeDoc>>>,
    /// Tells that there is one.
    over: Condvar,
}

impl Shared {
    pub(super) fn new(id: Id, steering: Arc<dyn Steering>) -> Self {
        Self {
            id,
            events: Arc::new(Queue::new(Arc::clone(&steering))),
            steering,
            outcome: Mutex::new(None),
            over: Condvar::new(),
        }
    }

    /// Something happened.
    pub(super) fn tell(&self, event: Event) {
        self.events.push(event);
    }

    /// It is over.
    pub(super) fn finish(&self, envelope: ExecEnvelopeDoc) {
        *self.outcome() = Some(Arc::new(envelope));
        self.over.notify_all();
        self.events.end();
    }

    fn outcome(&self) -> MutexGuard<'_, Option<Arc<ExecEnvelopeDoc>>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
