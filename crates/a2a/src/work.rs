//! What an agent can do with its task.

use std::sync::Arc;

use crate::hub::{Hub, Live};
use crate::record::A2aTaskStep;
use crate::store::A2aStoreError;
use crate::wire::{A2aArtifact, A2aMessage, A2aPart, A2aState, A2aTask};

/// The task that an agent works on. Clones are the same task.
#[derive(Clone)]
pub struct A2aWork {
    pub(crate) hub: Arc<Hub>,
    pub(crate) live: Arc<Live>,
    pub(crate) about: Arc<About>,
}

/// What does not change while an agent works.
pub(crate) struct About {
    pub(crate) context: String,
    pub(crate) client: String,
    pub(crate) is_resumed: bool,
    pub(crate) accepts: Vec<String>,
}

/// What an agent waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum A2aPause {
    /// A message of the client.
    Input,
    /// That the client authorises something.
    Auth,
}

/// Why something cannot be told of a task.
#[derive(Debug, thiserror::Error)]
pub enum A2aWorkError {
    /// It may not happen to the task, or cannot be kept.
    #[error(transparent)]
    Store(#[from] A2aStoreError),
    /// The task was cancelled.
    #[error("the task was cancelled")]
    Cancelled,
}

impl A2aWork {
    /// The name of the task.
    #[must_use]
    pub fn task_id(&self) -> &str {
        &self.live.id
    }

    /// The name of the conversation. Two clients may use the same: it is theirs only together with [`A2aWork::client`].
    #[must_use]
    pub fn context_id(&self) -> &str {
        &self.about.context
    }

    /// The name of the client, by its token.
    #[must_use]
    pub fn client(&self) -> &str {
        &self.about.client
    }

    /// Whether the task was worked on before in a process that ended.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        self.about.is_resumed
    }

    /// Media types that the client wants; empty if it said nothing.
    #[must_use]
    pub fn accepted_output_modes(&self) -> &[String] {
        &self.about.accepts
    }

    /// The task as it is now, with its history.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub async fn task(&self) -> Result<A2aTask, A2aWorkError> {
        let record = self.hub.get(&self.live.id).await?;
        Ok(record.task)
    }

    /// Tells that work goes on.
    ///
    /// # Errors
    ///
    /// If the task is over, or it cannot be kept.
    pub async fn progress(&self, text: impl Into<String>) -> Result<(), A2aWorkError> {
        self.status(A2aState::Working, vec![A2aPart::text(text)]).await
    }

    /// Tells a state with a message.
    ///
    /// # Errors
    ///
    /// If the state cannot follow, or it cannot be kept.
    pub async fn status(&self, state: A2aState, parts: Vec<A2aPart>) -> Result<(), A2aWorkError> {
        let message = (!parts.is_empty()).then(|| A2aMessage::agent(parts));
        self.tell(A2aTaskStep::Status { state, message }).await
    }

    /// Gives a whole artifact.
    ///
    /// # Errors
    ///
    /// If the task is over, the artifact is too much, or it cannot be kept.
    pub async fn artifact(&self, artifact: A2aArtifact) -> Result<(), A2aWorkError> {
        self.tell(A2aTaskStep::Artifact { artifact, append: false, last: true }).await
    }

    /// Gives the first part of an artifact that comes in chunks.
    ///
    /// # Errors
    ///
    /// As [`A2aWork::artifact`].
    pub async fn begin_artifact(&self, artifact: A2aArtifact) -> Result<(), A2aWorkError> {
        self.tell(A2aTaskStep::Artifact { artifact, append: false, last: false }).await
    }

    /// Gives more of an artifact that was begun.
    ///
    /// # Errors
    ///
    /// As [`A2aWork::artifact`]; also if the artifact was not begun, or its last chunk was given.
    pub async fn append_artifact(
        &self,
        id: impl Into<String>,
        parts: Vec<A2aPart>,
        last: bool,
    ) -> Result<(), A2aWorkError> {
        let artifact = A2aArtifact::new(id, parts);
        self.tell(A2aTaskStep::Artifact { artifact, append: true, last }).await
    }

    /// Completes the task with a message.
    ///
    /// # Errors
    ///
    /// If the task is over, or it cannot be kept.
    pub async fn complete(&self, text: impl Into<String>) -> Result<(), A2aWorkError> {
        self.status(A2aState::Completed, vec![A2aPart::text(text)]).await
    }

    /// Declines to do the task.
    ///
    /// # Errors
    ///
    /// If the task is over, or it cannot be kept.
    pub async fn reject(&self, text: impl Into<String>) -> Result<(), A2aWorkError> {
        self.status(A2aState::Rejected, vec![A2aPart::text(text)]).await
    }

    /// Says that a message is needed. The agent returns then, and [`A2aAgent::handle`](crate::A2aAgent::handle) is called with the
    /// message. This survives a restart, which [`A2aWork::ask`] does not.
    ///
    /// # Errors
    ///
    /// If the task is over, or it cannot be kept.
    pub async fn pause(&self, what: A2aPause, parts: Vec<A2aPart>) -> Result<(), A2aWorkError> {
        self.status(what.state(), parts).await
    }

    /// Says that a message is needed and waits for it.
    ///
    /// # Errors
    ///
    /// If the task is over or gets cancelled, or it cannot be kept.
    pub async fn ask(
        &self,
        what: A2aPause,
        parts: Vec<A2aPart>,
    ) -> Result<A2aMessage, A2aWorkError> {
        let message = (!parts.is_empty()).then(|| A2aMessage::agent(parts));
        let step = A2aTaskStep::Status { state: what.state(), message };
        let answer = self.hub.ask(&self.live, step).await?;
        tokio::select! {
            biased;
            () = self.cancelled() => Err(A2aWorkError::Cancelled),
            answer = answer => answer.map_err(|_| A2aWorkError::Cancelled),
        }
    }

    /// Waits until the task is cancelled.
    pub async fn cancelled(&self) {
        self.live.cancel.cancelled().await;
    }

    /// Whether the task was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.live.cancel.is_cancelled()
    }

    async fn tell(&self, step: A2aTaskStep) -> Result<(), A2aWorkError> {
        Ok(self.hub.tell(&self.live, step).await?)
    }
}

impl std::fmt::Debug for A2aWork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("A2aWork").field("task", &self.live.id).finish_non_exhaustive()
    }
}

impl A2aPause {
    fn state(self) -> A2aState {
        match self {
            Self::Input => A2aState::InputRequired,
            Self::Auth => A2aState::AuthRequired,
        }
    }
}
