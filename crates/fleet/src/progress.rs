//! What happens in an agent that is served, for whoever watches it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use tokio::sync::broadcast;

/// So many lines wait for a slow reader.
const WAITING: usize = 1_024;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
#[non_exhaustive]
pub enum FleetProgress {
    /// A task was accepted, or asked for again.
    Accepted {
        /// Its number.
        task: u64,
        /// Who sent it.
        from: String,
        /// Whether it was there already.
        again: bool,
    },
    /// An attempt at a task begins.
    Begun {
        /// Its number.
        task: u64,
        /// Which attempt.
        attempt: u32,
    },
    /// A workspace and a session are what the task works in.
    Works {
        /// Its number.
        task: u64,
        /// The workspace.
        workspace: String,
        /// The session.
        session: String,
    },
    /// The agent's conversation has one more event.
    Said {
        /// The task.
        task: u64,
        /// The event, as the session has it.
        event: Value,
    },
    /// Somebody is asked.
    Asked {
        /// The task.
        task: u64,
        /// Who.
        whom: String,
        /// What.
        text: String,
    },
    /// There is an answer.
    Answered {
        /// The task.
        task: u64,
        /// The question.
        key: String,
        /// By whom.
        by: String,
    },
    /// A governance agent could not be asked.
    Unasked {
        /// The task.
        task: u64,
        /// Who.
        whom: String,
        /// Why.
        why: String,
    },
    /// An attempt at a task is over.
    Rested {
        /// Its number.
        task: u64,
        /// How.
        how: String,
    },
    /// Another agent told of something that was denied or escalated.
    Heard {
        /// The task that it is.
        task: u64,
        /// What was told.
        event: Value,
    },
}

/// Passes on what happens. Nobody is waited for.
#[derive(Clone)]
pub(crate) struct Watched {
    sender: broadcast::Sender<Arc<str>>,
    listener: Arc<dyn Fn(&FleetProgress) + Send + Sync>,
}

impl Watched {
    pub(crate) fn new(listener: Arc<dyn Fn(&FleetProgress) + Send + Sync>) -> Self {
        Self { sender: broadcast::channel(WAITING).0, listener }
    }

    pub(crate) fn tell(&self, progress: &FleetProgress) {
        (self.listener)(progress);
        if self.sender.receiver_count() > 0
            && let Ok(line) = serde_json::to_string(progress)
        {
            // Whoever watched may have gone since.
            drop(self.sender.send(line.into()));
        }
    }

    pub(crate) fn watch(&self) -> broadcast::Receiver<Arc<str>> {
        self.sender.subscribe()
    }
}
