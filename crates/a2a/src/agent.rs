//! Who does the work.

use std::future::Future;

use futures::future::BoxFuture;

use crate::wire::{A2aMessage, A2aPart, A2aTask};
use crate::work::A2aWork;

/// Does what messages ask for.
///
/// ```
/// use offshoot_a2a::{A2aAgent, A2aArtifact, A2aMessage, A2aPart, A2aTaskFailure, A2aWork};
///
/// struct Echo;
///
/// impl A2aAgent for Echo {
///     async fn handle(&self, message: A2aMessage, work: A2aWork) -> Result<(), A2aTaskFailure> {
///         let said = A2aPart::text(message.text());
///         work.artifact(A2aArtifact::new("echo", vec![said])).await?;
///         Ok(())
///     }
/// }
/// ```
pub trait A2aAgent: Send + Sync + 'static {
    /// Works on a message. If it returns without an end of the task, the task is completed; if it returns because it set
    /// [`A2aWork::pause`], it is called again with the next message. An error or a panic fails the task.
    ///
    /// The task goes on when the client that sent the message is gone. When it is cancelled, [`A2aWork::cancelled`] says so; what
    /// has not returned some seconds later is dropped at its next `.await`.
    fn handle(
        &self,
        message: A2aMessage,
        work: A2aWork,
    ) -> impl Future<Output = Result<(), A2aTaskFailure>> + Send;

    /// Answers a message at once, without a task. By default every message becomes a task.
    fn answer(
        &self,
        message: &A2aMessage,
        client: &str,
    ) -> impl Future<Output = Option<Vec<A2aPart>>> + Send {
        let _: (&A2aMessage, &str) = (message, client);
        async { None }
    }

    /// What becomes of a task that was worked on when the process ended. By default it fails.
    fn after_restart(&self, task: &A2aTask) -> A2aAfterRestart {
        let _: &A2aTask = task;
        A2aAfterRestart::Fail
    }
}

/// What becomes of a task that was worked on when the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum A2aAfterRestart {
    /// It fails.
    Fail,
    /// [`A2aAgent::handle`] is called once more with the client's last message; [`A2aWork::is_resumed`] says so.
    Resume,
}

/// Why a task failed, as its client is told. Any error can become one, so errors with secrets have to be told in other words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct A2aTaskFailure(pub String);

impl<E: std::error::Error> From<E> for A2aTaskFailure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// The same agent behind a pointer.
pub(crate) trait AnyAgent: Send + Sync {
    fn handle(
        &self,
        message: A2aMessage,
        work: A2aWork,
    ) -> BoxFuture<'_, Result<(), A2aTaskFailure>>;
    fn answer<'a>(
        &'a self,
        message: &'a A2aMessage,
        client: &'a str,
    ) -> BoxFuture<'a, Option<Vec<A2aPart>>>;
    fn after_restart(&self, task: &A2aTask) -> A2aAfterRestart;
}

impl<T: A2aAgent> AnyAgent for T {
    fn handle(
        &self,
        message: A2aMessage,
        work: A2aWork,
    ) -> BoxFuture<'_, Result<(), A2aTaskFailure>> {
        Box::pin(A2aAgent::handle(self, message, work))
    }

    fn answer<'a>(
        &'a self,
        message: &'a A2aMessage,
        client: &'a str,
    ) -> BoxFuture<'a, Option<Vec<A2aPart>>> {
        Box::pin(A2aAgent::answer(self, message, client))
    }

    fn after_restart(&self, task: &A2aTask) -> A2aAfterRestart {
        A2aAgent::after_restart(self, task)
    }
}
