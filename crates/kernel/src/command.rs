//! What the loop of a kernel is asked for.

use tokio::sync::{mpsc, oneshot};

use crate::error::KernelError;
use crate::input::{AttemptInput, KernelInput, KernelReply};
use crate::state::KernelState;
use crate::task::{TaskId, TaskMessage, TaskOutcome};

/// Tells how an input went, once that is durable.
pub(crate) type ReplyTo = oneshot::Sender<Result<KernelReply, KernelError>>;

/// A look at the state.
pub(crate) type View = Box<dyn FnOnce(&KernelState) + Send>;

pub(crate) enum Command {
    Input(KernelInput, Option<ReplyTo>),
    /// A message, and who hears of its outcome.
    Send(Box<TaskMessage>, ReplyTo, oneshot::Sender<TaskOutcome>),
    View(View),
}

/// The way to the loop of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Commands {
    sender: mpsc::Sender<Command>,
}

impl Commands {
    pub(crate) fn new(bound: usize) -> (Self, mpsc::Receiver<Command>) {
        let (sender, receiver) = mpsc::channel(bound);
        (Self { sender }, receiver)
    }

    pub(crate) async fn input(&self, input: KernelInput) -> Result<KernelReply, KernelError> {
        let (reply, replied) = oneshot::channel();
        self.command(Command::Input(input, Some(reply))).await?;
        replied.await.unwrap_or(Err(KernelError::Stopped))
    }

    pub(crate) async fn attempt(
        &self,
        id: TaskId,
        attempt: u32,
        input: AttemptInput,
    ) -> Result<KernelReply, KernelError> {
        self.input(KernelInput::Attempt(id, attempt, input)).await
    }

    pub(crate) async fn view<T: Send + 'static>(
        &self,
        look: impl FnOnce(&KernelState) -> T + Send + 'static,
    ) -> Result<T, KernelError> {
        let (reply, replied) = oneshot::channel();
        // Whoever asked may be gone; then nobody wants to know.
        let view = move |state: &KernelState| drop(reply.send(look(state)));
        self.command(Command::View(Box::new(view))).await?;
        replied.await.map_err(|_| KernelError::Stopped)
    }

    pub(crate) async fn command(&self, command: Command) -> Result<(), KernelError> {
        self.sender.send(command).await.map_err(|_| KernelError::Stopped)
    }
}
