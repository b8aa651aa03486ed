//! Tasks that are worked on or watched. Whatever happens to a task is kept first and told afterwards, one thing after the other.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures::FutureExt;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::agent::{A2aTaskFailure, AnyAgent};
use crate::fault::{A2aCode, A2aFault};
use crate::id;
use crate::limits::A2aLimits;
use crate::push::Pusher;
use crate::record::{A2aTaskChange, A2aTaskRecord, A2aTaskStep};
use crate::store::{A2aChanged, A2aStoreError, A2aTaskStore};
use crate::wire::{A2aEvent, A2aMessage, A2aPart, A2aState};
use crate::work::{A2aWork, About};

/// Below this number of entries nobody looks for those that are gone.
const SMALL: usize = 64;

/// All tasks of a server.
pub(crate) struct Hub {
    pub(crate) agent: Arc<dyn AnyAgent>,
    pub(crate) store: Arc<dyn A2aTaskStore>,
    pub(crate) limits: A2aLimits,
    pub(crate) pusher: Arc<Pusher>,
    running: Arc<Semaphore>,
    live: Mutex<Entries>,
    /// Ends all agents when the server ends.
    over: CancellationToken,
}

#[derive(Default)]
struct Entries {
    all: HashMap<String, Weak<Live>>,
    /// With so many entries those that are gone are removed.
    full: usize,
}

/// A task that somebody works on or watches.
pub(crate) struct Live {
    pub(crate) id: String,
    /// Set when the task is cancelled.
    pub(crate) cancel: CancellationToken,
    /// Held while something is kept and told.
    lock: Arc<tokio::sync::Mutex<()>>,
    events: broadcast::Sender<Arc<A2aEvent>>,
    /// The agent that waits for a message without having returned.
    waiting: Mutex<Option<oneshot::Sender<A2aMessage>>>,
    is_running: watch::Sender<bool>,
    /// Set when the agent is not waited for any longer.
    abort: CancellationToken,
}

/// The right to let something happen to a task. It lasts until what was begun is kept and told, even if nobody waits for that.
type Gate = Arc<tokio::sync::OwnedMutexGuard<()>>;

/// Updates of a task, from some moment on.
pub(crate) struct Updates {
    events: broadcast::Receiver<Arc<A2aEvent>>,
    /// As long as somebody listens, whatever happens to the task is told by the same entry.
    _live: Arc<Live>,
}

impl Updates {
    fn of(live: &Arc<Live>) -> Self {
        Self { events: live.events.subscribe(), _live: Arc::clone(live) }
    }

    /// The next update; an error if some were missed.
    pub(crate) async fn next(&mut self) -> Result<Arc<A2aEvent>, RecvError> {
        self.events.recv().await
    }
}

impl Hub {
    pub(crate) fn new(
        agent: Arc<dyn AnyAgent>,
        store: Arc<dyn A2aTaskStore>,
        limits: A2aLimits,
        pusher: Arc<Pusher>,
        over: CancellationToken,
    ) -> Arc<Self> {
        let running = Arc::new(Semaphore::new(limits.running.min(Semaphore::MAX_PERMITS)));
        Arc::new(Self { agent, store, limits, pusher, running, live: Mutex::default(), over })
    }

    /// Calls the store where it may block.
    pub(crate) async fn stored<T, F>(&self, call: F) -> Result<T, A2aStoreError>
    where
        T: Send + 'static,
        F: FnOnce(&dyn A2aTaskStore) -> Result<T, A2aStoreError> + Send + 'static,
    {
        let store = Arc::clone(&self.store);
        match tokio::task::spawn_blocking(move || call(&*store)).await {
            Ok(result) => result,
            Err(error) => {
                let source = std::io::Error::other(format!("the store panicked: {error}"));
                Err(A2aStoreError::File { path: "store".into(), source })
            }
        }
    }

    pub(crate) async fn get(&self, id: &str) -> Result<A2aTaskRecord, A2aStoreError> {
        let name = id.to_owned();
        let found = self.stored(move |store| store.get(&name)).await?;
        found.ok_or_else(|| A2aStoreError::NotFound { id: id.to_owned() })
    }

    /// The entry of a task.
    pub(crate) fn live(&self, id: &str) -> Arc<Live> {
        let mut entries = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = entries.all.get(id).and_then(Weak::upgrade) {
            return live;
        }
        if entries.all.len() >= entries.full.max(SMALL) {
            entries.all.retain(|_, live| live.strong_count() > 0);
            entries.full = entries.all.len() * 2;
        }
        let live = Arc::new(Live::new(id, self.limits.backlog));
        entries.all.insert(id.to_owned(), Arc::downgrade(&live));
        live
    }

    /// A place for an agent to work, if there is one.
    pub(crate) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.running).try_acquire_owned().ok()
    }

    /// Lets something happen to a task.
    pub(crate) async fn tell(
        &self,
        live: &Arc<Live>,
        step: A2aTaskStep,
    ) -> Result<(), A2aStoreError> {
        let gate = live.gate().await;
        self.change(live, &gate, step).await?;
        Ok(())
    }

    /// Lets something happen. What is kept is told, also if whoever asked for it is gone.
    async fn change(
        &self,
        live: &Arc<Live>,
        gate: &Gate,
        step: A2aTaskStep,
    ) -> Result<A2aChanged, A2aStoreError> {
        let change = A2aTaskChange { at: id::now(), what: step };
        let (live, gate, pusher) = (Arc::clone(live), Arc::clone(gate), Arc::clone(&self.pusher));
        let keep = move |store: &dyn A2aTaskStore| {
            let changed = store.change(&live.id, change)?;
            if let Some(event) = &changed.event {
                pusher.tell(&live.id, &changed.pushes, event);
                // Nobody may be there to hear it.
                drop(live.events.send(Arc::new(event.clone())));
            }
            drop(gate);
            Ok(changed)
        };
        self.stored(keep).await
    }

    /// Keeps a new task and lets the agent begin.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        record: A2aTaskRecord,
        accepts: Vec<String>,
        place: OwnedSemaphorePermit,
    ) -> Result<Updates, A2aStoreError> {
        let live = self.live(&record.task.id);
        let _gate = live.gate().await;
        let kept = record.clone();
        self.stored(move |store| store.create(kept)).await?;
        self.pusher.tell(&live.id, &record.pushes, &A2aEvent::Task(record.task.clone()));
        let updates = Updates::of(&live);
        if let Some(message) = record.task.history.last().cloned() {
            self.start(&live, &record, message, accepts, false, place);
        }
        Ok(updates)
    }

    /// Lets an agent go on that worked on a task in a process that ended.
    pub(crate) async fn resume(
        self: &Arc<Self>,
        record: &A2aTaskRecord,
        message: A2aMessage,
        place: OwnedSemaphorePermit,
    ) {
        let live = self.live(&record.task.id);
        let _gate = live.gate().await;
        self.start(&live, record, message, Vec::new(), true, place);
    }

    /// Gives a message to a task that waits for one.
    pub(crate) async fn go_on(
        self: &Arc<Self>,
        id: &str,
        message: A2aMessage,
        accepts: Vec<String>,
    ) -> Result<(A2aTaskRecord, Updates), A2aFault> {
        let step = A2aTaskStep::Message(message.clone());
        let known = self.get(id).await?;
        known.check(&step, &self.limits.tasks).map_err(A2aStoreError::from)?;
        let live = self.live(id);
        let gate = live.gate_at_rest(self.limits.cancel).await;
        let waiting = live.waiting().take().filter(|waiting| !waiting.is_closed());
        let mut place = None;
        if waiting.is_none() {
            if *live.is_running.borrow() {
                let message = "the agent has not returned yet; send the message again later";
                return Err(A2aFault::new(A2aCode::Unavailable, message));
            }
            place = Some(self.place().ok_or_else(busy)?);
        }
        if let Err(error) = self.change(&live, &gate, step).await {
            *live.waiting() = waiting;
            return Err(error.into());
        }
        let updates = Updates::of(&live);
        let record = self.get(id).await?;
        // What the agent gets is what the history has.
        let message = record.task.history.last().cloned().unwrap_or(message);
        if let Some(place) = place {
            self.start(&live, &record, message, accepts, false, place);
        } else if waiting.is_some_and(|waiting| waiting.send(message).is_err()) {
            // The agent stopped waiting just now: better asked for again than lost.
            let said = A2aMessage::agent(vec![A2aPart::text("please send that again")]);
            let (state, message) = (A2aState::InputRequired, Some(said));
            self.change(&live, &gate, A2aTaskStep::Status { state, message }).await?;
        }
        drop(gate);
        Ok((record, updates))
    }

    /// The task as it is, and everything that happens to it from then on.
    pub(crate) async fn watch(&self, id: &str) -> Result<(A2aTaskRecord, Updates), A2aStoreError> {
        let live = self.live(id);
        let _gate = live.gate().await;
        let record = self.get(id).await?;
        Ok((record, Updates::of(&live)))
    }

    /// Says that the agent needs a message, and takes the place where it is put.
    pub(crate) async fn ask(
        &self,
        live: &Arc<Live>,
        step: A2aTaskStep,
    ) -> Result<oneshot::Receiver<A2aMessage>, A2aStoreError> {
        let gate = live.gate().await;
        self.change(live, &gate, step).await?;
        let (sender, receiver) = oneshot::channel();
        *live.waiting() = Some(sender);
        Ok(receiver)
    }

    /// Cancels a task: the agent may stop by itself, then it is stopped.
    pub(crate) async fn cancel(&self, id: &str) -> Result<A2aTaskRecord, A2aStoreError> {
        let live = self.live(id);
        let before = self.get(id).await?;
        if before.state().is_terminal() {
            let over = A2aTaskStep::Status { state: A2aState::Canceled, message: None };
            before.check(&over, &self.limits.tasks)?;
        }
        live.cancel.cancel();
        let mut running = live.is_running.subscribe();
        let stopped = running.wait_for(|is_running| !is_running);
        if tokio::time::timeout(self.limits.cancel, stopped).await.is_err() {
            live.abort.cancel();
            let stopped = running.wait_for(|is_running| !is_running);
            // An agent that blocks its thread is not waited for: nothing that it does is kept.
            drop(tokio::time::timeout(self.limits.cancel, stopped).await);
        }
        let gate = live.gate().await;
        let record = self.get(id).await?;
        if !record.state().is_terminal() {
            let step = A2aTaskStep::Status { state: A2aState::Canceled, message: None };
            self.change(&live, &gate, step).await?;
        }
        drop(gate);
        self.get(id).await
    }

    /// Lets the agent work; whoever calls has the gate.
    fn start(
        self: &Arc<Self>,
        live: &Arc<Live>,
        record: &A2aTaskRecord,
        message: A2aMessage,
        accepts: Vec<String>,
        is_resumed: bool,
        place: OwnedSemaphorePermit,
    ) {
        live.is_running.send_replace(true);
        let about = About {
            context: record.task.context_id.clone(),
            client: record.owner.clone(),
            is_resumed,
            accepts,
        };
        let work =
            A2aWork { hub: Arc::clone(self), live: Arc::clone(live), about: Arc::new(about) };
        let (hub, live) = (Arc::clone(self), Arc::clone(live));
        tokio::spawn(async move {
            let agent = Arc::clone(&hub.agent);
            let result = {
                let handling = AssertUnwindSafe(async { agent.handle(message, work).await });
                tokio::select! {
                    biased;
                    result = handling.catch_unwind() => Some(result),
                    () = live.abort.cancelled() => None,
                    () = hub.over.cancelled() => None,
                }
            };
            // What the server leaves unfinished when it ends is for the next one.
            if result.is_some() || !hub.over.is_cancelled() {
                hub.finish(&live, result).await;
            }
            live.is_running.send_replace(false);
            drop(place);
        });
    }

    /// What becomes of a task whose agent returned.
    async fn finish(&self, live: &Arc<Live>, result: Option<Returned>) {
        let gate = live.gate().await;
        drop(live.waiting().take());
        let Ok(record) = self.get(&live.id).await else { return };
        let failed = |why: &str| {
            let message = Some(A2aMessage::agent(vec![A2aPart::text(why)]));
            A2aTaskStep::Status { state: A2aState::Failed, message }
        };
        let plain = |state| A2aTaskStep::Status { state, message: None };
        let step = match result {
            _ if record.state().is_terminal() => return,
            _ if live.cancel.is_cancelled() => plain(A2aState::Canceled),
            Some(Ok(Ok(()))) if record.state().is_interrupted() => return,
            Some(Ok(Ok(()))) => plain(A2aState::Completed),
            Some(Ok(Err(A2aTaskFailure(why)))) => failed(&why),
            Some(Err(_)) => failed("the agent panicked"),
            None => failed("the agent was stopped"),
        };
        if self.change(live, &gate, step).await.is_err() {
            // The message was too much, or the disk is full: the task ends all the same if it can.
            drop(self.change(live, &gate, plain(A2aState::Failed)).await);
        }
    }

    /// Fails a task that nobody works on.
    pub(crate) async fn fail(&self, id: &str, why: &str) -> Result<(), A2aStoreError> {
        let message = Some(A2aMessage::agent(vec![A2aPart::text(why)]));
        let step = A2aTaskStep::Status { state: A2aState::Failed, message };
        self.tell(&self.live(id), step).await
    }
}

/// What a client is told when there is no place for an agent to work.
pub(crate) fn busy() -> A2aFault {
    A2aFault::new(A2aCode::Unavailable, "too many tasks are worked on; try again later")
}

/// How the future of an agent ended.
type Returned = Result<Result<(), A2aTaskFailure>, Box<dyn std::any::Any + Send>>;

impl Live {
    fn new(id: &str, backlog: usize) -> Self {
        Self {
            id: id.to_owned(),
            cancel: CancellationToken::new(),
            lock: Arc::default(),
            events: broadcast::Sender::new(backlog.clamp(1, 1 << 16)),
            waiting: Mutex::default(),
            is_running: watch::Sender::new(false),
            abort: CancellationToken::new(),
        }
    }

    async fn gate(&self) -> Gate {
        Arc::new(Arc::clone(&self.lock).lock_owned().await)
    }

    fn waiting(&self) -> MutexGuard<'_, Option<oneshot::Sender<A2aMessage>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The gate at a moment when the agent either waits for a message or has returned, if that comes soon.
    async fn gate_at_rest(&self, most: std::time::Duration) -> Gate {
        let mut running = self.is_running.subscribe();
        let at_rest = async {
            loop {
                let gate = self.gate().await;
                let waits = self.waiting().is_some();
                if waits || !*running.borrow_and_update() {
                    return gate;
                }
                drop(gate);
                // An agent that has said that it waits returns next; one that works refuses the message.
                if running.changed().await.is_err() {
                    return self.gate().await;
                }
            }
        };
        match tokio::time::timeout(most, at_rest).await {
            Ok(gate) => gate,
            Err(_) => self.gate().await,
        }
    }
}
