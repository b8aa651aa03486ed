//! A command that runs, as its caller holds it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use offshoot_protocol::{ExecEnvelopeDoc, ExitCode};
use offshoot_sandbox::{Cancel, Flow, Stream};
use offshoot_store::Id;
use offshoot_workspace::{ExecutionObserver, ExecutionPlace, ExecutionResult, ProxyRuntime, wire};

use super::command::Command;
use super::events::{Event, Events, Queue};
use super::request::explain;
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

#[derive(Debug)]
struct Shared {
    id: Id,
    cancel: Arc<Cancel>,
    events: Arc<Queue>,
    outcome: Mutex<Option<Arc<ExecEnvelopeDoc>>>,
    over: Condvar,
}

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
        self.0.cancel.cancel();
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
        let mut outcome = self.0.outcome.lock().unwrap_or_else(PoisonError::into_inner);
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
        self.0.outcome.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts a command on a thread of its own.
    pub(crate) fn start(
        project: &Project,
        place: ExecutionPlace,
        command: Command,
    ) -> Result<Self> {
        let engine = project.engine();
        let policy = engine.policy(&command.rules).current()?;
        let caches = command.caches;
        let cannot = |what: &str, error: &dyn std::fmt::Display| {
            Error::new(ExitCode::Failure, format!("cannot {what}: {error}"))
        };
        let cancel = Arc::new(Cancel::new().map_err(|error| cannot("watch for requests", &error))?);
        let request = engine.request(command, place.clone(), None, Some(Arc::clone(&cancel)));
        let shared = Arc::new(Shared {
            id: request.id,
            cancel,
            events: Arc::default(),
            outcome: Mutex::new(None),
            over: Condvar::new(),
        });
        let (project, told) = (project.clone(), Arc::clone(&shared));
        let run = move || {
            let options = project.engine().runtime_options(policy, caches, None, explain);
            let runtime = ProxyRuntime::new(project.vault(), project.name(), &options);
            let mut observer = Telling { project: &project, place: &place, events: &told.events };
            let envelope = runtime.exec(request, &mut observer);
            let result = &envelope.result;
            let stays = result.workspace.as_ref().filter(|_| !result.removed);
            let due = stays.and_then(|(workspace, _)| project.due(workspace));
            *told.outcome.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(Arc::new(wire::envelope(&envelope)));
            told.over.notify_all();
            told.events.end();
            // Nobody waits for that. Where nothing is due the vault is not touched any more.
            if let Some(due) = due {
                due.run();
            }
        };
        let thread = std::thread::Builder::new().name("offshoot-exec".to_owned());
        thread.spawn(run).map_err(|error| cannot("start a thread", &error))?;
        Ok(Self(shared))
    }
}

/// Passes on what happens.
struct Telling<'a> {
    project: &'a Project,
    place: &'a ExecutionPlace,
    events: &'a Queue,
}

impl ExecutionObserver for Telling<'_> {
    fn allowed(&mut self) -> offshoot_workspace::Result<()> {
        self.project.make_ready(self.place)
    }

    fn started(&mut self, result: &ExecutionResult) {
        let workspace = result.workspace.as_ref().map(|(_, name)| name.clone());
        self.events.push(Event::Started { workspace: workspace.unwrap_or_default() });
    }

    fn sealing(&mut self) {
        self.events.push(Event::Sealing);
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Flow {
        self.events.push(Event::Output { stream, bytes: bytes.to_vec() });
        Flow::More
    }
}
