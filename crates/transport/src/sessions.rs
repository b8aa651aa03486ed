//! The sessions of a listener.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use offshoot_mxp::FailureBody;
use tokio::sync::{Notify, OwnedSemaphorePermit, mpsc};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::connection::PeerConnection;
use crate::control;
use crate::driver::{Driver, Turn};
use crate::error::{ConnectionEnd, failure};
use crate::handler::AnyHandler;
use crate::handshake::{AdmittedPeer, PeerSessionId};
use crate::limits::PeerLimits;
use crate::name::PeerName;
use crate::pipe::Pipe;
use crate::session::{PeerSession, PeerSide};

type Key = (PeerName, PeerSessionId);

/// Connections of one session that wait to take over.
const TAKEOVERS: usize = 4;

/// A connection whose other side has proven who it is.
pub(crate) struct Attachment {
    pub(crate) pipe: Pipe,
    pub(crate) admitted: AdmittedPeer,
    /// Counts the connection as long as it lives.
    pub(crate) permit: OwnedSemaphorePermit,
    pub(crate) fresh: bool,
}

struct Slot {
    attach: mpsc::Sender<Attachment>,
    handle: PeerConnection,
    stop: CancellationToken,
    /// When its connection was lost, in order; none while it has one.
    detached: Option<u64>,
}

/// All sessions of a listener.
pub(crate) struct Sessions {
    slots: Mutex<Slots>,
    handler: Arc<dyn AnyHandler>,
    limits: PeerLimits,
    linger: Duration,
    /// Sessions of one name, and those of them without a connection.
    most: (usize, usize),
    ended: Notify,
}

#[derive(Default)]
struct Slots {
    by_key: BTreeMap<Key, Slot>,
    detachments: u64,
    draining: bool,
}

impl Sessions {
    pub(crate) fn new(
        handler: Arc<dyn AnyHandler>,
        limits: PeerLimits,
        linger: Duration,
        most: (usize, usize),
    ) -> Self {
        let (slots, ended) = (Mutex::default(), Notify::new());
        Self { slots, handler, limits, linger, most, ended }
    }

    /// What is held is only looked at and changed, without waiting.
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a connection to its session, which may be a new one. It is dropped if too many want to take over.
    pub(crate) fn attach(self: &Arc<Self>, mut attachment: Attachment) {
        let key = (attachment.admitted.name.clone(), attachment.admitted.session);
        let mut slots = self.slots();
        if let Some(slot) = slots.by_key.get(&key) {
            match slot.attach.try_send(attachment) {
                Ok(()) | Err(mpsc::error::TrySendError::Full(_)) => return,
                Err(mpsc::error::TrySendError::Closed(back)) => attachment = back,
            }
        }
        let same = slots.by_key.keys().filter(|(name, _)| *name == key.0).count();
        let refusal = match slots.draining {
            true => Some(failure("draining", "this side takes no more sessions")),
            false if same >= self.most.0 => Some(failure("busy", "too many sessions of this name")),
            false => None,
        };
        if let Some(reason) = refusal {
            drop(tokio::spawn(refuse(attachment, reason)));
            return;
        }
        attachment.fresh = true;
        let (attach, attachments) = mpsc::channel(TAKEOVERS);
        let (handle, ends) = PeerConnection::new(Some(key.0.clone()));
        let session = PeerSession::new(PeerSide::Server, self.limits.clone());
        let driver = Driver::new(session, self.handler.clone(), handle.clone(), ends);
        let stop = CancellationToken::new();
        let slot = Slot { attach, handle, stop: stop.clone(), detached: None };
        slots.by_key.insert(key.clone(), slot);
        let task = SessionTask { sessions: Arc::clone(self), key, stop, attachments };
        drop(tokio::spawn(task.run(driver, attachment)));
    }

    /// Tells all that no more requests are taken.
    pub(crate) fn drain(&self, time: Duration) {
        let mut slots = self.slots();
        slots.draining = true;
        for slot in slots.by_key.values() {
            slot.handle.drain(time);
        }
    }

    /// Ends all.
    pub(crate) fn stop(&self) {
        for slot in self.slots().by_key.values() {
            slot.stop.cancel();
        }
    }

    /// Waits until there are none.
    pub(crate) async fn emptied(&self) {
        loop {
            let ended = self.ended.notified();
            if self.slots().by_key.is_empty() {
                return;
            }
            ended.await;
        }
    }

    /// The handles of all.
    pub(crate) fn handles(&self) -> Vec<PeerConnection> {
        self.slots().by_key.values().map(|slot| slot.handle.clone()).collect()
    }

    fn attached(&self, key: &Key) {
        if let Some(slot) = self.slots().by_key.get_mut(key) {
            slot.detached = None;
        }
    }

    /// A session has lost its connection. One name does not keep many of them.
    fn detached(&self, key: &Key) {
        let mut slots = self.slots();
        slots.detachments += 1;
        let number = slots.detachments;
        if let Some(slot) = slots.by_key.get_mut(key) {
            slot.detached = Some(number);
        }
        let same = slots.by_key.iter().filter(|((name, _), _)| *name == key.0);
        let mut waiting: Vec<(u64, &Slot)> =
            same.filter_map(|(_, slot)| Some((slot.detached?, slot))).collect();
        waiting.sort_by_key(|(number, _)| *number);
        let surplus = waiting.len().saturating_sub(self.most.1);
        for (_, slot) in waiting.iter().take(surplus) {
            slot.stop.cancel();
        }
    }
}

/// Tells why there is no session.
async fn refuse(mut attachment: Attachment, reason: FailureBody) {
    if attachment.pipe.send(&control::error(0, &reason)).await.is_ok() {
        attachment.pipe.end().await;
    }
}

struct SessionTask {
    sessions: Arc<Sessions>,
    key: Key,
    stop: CancellationToken,
    attachments: mpsc::Receiver<Attachment>,
}

impl SessionTask {
    async fn run(mut self, mut driver: Driver, first: Attachment) {
        let mut next = Some(first);
        loop {
            if let Some(attachment) = next.take() {
                self.sessions.attached(&self.key);
                next = self.serve(&mut driver, attachment).await;
                if next.is_some() {
                    continue;
                }
                self.sessions.detached(&self.key);
            }
            // Whoever drains waits for those who still have to acknowledge; but not for a reconnect if nothing is left.
            let is_over = self.stop.is_cancelled() || driver.is_done();
            if !is_over {
                let waiting = async {
                    tokio::select! {
                        () = self.stop.cancelled() => None,
                        () = sleep(self.sessions.linger) => None,
                        attachment = self.attachments.recv() => attachment,
                    }
                };
                if let Turn::Until(attachment) = driver.run(None, waiting).await {
                    next = attachment;
                }
            }
            if next.is_none() {
                let mut slots = self.sessions.slots();
                // One may have come while the session was about to end.
                match self.attachments.try_recv() {
                    Ok(attachment) if !self.stop.is_cancelled() => next = Some(attachment),
                    _ => {
                        slots.by_key.remove(&self.key);
                        break;
                    }
                }
            }
        }
        driver.close();
        self.sessions.ended.notify_waiters();
    }

    /// One connection to its end; and the one that took over.
    async fn serve(&mut self, driver: &mut Driver, attachment: Attachment) -> Option<Attachment> {
        let Attachment { mut pipe, admitted, permit, fresh } = attachment;
        let (received, limits) = (driver.session.received(), driver.session.offered());
        let message = limits.message;
        let welcome = admitted.welcome(!fresh, received, limits);
        pipe.allow(message);
        if pipe.writer.push(&welcome).is_err() {
            return None;
        }
        driver.attach(true, admitted.received, admitted.limits);
        let waiting = async {
            tokio::select! {
                () = self.stop.cancelled() => None,
                attachment = self.attachments.recv() => attachment,
            }
        };
        let (next, end) = match driver.run(Some(&mut pipe), waiting).await {
            Turn::Until(Some(next)) => (Some(next), ConnectionEnd::Replaced),
            Turn::Until(None) => (None, ConnectionEnd::Closed),
            Turn::Ended(end) => (None, end),
        };
        if matches!(end, ConnectionEnd::Replaced | ConnectionEnd::Closed) {
            driver.session.end(end);
            driver.flush(&mut pipe);
        }
        driver.detach();
        // The last words are written while the session goes on.
        drop(tokio::spawn(async move {
            pipe.finish().await;
            drop(permit);
        }));
        next
    }
}
