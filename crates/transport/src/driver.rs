//! The task that has a session: it joins it with pipes, handlers and handles.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures::future::{AbortHandle, BoxFuture, FutureExt, abortable};
use futures::stream::{FuturesUnordered, StreamExt};
use offshoot_mxp::{FailureBody, MessageError};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::command::{Command, Notice, StreamItem};
use crate::connection::{Ends, PeerConnection};
use crate::error::{ConnectionEnd, PeerCallError, PeerSendError, PeerStreamError, failure};
use crate::handler::AnyHandler;
use crate::message::{PeerBody, PeerMessage};
use crate::pipe::Pipe;
use crate::session::{OutgoingCall, PeerSession, PeerTicket, SessionAction};
use crate::stream::PeerStream;

/// So much is encoded before it is written.
const BATCH: usize = 128 << 10;

/// So many commands are taken at once.
const COMMANDS: usize = 64;

/// So long the last messages of a connection may take.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Without anything to wait for, look again after this time.
const LONG: Duration = Duration::from_secs(3600);

/// What a handler came to.
enum Work {
    Answered(u64, Result<PeerBody, FailureBody>),
    EventDone(Result<(), FailureBody>),
    StreamDone(u64, Result<(), FailureBody>),
    Aborted,
}

struct StreamPort {
    incoming: mpsc::UnboundedSender<StreamItem>,
    writer: Option<oneshot::Sender<Result<(), PeerStreamError>>>,
}

/// Why a turn ended.
pub(crate) enum Turn<T> {
    /// What was waited for came.
    Until(T),
    /// The connection is over.
    Ended(ConnectionEnd),
}

pub(crate) struct Driver {
    pub(crate) session: PeerSession,
    handler: Arc<dyn AnyHandler>,
    handle: PeerConnection,
    commands: mpsc::Receiver<Command>,
    notices: mpsc::UnboundedReceiver<Notice>,
    attached: watch::Sender<bool>,
    origin: Instant,
    work: FuturesUnordered<BoxFuture<'static, Work>>,
    requests: HashMap<u64, AbortHandle>,
    calls: HashMap<PeerTicket, oneshot::Sender<Result<PeerMessage, PeerCallError>>>,
    events: HashMap<PeerTicket, oneshot::Sender<Result<(), PeerSendError>>>,
    streams: HashMap<u64, StreamPort>,
    served: usize,
    most_served: usize,
    /// Why the connection ends, and how long the last words may take.
    closing: Option<(ConnectionEnd, Instant)>,
    draining: bool,
    drain_until: Option<Instant>,
    /// The time to drain is over.
    is_over: bool,
}

impl Driver {
    pub(crate) fn new(
        session: PeerSession,
        handler: Arc<dyn AnyHandler>,
        handle: PeerConnection,
        ends: Ends,
    ) -> Self {
        let Ends { commands, notices, attached } = ends;
        let most_served = session.offered().streams;
        Self {
            session,
            handler,
            handle,
            commands,
            notices,
            attached,
            origin: Instant::now(),
            work: FuturesUnordered::new(),
            requests: HashMap::new(),
            calls: HashMap::new(),
            events: HashMap::new(),
            streams: HashMap::new(),
            served: 0,
            most_served,
            closing: None,
            draining: false,
            drain_until: None,
            is_over: false,
        }
    }

    /// The time as the session counts it.
    pub(crate) fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    /// The handle of this session.
    pub(crate) fn handle(&self) -> &PeerConnection {
        &self.handle
    }

    /// Whether the session is to end: it was drained, and nothing is left or its time is over.
    pub(crate) fn is_done(&self) -> bool {
        self.is_over || (self.draining && self.session.is_idle())
    }

    /// A handshake is over.
    pub(crate) fn attach(
        &mut self,
        resumed: bool,
        received: u64,
        peer: crate::limits::OfferedLimits,
    ) {
        self.closing = None;
        self.session.attach(self.now(), resumed, received, peer);
        self.attached.send_replace(true);
    }

    /// The connection is gone.
    pub(crate) fn detach(&mut self) {
        self.session.detach();
        self.attached.send_replace(false);
        self.act();
    }

    /// The session is over. Whoever waits gets an error.
    pub(crate) fn close(mut self) {
        self.session.close();
        self.attached.send_replace(false);
        self.act();
        self.commands.close();
        while let Ok(command) = self.commands.try_recv() {
            refuse(command);
        }
    }

    /// Works until something comes, or until the connection of the pipe is over.
    pub(crate) async fn run<F: Future>(
        &mut self,
        mut pipe: Option<&mut Pipe>,
        until: F,
    ) -> Turn<F::Output> {
        let mut until = pin!(until);
        let mut armed = Instant::now() + LONG;
        let mut sleep = pin!(sleep_until(armed));
        loop {
            self.act();
            if let Some(pipe) = pipe.as_deref_mut()
                && let Err(error) = self.exchange(pipe)
            {
                return Turn::Ended(error.into());
            }
            if self.finish_ready() {
                continue;
            }
            if let (Some(pipe), Some((reason, until))) = (&pipe, &self.closing)
                && (pipe.writer.len() == 0 || *until <= Instant::now())
            {
                return Turn::Ended(reason.clone());
            }
            if pipe.is_none() && self.is_done() {
                return Turn::Ended(ConnectionEnd::Drained);
            }
            self.arm(sleep.as_mut(), &mut armed);
            let may_read = self.session.wants_messages() && self.closing.is_none();
            let wants_calls = self.session.wants_calls();
            let tells = self.closing.is_some()
                || pipe.as_ref().is_some_and(|pipe| pipe.writer.len() >= BATCH);
            tokio::select! {
                // Each of these ends without further bytes, so the bytes get their turn.
                biased;
                output = &mut until => return Turn::Until(output),
                Some(done) = self.work.next(), if !self.work.is_empty() => self.done(done),
                Some(notice) = self.notices.recv() => self.notice(notice),
                Some(command) = self.commands.recv(), if wants_calls => self.command(command),
                stepped = step(pipe.as_deref_mut(), may_read, tells) => match stepped {
                    Ok(true) => self.session.heard(self.now()),
                    Ok(false) => {}
                    Err(error) => return Turn::Ended(ConnectionEnd::Io(error.to_string())),
                },
                () = &mut sleep => {
                    armed = Instant::now();
                    self.session.tick(self.now());
                    if self.drain_until.is_some_and(|until| until <= armed) {
                        (self.drain_until, self.is_over) = (None, true);
                        if pipe.is_none() {
                            return Turn::Ended(ConnectionEnd::Closed);
                        }
                        self.session.end(ConnectionEnd::Closed);
                    }
                }
            }
            self.catch_up();
        }
    }

    /// Handlers that are done by now are answered in the same turn. Whether there were any.
    fn finish_ready(&mut self) -> bool {
        let mut any = false;
        for _ in 0..COMMANDS {
            // Whoever is not ready is asked again with the waker of this task.
            let Some(Some(done)) = self.work.next().now_or_never() else { break };
            self.done(done);
            any = true;
        }
        any
    }

    /// Takes what else is there, so that it is written together.
    fn catch_up(&mut self) {
        for _ in 0..COMMANDS {
            match self.notices.try_recv() {
                Ok(notice) => self.notice(notice),
                Err(_none) => break,
            }
        }
        for _ in 0..COMMANDS {
            if !self.session.wants_calls() {
                break;
            }
            match self.commands.try_recv() {
                Ok(command) => self.command(command),
                Err(_none) => break,
            }
        }
    }

    /// Messages that came go in, messages that wait come out.
    fn exchange(&mut self, pipe: &mut Pipe) -> Result<(), MessageError> {
        let now = self.now();
        while self.closing.is_none() && self.session.wants_messages() {
            match pipe.take() {
                Ok(None) => break,
                Ok(Some(message)) => self.session.receive(now, message),
                // The other side is told before the connection ends.
                Err(error) => self.session.end(error.into()),
            }
            self.act();
        }
        while pipe.writer.len() < BATCH {
            let Some(message) = self.session.take_message(now) else { break };
            pipe.writer.push(&message)?;
        }
        self.act();
        // The last message may have made the reason to end.
        while let Some(message) = self.closing.as_ref().and_then(|_| self.session.take_message(now))
        {
            pipe.writer.push(&message)?;
        }
        Ok(())
    }

    /// What the session says last goes into the pipe.
    pub(crate) fn flush(&mut self, pipe: &mut Pipe) {
        let now = self.now();
        while let Some(message) = self.session.take_message(now) {
            // It has no payload that could be too long.
            if pipe.writer.push(&message).is_err() {
                return;
            }
        }
    }

    /// Sets the alarm, if it would come too late or has come.
    fn arm(&self, sleep: Pin<&mut Sleep>, armed: &mut Instant) {
        let tick = self.session.next_tick().and_then(|tick| self.origin.checked_add(tick));
        let closing = self.closing.as_ref().map(|(_, until)| *until);
        let next = [tick, self.drain_until, closing].into_iter().flatten().min();
        let next = next.unwrap_or_else(|| Instant::now() + LONG);
        if next < *armed || sleep.is_elapsed() {
            *armed = next;
            sleep.reset(next);
        }
    }

    fn act(&mut self) {
        while let Some(action) = self.session.take_action() {
            match action {
                SessionAction::Request { message, .. } => self.serve_request(message),
                SessionAction::CancelRequest { id } => {
                    if let Some(request) = self.requests.remove(&id) {
                        request.abort();
                    }
                }
                SessionAction::Event { message } => self.serve_event(message),
                SessionAction::Stream { message } => self.serve_stream(message),
                SessionAction::StreamData { id, bytes, last } => self.pass(id, Ok((bytes, last))),
                SessionAction::StreamWritable { id } => {
                    if let Some(writer) = self.streams.get_mut(&id).and_then(|it| it.writer.take())
                    {
                        reply(writer, Ok(()));
                    }
                }
                SessionAction::StreamEnded { id, error } => {
                    self.pass(id, Err(error.clone()));
                    if let Some(writer) = self.streams.remove(&id).and_then(|it| it.writer) {
                        reply(writer, Err(error));
                    }
                }
                SessionAction::CallDone { ticket, result } => {
                    if let Some(caller) = self.calls.remove(&ticket) {
                        reply(caller, result);
                    }
                }
                SessionAction::EventDone { ticket, result } => {
                    if let Some(sender) = self.events.remove(&ticket) {
                        reply(sender, result);
                    }
                }
                SessionAction::Close { reason } => {
                    // Whoever ended it, or is silent, does not read any more.
                    let is_deaf =
                        matches!(reason, ConnectionEnd::Remote { .. } | ConnectionEnd::Idle(_));
                    let time = if is_deaf { Duration::ZERO } else { LAST_WORDS };
                    self.closing = Some((reason, Instant::now() + time));
                }
            }
        }
    }

    fn serve_request(&mut self, message: PeerMessage) {
        let id = message.id;
        let handling = self.handler.clone().call(self.handle.clone(), message);
        let (handling, abort) = abortable(guarded(handling));
        self.requests.insert(id, abort);
        let work = handling.map(move |result| match result {
            Ok(result) => Work::Answered(id, result),
            Err(_aborted) => Work::Aborted,
        });
        self.work.push(work.boxed());
    }

    fn serve_event(&mut self, message: PeerMessage) {
        let handling = self.handler.clone().event(self.handle.clone(), message);
        self.work.push(guarded(handling).map(Work::EventDone).boxed());
    }

    fn serve_stream(&mut self, message: PeerMessage) {
        let id = message.id;
        // Handlers of streams that are over may still run.
        if self.served >= self.most_served {
            let reason = failure("busy", "this side takes no more streams");
            self.session.close_stream(id, Some(reason));
            return;
        }
        self.served += 1;
        let stream = PeerStream::new(id, self.port(id), self.handle.clone());
        let handling = self.handler.clone().stream(self.handle.clone(), message, stream);
        self.work.push(guarded(handling).map(move |done| Work::StreamDone(id, done)).boxed());
    }

    fn port(&mut self, id: u64) -> mpsc::UnboundedReceiver<StreamItem> {
        // Credit bounds what is in it.
        let (incoming, outgoing) = mpsc::unbounded_channel();
        self.streams.insert(id, StreamPort { incoming, writer: None });
        outgoing
    }

    fn pass(&self, id: u64, item: StreamItem) {
        if let Some(port) = self.streams.get(&id) {
            // Nobody may read any more; then the stream is about to be abandoned.
            drop(port.incoming.send(item));
        }
    }

    fn done(&mut self, work: Work) {
        match work {
            Work::Answered(id, result) => {
                self.requests.remove(&id);
                self.session.answer(id, result);
            }
            Work::EventDone(result) => self.session.event_done(result),
            Work::StreamDone(id, result) => {
                self.served -= 1;
                if let Err(reason) = result {
                    self.session.close_stream(id, Some(reason));
                }
            }
            Work::Aborted => {}
        }
    }

    fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::Cancel(ticket) => {
                if self.calls.remove(&ticket).is_some() {
                    self.session.cancel(ticket);
                }
            }
            Notice::Read(id, bytes) => self.session.stream_read(id, bytes),
            Notice::Abandon(id) => {
                self.streams.remove(&id);
                self.session.abandon_stream(id);
            }
            Notice::CloseStream(id, reason) => self.session.close_stream(id, reason),
            Notice::Drain(time) => {
                let until = Instant::now().checked_add(time);
                if !std::mem::replace(&mut self.draining, true) {
                    self.drain_until = Some(until.unwrap_or_else(|| Instant::now() + LONG));
                    self.session.drain();
                }
            }
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Call { ticket, kind, body, deadline, idempotent, reply: caller } => {
                if caller.is_closed() {
                    return;
                }
                let deadline = deadline.map(|it| it.saturating_duration_since(self.origin));
                let call = OutgoingCall { kind, body, deadline, idempotent };
                self.calls.insert(ticket, caller);
                if let Err(error) = self.session.call(ticket, call)
                    && let Some(caller) = self.calls.remove(&ticket)
                {
                    reply(caller, Err(error));
                }
            }
            Command::Send { ticket, body, acknowledged, reply: sender } => {
                match self.session.send_event(ticket, body, acknowledged) {
                    Ok(()) if acknowledged => {
                        self.events.insert(ticket, sender);
                        self.act();
                    }
                    result => reply(sender, result),
                }
            }
            Command::Open { body, reply: opener } => {
                let opened = self.session.open_stream(body).map(|id| (id, self.port(id)));
                let id = opened.as_ref().ok().map(|(id, _)| *id);
                if let (Err(_gone), Some(id)) = (opener.send(opened), id) {
                    self.notice(Notice::Abandon(id));
                }
            }
            Command::Write { id, bytes, flush, last, reply: writer } => {
                match self.session.write_stream(id, bytes, flush, last) {
                    Ok(false) => match self.streams.get_mut(&id) {
                        Some(port) => port.writer = Some(writer),
                        None => reply(writer, Err(PeerStreamError::Disconnected)),
                    },
                    Ok(true) => reply(writer, Ok(())),
                    Err(error) => reply(writer, Err(error)),
                }
            }
        }
    }
}

async fn step(pipe: Option<&mut Pipe>, may_read: bool, tells: bool) -> std::io::Result<bool> {
    match pipe {
        Some(pipe) => pipe.step(may_read, tells).await,
        None => std::future::pending().await,
    }
}

/// A handler that panics fails, and nothing else.
fn guarded<T: Send + 'static>(
    handling: BoxFuture<'static, Result<T, FailureBody>>,
) -> impl Future<Output = Result<T, FailureBody>> + Send + 'static {
    let panicked = |_panic| Err(failure("internal", "the handler panicked"));
    AssertUnwindSafe(handling).catch_unwind().map(move |it| it.unwrap_or_else(panicked))
}

/// Whoever asked may not wait any more.
fn reply<T>(to: oneshot::Sender<T>, value: T) {
    drop(to.send(value));
}

fn refuse(command: Command) {
    match command {
        Command::Call { reply: caller, .. } => reply(caller, Err(PeerCallError::Closed)),
        Command::Send { reply: sender, .. } => reply(sender, Err(PeerSendError::Closed)),
        Command::Open { reply: opener, .. } => {
            reply(opener, Err(PeerStreamError::Disconnected));
        }
        Command::Write { reply: writer, .. } => reply(writer, Err(PeerStreamError::Disconnected)),
    }
}
