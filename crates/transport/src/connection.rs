//! A handle of one session.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use offshoot_mxp::MessageKind;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout_at};

use crate::command::{Command, Notice};
use crate::error::{CallHandled, PeerCallError, PeerSendError, PeerStreamError};
use crate::message::{PeerBody, PeerMessage};
use crate::name::PeerName;
use crate::session::PeerTicket;
use crate::stream::PeerStream;

/// So many commands wait for the task that has the session.
const COMMANDS: usize = 64;

/// A request.
#[derive(Clone, Debug)]
pub struct PeerCall {
    /// `Call`, `AgentRegister`, `AgentDiscover` or `AgentHeartbeat`.
    pub kind: MessageKind,
    /// Its payload.
    pub body: PeerBody,
    /// How long to wait for the response; none waits as long as the session lives.
    pub deadline: Option<Duration>,
    /// Whether it may be handled twice, so that it can be sent again after a lost connection.
    pub idempotent: bool,
}

/// A handle of one session with one peer. Clones are handles of the same session.
#[derive(Clone)]
pub struct PeerConnection {
    shared: Arc<Shared>,
}

struct Shared {
    name: OnceLock<PeerName>,
    commands: mpsc::Sender<Command>,
    notices: mpsc::UnboundedSender<Notice>,
    tickets: AtomicU64,
    attached: watch::Receiver<bool>,
}

/// The other ends of a handle.
pub(crate) struct Ends {
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) notices: mpsc::UnboundedReceiver<Notice>,
    pub(crate) attached: watch::Sender<bool>,
}

impl PeerConnection {
    pub(crate) fn new(name: Option<PeerName>) -> (Self, Ends) {
        let (commands, command_end) = mpsc::channel(COMMANDS);
        let (notices, notice_end) = mpsc::unbounded_channel();
        let (attached_end, attached) = watch::channel(false);
        let cell = OnceLock::new();
        if let Some(name) = name {
            // The cell is new, so there is nothing in it.
            drop(cell.set(name));
        }
        let shared = Shared { name: cell, commands, notices, tickets: AtomicU64::new(1), attached };
        let ends = Ends { commands: command_end, notices: notice_end, attached: attached_end };
        (Self { shared: Arc::new(shared) }, ends)
    }

    /// The proven name of the other side; none before a client's first connection.
    pub fn name(&self) -> Option<&PeerName> {
        self.shared.name.get()
    }

    pub(crate) fn set_name(&self, name: PeerName) {
        self.shared.name.get_or_init(|| name);
    }

    /// Whether there is a connection at this moment.
    pub fn is_connected(&self) -> bool {
        *self.shared.attached.borrow()
    }

    /// Waits until there is a connection; false if the session is over.
    pub async fn connected(&self) -> bool {
        let mut attached = self.shared.attached.clone();
        attached.wait_for(|it| *it).await.is_ok()
    }

    /// Waits until there is no connection.
    pub async fn disconnected(&self) {
        let mut attached = self.shared.attached.clone();
        // An error means that the session is over, and so is its connection.
        drop(attached.wait_for(|it| !*it).await);
    }

    /// Makes a request and waits for its response. Dropping the future cancels the request, at the other side too.
    pub async fn call(
        &self,
        kind: MessageKind,
        body: impl Into<PeerBody>,
        deadline: Duration,
    ) -> Result<PeerMessage, PeerCallError> {
        let body = body.into();
        self.request(PeerCall { kind, body, deadline: Some(deadline), idempotent: false }).await
    }

    /// The same with all options.
    pub async fn request(&self, call: PeerCall) -> Result<PeerMessage, PeerCallError> {
        let PeerCall { kind, body, deadline, idempotent } = call;
        let deadline = deadline.and_then(|time| Instant::now().checked_add(time));
        let ticket = self.ticket();
        let (reply, result) = oneshot::channel();
        let command = Command::Call { ticket, kind, body, deadline, idempotent, reply };
        let sending = self.shared.commands.send(command);
        let sent = match deadline {
            None => sending.await,
            Some(deadline) => match timeout_at(deadline, sending).await {
                Ok(sent) => sent,
                Err(_late) => return Err(PeerCallError::Deadline { handled: CallHandled::No }),
            },
        };
        if sent.is_err() {
            return Err(PeerCallError::Closed);
        }
        let mut guard = CancelGuard { connection: self, ticket: Some(ticket) };
        let result = result.await;
        guard.ticket = None;
        result.unwrap_or(Err(PeerCallError::Disconnected { handled: CallHandled::Maybe }))
    }

    /// Sends an event. Acknowledged, it waits until the other side's handler is done with it, over as many connections as it takes; else only
    /// until it is queued.
    pub async fn send(
        &self,
        event: impl Into<PeerBody>,
        acknowledged: bool,
    ) -> Result<(), PeerSendError> {
        let (reply, result) = oneshot::channel();
        let (ticket, body) = (self.ticket(), event.into());
        let command = Command::Send { ticket, body, acknowledged, reply };
        self.shared.commands.send(command).await.map_err(|_gone| PeerSendError::Closed)?;
        result.await.unwrap_or(Err(PeerSendError::Closed))
    }

    /// Opens a stream with a first message, which its handler gets.
    pub async fn open_stream(
        &self,
        open: impl Into<PeerBody>,
    ) -> Result<PeerStream, PeerStreamError> {
        let (reply, result) = oneshot::channel();
        self.command(Command::Open { body: open.into(), reply }).await?;
        let (id, incoming) = result.await.unwrap_or(Err(PeerStreamError::Disconnected))?;
        Ok(PeerStream::new(id, incoming, self.clone()))
    }

    /// Takes no more requests and starts none; the session ends when nothing is open, or when the time is over. Returns at once.
    pub fn drain(&self, time: Duration) {
        self.notice(Notice::Drain(time));
    }

    pub(crate) async fn command(&self, command: Command) -> Result<(), PeerStreamError> {
        let sent = self.shared.commands.send(command).await;
        sent.map_err(|_gone| PeerStreamError::Disconnected)
    }

    pub(crate) fn notice(&self, notice: Notice) {
        // If nobody hears it, the session is over, and so is what the notice is about.
        drop(self.shared.notices.send(notice));
    }

    fn ticket(&self) -> PeerTicket {
        self.shared.tickets.fetch_add(1, Ordering::Relaxed)
    }
}

impl fmt::Debug for PeerConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PeerConnection({:?})", self.name())
    }
}

/// Cancels a call whose future was dropped.
struct CancelGuard<'a> {
    connection: &'a PeerConnection,
    ticket: Option<PeerTicket>,
}

impl Drop for CancelGuard<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.connection.notice(Notice::Cancel(ticket));
        }
    }
}
