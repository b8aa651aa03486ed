//! A command that runs, as its caller holds it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use offshoot_protocol::{ExecEnvelopeDoc, ExitCode};
use offshoot_sandbox::Cancel;
use offshoot_store::Id;
use offshoot_workspace::ExecutionPlace;

use super::command::Command;
use super::events::{Event, Events, Queue};
use super::run::run;
use super::worker::{self, Control};
use crate::error::{Error, Result};
use crate::project::Project;

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

    /// What happens to it, from now on and as far as it is still known.
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
        match &self.0.runs {
            Runs::OnThread(cancel) => cancel.cancel(),
            Runs::InWorker(control) => control.cancel(),
        }
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

    /// Starts a command: in a worker where the options name one, else on a thread of its own.
    pub(crate) fn start(
        project: &Project,
        place: ExecutionPlace,
        command: Command,
    ) -> Result<Self> {
        match &project.engine().options().worker {
            Some(program) => worker::start(program, project, place, command),
            None => Self::on_thread(project, place, command),
        }
    }

    fn on_thread(project: &Project, place: ExecutionPlace, command: Command) -> Result<Self> {
        let engine = project.engine();
        let policy = engine.policy(&command.rules).current()?;
        let caches = command.caches;
        let cannot = |what: &str, error: &dyn std::fmt::Display| {
            Error::new(ExitCode::Failure, format!("cannot {what}: {error}"))
        };
        let cancel = Arc::new(Cancel::new().map_err(|error| cannot("watch for requests", &error))?);
        let request = engine.request(command, place, None, Some(Arc::clone(&cancel)));
        let shared = Arc::new(Shared::new(request.id, Runs::OnThread(cancel)));
        let (project, busy, told) = (project.clone(), project.busy(), Arc::clone(&shared));
        let work = move || {
            let answer = |envelope| told.finish(envelope);
            run(&project, request, (policy, caches), &|event| told.tell(event), answer);
            drop(project);
            drop(busy);
        };
        let thread = std::thread::Builder::new().name("offshoot-exec".to_owned());
        thread.spawn(work).map_err(|error| cannot("start a thread", &error))?;
        Ok(Self(shared))
    }
}

/// Where a command runs, and how it is asked to end there.
#[derive(Debug)]
pub(super) enum Runs {
    /// On a thread of this process.
    OnThread(Arc<Cancel>),
    /// In a process of its own.
    InWorker(Control),
}

/// What all handles of a command share with whoever follows it.
#[derive(Debug)]
pub(super) struct Shared {
    id: Id,
    runs: Runs,
    events: Arc<Queue>,
    /// The envelope, once there is one.
    outcome: Mutex<Option<Arc<ExecEnvelopeDoc>>>,
    /// Tells that there is one.
    over: Condvar,
}

impl Shared {
    pub(super) fn new(id: Id, runs: Runs) -> Self {
        Self { id, runs, events: Arc::default(), outcome: Mutex::new(None), over: Condvar::new() }
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

    /// Nobody is there any more who could be asked to end it.
    pub(super) fn close(&self) {
        if let Runs::InWorker(control) = &self.runs {
            control.close();
        }
    }

    fn outcome(&self) -> MutexGuard<'_, Option<Arc<ExecEnvelopeDoc>>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
