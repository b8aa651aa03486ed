//! A task as a state machine: what may happen to it, and what it is afterwards. Pure: the time comes with the change.

use std::collections::BTreeSet;
use std::io;

use serde::{Deserialize, Serialize};

use crate::id;
use crate::limits::A2aTaskLimits;
use crate::wire::{
    A2aArtifact, A2aArtifactUpdate, A2aEvent, A2aMessage, A2aPushConfig, A2aState, A2aStatus,
    A2aStatusUpdate, A2aTask,
};

/// A task and what belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct A2aTaskRecord {
    /// The client that it belongs to.
    pub owner: String,
    /// The task as clients see it.
    pub task: A2aTask,
    /// Its webhooks.
    #[serde(default)]
    pub pushes: Vec<A2aPushConfig>,
    /// Artifacts whose last chunk was there.
    #[serde(default)]
    pub closed: BTreeSet<String>,
    /// When it changed last, in milliseconds since 1970.
    pub changed: i64,
    /// Bytes of its messages and artifacts as JSON.
    #[serde(default)]
    pub weight: usize,
}

/// Something that happens to a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct A2aTaskChange {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// What.
    pub what: A2aTaskStep,
}

/// What happens to a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum A2aTaskStep {
    /// The client says something the agent waits for.
    Message(A2aMessage),
    /// The agent says where the task is.
    Status {
        /// The state.
        state: A2aState,
        /// What the agent says with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<A2aMessage>,
    },
    /// The agent has a result, or more of one.
    Artifact {
        /// The artifact, or what is new of it.
        artifact: A2aArtifact,
        /// Whether it comes behind what is there.
        append: bool,
        /// Whether nothing more comes.
        last: bool,
    },
    /// A webhook is added, or replaced by its id.
    SetPush(A2aPushConfig),
    /// A webhook is removed.
    RemovePush(String),
}

/// Why something cannot happen to a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum A2aRefusal {
    /// Nothing happens to a task that is over.
    #[error("the task is {} already", .state.as_str())]
    Over {
        /// The state that it ended in.
        state: A2aState,
    },
    /// The state cannot follow.
    #[error("a task cannot go from {} to {}", .from.as_str(), .to.as_str())]
    Transition {
        /// The state it is in.
        from: A2aState,
        /// The state that was asked for.
        to: A2aState,
    },
    /// A message came although the agent waits for none.
    #[error("the task is {} and waits for no message", .state.as_str())]
    NotAsked {
        /// The state it is in.
        state: A2aState,
    },
    /// More of an artifact came that is not there.
    #[error("there is no artifact {id} to append to")]
    UnknownArtifact {
        /// Its name.
        id: String,
    },
    /// More of an artifact came after its last chunk.
    #[error("the last chunk of the artifact {id} was sent already")]
    ClosedArtifact {
        /// Its name.
        id: String,
    },
    /// There would be too much of something.
    #[error("a task has at most {limit} {what}")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl A2aTaskRecord {
    /// A new task that begins with a message.
    #[must_use]
    pub fn begin(
        owner: impl Into<String>,
        id: impl Into<String>,
        context: impl Into<String>,
        mut message: A2aMessage,
        at: i64,
    ) -> Self {
        let (id, context_id) = (id.into(), context.into());
        message.task_id = Some(id.clone());
        message.context_id = Some(context_id.clone());
        let weight = weight(&message);
        let status = status(A2aState::Submitted, None, at);
        let (artifacts, history) = (Vec::new(), vec![message]);
        let task = A2aTask { id, context_id, status, artifacts, history, metadata: None };
        let (pushes, closed) = (Vec::new(), BTreeSet::new());
        Self { owner: owner.into(), task, pushes, closed, changed: at, weight }
    }

    /// The state of the task.
    #[must_use]
    pub fn state(&self) -> A2aState {
        self.task.status.state
    }

    /// Whether something may happen now.
    ///
    /// # Errors
    ///
    /// Says why it may not.
    pub fn check(&self, step: &A2aTaskStep, limits: &A2aTaskLimits) -> Result<(), A2aRefusal> {
        let state = self.state();
        // Webhooks of a task that is over are of no use, but whoever removes one may.
        if state.is_terminal() && !matches!(step, A2aTaskStep::RemovePush(_)) {
            return Err(A2aRefusal::Over { state });
        }
        let more = match step {
            A2aTaskStep::Message(_) if !state.is_interrupted() => {
                return Err(A2aRefusal::NotAsked { state });
            }
            A2aTaskStep::Message(message) => weight(message),
            A2aTaskStep::Status { state: to, .. } if !may_follow(state, *to) => {
                return Err(A2aRefusal::Transition { from: state, to: *to });
            }
            // A task can always end, whatever the agent says with it.
            A2aTaskStep::Status { state: to, message: None } if to.is_terminal() => return Ok(()),
            A2aTaskStep::Status { message, .. } => message.as_ref().map_or(0, weight),
            A2aTaskStep::Artifact { artifact, append, .. } => {
                self.check_artifact(artifact, *append, limits)?;
                weight(artifact)
            }
            A2aTaskStep::SetPush(config) => {
                let is_new = self.pushes.iter().all(|push| push.id != config.id);
                if is_new && self.pushes.len() >= limits.push_configs {
                    let limit = limits.push_configs;
                    return Err(A2aRefusal::TooMuch { what: "push configurations", limit });
                }
                return Ok(());
            }
            A2aTaskStep::RemovePush(_) => return Ok(()),
        };
        if self.weight.saturating_add(more) > limits.task_bytes {
            return Err(A2aRefusal::TooMuch { what: "bytes", limit: limits.task_bytes });
        }
        Ok(())
    }

    fn check_artifact(
        &self,
        artifact: &A2aArtifact,
        append: bool,
        limits: &A2aTaskLimits,
    ) -> Result<(), A2aRefusal> {
        let id = &artifact.artifact_id;
        let is_there = self.task.artifacts.iter().any(|known| known.artifact_id == *id);
        match (append, is_there) {
            (true, false) => Err(A2aRefusal::UnknownArtifact { id: id.clone() }),
            (true, true) if self.closed.contains(id) => {
                Err(A2aRefusal::ClosedArtifact { id: id.clone() })
            }
            (false, false) if self.task.artifacts.len() >= limits.artifacts => {
                Err(A2aRefusal::TooMuch { what: "artifacts", limit: limits.artifacts })
            }
            _ => Ok(()),
        }
    }

    /// Makes it happen, after [`A2aTaskRecord::check`]. What subscribers are told comes back.
    pub fn commit(&mut self, change: A2aTaskChange, limits: &A2aTaskLimits) -> Option<A2aEvent> {
        let at = change.at.max(self.changed);
        self.changed = at;
        match change.what {
            A2aTaskStep::Message(message) => {
                self.set_status(A2aState::Working, None, at);
                self.remember(message);
                self.forget(limits.history);
                Some(self.status_event())
            }
            A2aTaskStep::Status { state, message } => {
                self.set_status(state, message, at);
                self.forget(limits.history);
                Some(self.status_event())
            }
            A2aTaskStep::Artifact { artifact, append, last } => {
                Some(self.set_artifact(artifact, append, last))
            }
            A2aTaskStep::SetPush(config) => {
                self.pushes.retain(|push| push.id != config.id);
                self.pushes.push(config);
                None
            }
            A2aTaskStep::RemovePush(id) => {
                self.pushes.retain(|push| push.id != id);
                None
            }
        }
    }

    /// What was said with the last status becomes history.
    fn set_status(&mut self, state: A2aState, message: Option<A2aMessage>, at: i64) {
        let message = message.map(|message| self.stamped(message));
        self.weight += message.as_ref().map_or(0, weight);
        let before = std::mem::replace(&mut self.task.status, status(state, message, at));
        self.task.history.extend(before.message);
    }

    fn remember(&mut self, message: A2aMessage) {
        let message = self.stamped(message);
        self.weight += weight(&message);
        self.task.history.push(message);
    }

    fn stamped(&self, mut message: A2aMessage) -> A2aMessage {
        message.task_id = Some(self.task.id.clone());
        message.context_id = Some(self.task.context_id.clone());
        message
    }

    fn forget(&mut self, most: usize) {
        let gone = self.task.history.len().saturating_sub(most);
        for message in self.task.history.drain(..gone) {
            self.weight = self.weight.saturating_sub(weight(&message));
        }
    }

    fn set_artifact(&mut self, artifact: A2aArtifact, append: bool, last: bool) -> A2aEvent {
        let id = artifact.artifact_id.clone();
        self.weight += weight(&artifact);
        let found = self.task.artifacts.iter().position(|known| known.artifact_id == id);
        match found {
            Some(at) if append => {
                let known = &mut self.task.artifacts[at];
                known.parts.extend(artifact.parts.iter().cloned());
                if let Some(more) = &artifact.metadata {
                    known.metadata.get_or_insert_default().extend(more.clone());
                }
            }
            Some(at) => {
                let before = std::mem::replace(&mut self.task.artifacts[at], artifact.clone());
                self.weight = self.weight.saturating_sub(weight(&before));
                self.closed.remove(&id);
            }
            None => self.task.artifacts.push(artifact.clone()),
        }
        if last {
            self.closed.insert(id);
        }
        let (task_id, context_id) = (self.task.id.clone(), self.task.context_id.clone());
        let last_chunk = last;
        let metadata = None;
        A2aEvent::ArtifactUpdate(A2aArtifactUpdate {
            task_id,
            context_id,
            artifact,
            append,
            last_chunk,
            metadata,
        })
    }

    fn status_event(&self) -> A2aEvent {
        let (task_id, context_id) = (self.task.id.clone(), self.task.context_id.clone());
        let status = self.task.status.clone();
        A2aEvent::StatusUpdate(A2aStatusUpdate { task_id, context_id, status, metadata: None })
    }

    /// The task with at most so many messages of its history.
    pub(crate) fn view(&self, history: Option<u32>, artifacts: bool) -> A2aTask {
        let task = &self.task;
        let most = history.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let from = task.history.len().saturating_sub(most);
        A2aTask {
            id: task.id.clone(),
            context_id: task.context_id.clone(),
            status: task.status.clone(),
            artifacts: if artifacts { task.artifacts.clone() } else { Vec::new() },
            history: task.history[from..].to_vec(),
            metadata: task.metadata.clone(),
        }
    }
}

/// Whether a task can go from one state to another by what an agent says.
#[must_use]
pub(crate) fn may_follow(from: A2aState, to: A2aState) -> bool {
    !from.is_terminal() && to != A2aState::Submitted
}

fn status(state: A2aState, message: Option<A2aMessage>, at: i64) -> A2aStatus {
    A2aStatus { state, message, timestamp: Some(id::time_text(at)) }
}

/// Bytes of something as JSON.
pub(crate) fn weight(what: &impl Serialize) -> usize {
    struct Counted(usize);
    impl io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted(0);
    match serde_json::to_writer(&mut counted, what) {
        Ok(()) => counted.0,
        // Messages have no maps with keys that are no texts, so this does not happen; it counts as too much.
        Err(_) => usize::MAX / 4,
    }
}
