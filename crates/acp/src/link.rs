//! One process of an agent, and the way to it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::{Agent, Error, UntypedMessage};
use offshoot_engine::Workspace;
use offshoot_engine::exec::Exec;
use offshoot_engine::id::Id;
use serde_json::Value;
use tokio::sync::Notify;

use crate::fault::fault;
use crate::place;

/// How long an agent may take to say what it can do.
const START: Duration = Duration::from_secs(120);
/// How long it may take to end by itself when nobody speaks to it any more.
const LEAVE: Duration = Duration::from_secs(2);

/// A process of the agent.
pub(crate) struct Link {
    pub(crate) workspace: Workspace,
    /// How the workspace is called.
    pub(crate) name: String,
    /// Where it stood, if it was made for this process.
    made_at: Option<Id>,
    /// The directory below the top of the project that the process was started in.
    pub(crate) below: Option<PathBuf>,
    pub(crate) exec: Exec,
    pub(crate) connection: ConnectionTo<Agent>,
    /// Has the connection close.
    pub(crate) stop: Arc<Notify>,
    pub(crate) ending: Arc<Ending>,
    had_session: AtomicBool,
}

/// How a process ended, once it has.
#[derive(Default)]
pub(crate) struct Ending {
    /// Why, for people.
    pub(crate) why: OnceLock<String>,
    /// What it printed last on its standard error.
    pub(crate) last_words: Mutex<String>,
    pub(crate) over: Notify,
}

impl Link {
    pub(crate) fn new(
        (workspace, name, made_at, below): (Workspace, String, Option<Id>, Option<PathBuf>),
        exec: Exec,
        connection: ConnectionTo<Agent>,
        (stop, ending): (Arc<Notify>, Arc<Ending>),
    ) -> Self {
        let had_session = AtomicBool::new(false);
        Self { workspace, name, made_at, below, exec, connection, stop, ending, had_session }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.ending.why.get().is_some()
    }

    pub(crate) fn note_session(&self) {
        self.had_session.store(true, Ordering::Relaxed);
    }

    pub(crate) fn had_session(&self) -> bool {
        self.had_session.load(Ordering::Relaxed)
    }

    /// Whether a folder is in the project that the process runs in.
    pub(crate) fn holds(&self, folder: &Path) -> bool {
        let own = self.workspace.project().folder().ok().flatten();
        let Ok(folder) = folder.canonicalize() else { return false };
        own.is_some_and(|own| own == folder)
    }

    /// Has the agent say what it can do, and logs in as the editor did.
    pub(crate) async fn first_words(
        &self,
        initialize: Value,
        authenticate: Option<Value>,
    ) -> Result<Value, Error> {
        let asked = tokio::time::timeout(START, self.ask("initialize", initialize)).await;
        let answer = asked.unwrap_or_else(|_| {
            let seconds = START.as_secs();
            Err(fault(format!("the agent did not answer `initialize` within {seconds} s")))
        })?;
        match answer.get("protocolVersion").and_then(Value::as_u64) {
            Some(1) => {}
            other => {
                let version = other.map_or_else(|| "none".to_owned(), |number| number.to_string());
                return Err(fault(format!(
                    "the agent speaks version {version} of the protocol; Offshoot speaks 1"
                )));
            }
        }
        if let Some(login) = authenticate {
            self.ask("authenticate", login).await?;
        }
        Ok(answer)
    }

    /// Asks the agent something, and waits for the answer. Not for handlers of its own connection.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Result<Value, Error> {
        if self.is_over() {
            return Err(self.explain(fault("")));
        }
        let sent = self.connection.send_request(UntypedMessage::new(method, params)?);
        sent.block_task().await.map_err(|error| self.explain(error))
    }

    /// Lets the agent know something.
    pub(crate) fn tell(&self, method: &str, params: Value) {
        let message = UntypedMessage::new(method, params);
        let told = message.and_then(|message| self.connection.send_notification(message));
        let _over = told.is_err();
    }

    /// An error of the agent as it is, or why there is no agent any more.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let Some(why) = self.ending.why.get() else { return error };
        let words = self.ending.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let words = match words.trim() {
            "" => String::new(),
            words => format!("; it said: {words}"),
        };
        let name = &self.name;
        fault(format!("the agent ended: {why}{words}. What it wrote is in workspace {name}"))
    }

    /// Makes a workspace of what the agent has written so far.
    pub(crate) fn fork(&self, name: &str) -> offshoot_engine::Result<Workspace> {
        let project = self.workspace.project();
        place::numbered(name, |name| project.live_fork(&self.exec.id(), name))
    }

    /// Ends the process, and waits until what it did is recorded.
    pub(crate) async fn end(&self) {
        self.stop.notify_one();
        let over = self.ending.over.notified();
        if !self.is_over() && tokio::time::timeout(LEAVE, over).await.is_err() && !self.is_over() {
            self.exec.cancel();
        }
        let exec = self.exec.clone();
        let _panicked = tokio::task::spawn_blocking(move || exec.wait()).await.is_err();
    }

    /// Removes a workspace that nobody got to use.
    pub(crate) fn remove_if_unused(&self) -> offshoot_engine::Result<()> {
        if let Some(made_at) = self.made_at
            && self.workspace.record()?.state.head == made_at
        {
            self.workspace.clone().delete()?;
        }
        Ok(())
    }
}
