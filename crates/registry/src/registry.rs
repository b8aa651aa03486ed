//! A registry that answers its peers.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use offshoot_mxp::{DiscoverBody, HeartbeatBody, MessageFlags, MessageKind, RegisterBody};
use offshoot_transport::{
    FailureBody, PeerBody, PeerConnection, PeerHandler, PeerLimits, PeerMessage, PeerName,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::AgentRegistryError;
use crate::log::RegistryLog;
use crate::state::{RegistryLimits, RegistryRecord, RegistryState};

/// What a heartbeat or a question is allowed besides its card.
const SLACK: usize = 4 << 10;

/// A registry. Give a clone of it to a `PeerListener` as its handler.
#[derive(Clone)]
pub struct AgentRegistry {
    shared: Arc<Mutex<Shared>>,
    clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    limits: RegistryLimits,
}

struct Shared {
    state: RegistryState,
    log: Option<RegistryLog>,
}

impl AgentRegistry {
    /// A registry that forgets everything with the process.
    pub fn in_memory(limits: RegistryLimits) -> Self {
        Self::with(RegistryState::new(limits), None)
    }

    /// A registry in a folder: agents that were registered before are there until their lease ends.
    pub fn open(folder: &Path, limits: RegistryLimits) -> Result<Self, AgentRegistryError> {
        let mut state = RegistryState::new(limits);
        let log = RegistryLog::open(folder, |record| state.apply(record))?;
        state.clamp(milliseconds());
        Ok(Self::with(state, Some(log)))
    }

    fn with(state: RegistryState, log: Option<RegistryLog>) -> Self {
        let limits = state.limits().clone();
        let shared = Arc::new(Mutex::new(Shared { state, log }));
        Self { shared, clock: Arc::new(milliseconds), limits }
    }

    /// The same with another clock: milliseconds since 1970.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Limits for the connections of a registry: its messages are short.
    pub fn peer_limits(&self) -> PeerLimits {
        PeerLimits {
            message: self.limits.card + SLACK,
            calls: 32,
            request_bytes: 32 * (self.limits.card + 2 * SLACK),
            events: 1,
            event_bytes: SLACK,
            streams: 0,
            call_time: Duration::from_secs(30),
            ..PeerLimits::default()
        }
    }

    /// How many agents are registered.
    pub fn len(&self) -> usize {
        let now = (self.clock)();
        let mut shared = self.shared();
        shared.state.expire(now);
        shared.state.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes at the end of the log were no whole record when it was opened.
    pub fn cut(&self) -> u64 {
        self.shared().log.as_ref().map_or(0, RegistryLog::cut)
    }

    /// Answers a request of a peer with a proven name.
    pub async fn answer(
        &self,
        peer: &PeerName,
        request: &PeerMessage,
    ) -> Result<PeerBody, FailureBody> {
        let now = (self.clock)();
        match request.kind {
            MessageKind::AgentRegister => {
                let card: RegisterBody = body(request)?;
                let done = self.change(|state| state.register(now, peer, card))?;
                self.finish(done).await
            }
            MessageKind::AgentHeartbeat => {
                let HeartbeatBody { agent_id } = body(request)?;
                let last = request.flags.has(MessageFlags::FINAL);
                let done = self.change(|state| state.heartbeat(now, peer, &agent_id, last))?;
                self.finish(done).await
            }
            MessageKind::AgentDiscover => {
                let DiscoverBody { capability } = body(request)?;
                let found = self.shared().state.discover(now, &capability);
                json(&found)
            }
            _ => Err(failure("unsupported", "a registry takes no calls")),
        }
    }

    /// Whoever panicked with the lock held was not in the middle of a change.
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the state, writes the record and applies it; then the file that has to be synchronised, if any.
    fn change<R>(
        &self,
        ask: impl FnOnce(&mut RegistryState) -> (R, Option<RegistryRecord>),
    ) -> Result<(R, Option<Arc<File>>), FailureBody> {
        let mut shared = self.shared();
        let Shared { state, log } = &mut *shared;
        let (reply, record) = ask(state);
        let Some(record) = record else { return Ok((reply, None)) };
        let mut file = None;
        if let Some(log) = log {
            log.append(&record).map_err(storage)?;
            // A lease that is shorter after a power cut does no harm.
            if !matches!(record, RegistryRecord::Renewed { .. }) {
                file = Some(log.file());
            }
        }
        state.apply(&record);
        if let Some(log) = log.as_mut().filter(|log| log.is_long()) {
            // The old log is as good as the new one, and the next change tries again.
            drop(log.compact(state.records()));
        }
        Ok((reply, file))
    }

    async fn finish<R: Serialize>(
        &self,
        (reply, file): (R, Option<Arc<File>>),
    ) -> Result<PeerBody, FailureBody> {
        if let Some(file) = file {
            let synced = tokio::task::spawn_blocking(move || file.sync_data()).await;
            let synced = synced.map_err(std::io::Error::other).and_then(|synced| synced);
            synced.map_err(storage)?;
        }
        json(&reply)
    }
}

impl fmt::Debug for AgentRegistry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "AgentRegistry({} agents)", self.len())
    }
}

impl PeerHandler for AgentRegistry {
    async fn call(
        &self,
        peer: &PeerConnection,
        request: PeerMessage,
    ) -> Result<PeerBody, FailureBody> {
        let name = peer.name().ok_or_else(|| failure("refused", "the peer has no name"))?;
        self.answer(name, &request).await
    }
}

fn body<T: DeserializeOwned>(request: &PeerMessage) -> Result<T, FailureBody> {
    request.json().map_err(|error| failure("invalid", error))
}

fn json(document: &impl Serialize) -> Result<PeerBody, FailureBody> {
    PeerBody::json(document).map_err(|error| failure("internal", error))
}

fn storage(error: impl fmt::Display) -> FailureBody {
    failure("storage", error)
}

fn failure(code: &str, error: impl fmt::Display) -> FailureBody {
    FailureBody { error: error.to_string(), code: code.to_owned() }
}

/// The clock of the machine.
fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
