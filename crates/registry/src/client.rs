//! A client of several registries.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use offshoot_mxp::{
    AgentCard, DiscoverBody, DiscoveredBody, HeartbeatBody, HeartbeatReplyBody, MessageFlags,
    MessageKind, RegisteredBody,
};
use offshoot_transport::{
    NoHandler, PeerBody, PeerCall, PeerClient, PeerClientOptions, PeerMessage,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::error::{AgentRegistryError, SilentRegistry};
use crate::keeper::{LeaseKeeper, LeaseReply, LeaseStep};
use crate::merge::{RegistryAnswer, RegistryDiscovery};

/// How a client keeps in touch with registries.
#[derive(Clone, Debug)]
pub struct RegistryClientOptions {
    /// The registries, the most trusted first.
    pub registries: Vec<PeerClientOptions>,
    /// How often a heartbeat is sent.
    pub heartbeat: Duration,
    /// How long a registry has to answer.
    pub call_time: Duration,
    /// The seed of waits.
    pub seed: u64,
}

impl RegistryClientOptions {
    /// With a heartbeat each 10 s, and 5 s for an answer.
    pub fn new(registries: Vec<PeerClientOptions>) -> Self {
        let (heartbeat, call_time) = (Duration::from_secs(10), Duration::from_secs(5));
        Self { registries, heartbeat, call_time, seed: 0 }
    }
}

/// How a registry stands to the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryStanding {
    /// The registry's address.
    pub registry: String,
    /// Whether the agent is registered there, as far as its answers say.
    pub registered: bool,
    /// What went wrong last; nothing if the last step went well.
    pub error: Option<String>,
}

/// A client of several registries. Dropping it ends the heartbeats, and leases run out.
#[derive(Debug)]
pub struct RegistryClient {
    registries: Vec<Registry>,
    options: RegistryClientOptions,
    keepers: Mutex<Vec<JoinHandle<()>>>,
    card: Mutex<Option<AgentCard>>,
}

#[derive(Clone, Debug)]
struct Registry {
    client: Arc<PeerClient>,
    standing: Arc<Mutex<RegistryStanding>>,
    call_time: Duration,
}

impl RegistryClient {
    /// Starts to connect to all of them. Those that are down are tried again.
    pub fn start(options: RegistryClientOptions) -> Result<Self, AgentRegistryError> {
        if options.registries.is_empty() {
            return Err(AgentRegistryError::NoRegistry);
        }
        let mut registries = Vec::new();
        for each in &options.registries {
            let registry = each.address.to_string();
            let client = Arc::new(PeerClient::start(each.clone(), NoHandler)?);
            let standing = RegistryStanding { registry, ..RegistryStanding::default() };
            let standing = Arc::new(Mutex::new(standing));
            registries.push(Registry { client, standing, call_time: options.call_time });
        }
        Ok(Self { registries, options, keepers: Mutex::default(), card: Mutex::default() })
    }

    /// Keeps an agent registered with all of them from now on. A further card replaces the one before.
    pub fn register(&self, card: AgentCard) {
        self.stop();
        *self.card.lock().unwrap_or_else(PoisonError::into_inner) = Some(card.clone());
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        for (index, registry) in self.registries.iter().enumerate() {
            let seed = self.options.seed.wrapping_add(index as u64);
            let keeper = LeaseKeeper::new(self.options.heartbeat, seed);
            keepers.push(tokio::spawn(registry.clone().keep(keeper, card.clone())));
        }
    }

    /// How each registry stands to the agent.
    pub fn status(&self) -> Vec<RegistryStanding> {
        self.registries.iter().map(|registry| registry.standing().clone()).collect()
    }

    /// Removes the agent from all of them, and says which did not answer. There its lease runs out.
    pub async fn leave(&self) -> Vec<SilentRegistry> {
        self.stop();
        let card = self.card.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(AgentCard { id: agent_id, .. }) = card else { return Vec::new() };
        let leaving = self.registries.iter().map(|registry| {
            let (registry, body) = (registry.clone(), HeartbeatBody { agent_id: agent_id.clone() });
            tokio::spawn(async move {
                let asked = registry.ask::<HeartbeatReplyBody>(
                    MessageKind::AgentHeartbeat,
                    &body,
                    MessageFlags::FINAL,
                );
                let answer = asked.await;
                let mut standing = registry.standing();
                standing.registered = false;
                let name = standing.registry.clone();
                answer.err().map(|reason| SilentRegistry { registry: name, reason })
            })
        });
        let leaving: Vec<JoinHandle<Option<SilentRegistry>>> = leaving.collect();
        let mut silent = Vec::new();
        for task in leaving {
            // It does not panic, and nobody stops it.
            silent.extend(task.await.ok().flatten());
        }
        silent
    }

    /// Asks all of them who has a capability. An error if none answers.
    pub async fn discover(
        &self,
        capability: &str,
    ) -> Result<RegistryDiscovery, AgentRegistryError> {
        let asking = self.registries.iter().map(|registry| {
            let registry = registry.clone();
            let body = DiscoverBody { capability: capability.to_owned() };
            tokio::spawn(async move {
                let kind = MessageKind::AgentDiscover;
                registry.ask::<DiscoveredBody>(kind, &body, MessageFlags::NONE).await
            })
        });
        let asking: Vec<JoinHandle<Result<DiscoveredBody, String>>> = asking.collect();
        let mut answers: Vec<RegistryAnswer> = Vec::new();
        for (registry, task) in self.registries.iter().zip(asking) {
            let answer = task.await.unwrap_or_else(|error| Err(error.to_string()));
            answers.push((registry.standing().registry.clone(), answer));
        }
        let discovery = RegistryDiscovery::merge(answers);
        match discovery.silent.len() == self.registries.len() {
            true => Err(AgentRegistryError::Silent(discovery.silent)),
            false => Ok(discovery),
        }
    }

    fn stop(&self) {
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        for keeper in keepers.drain(..) {
            keeper.abort();
        }
    }
}

impl Drop for RegistryClient {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Registry {
    fn standing(&self) -> MutexGuard<'_, RegistryStanding> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn keep(self, mut keeper: LeaseKeeper, card: AgentCard) {
        let origin = Instant::now();
        loop {
            let (at, step) = keeper.next();
            sleep_until(origin + at).await;
            let (reply, error) = self.step(step, &card).await;
            keeper.replied(origin.elapsed(), reply);
            let mut standing = self.standing();
            standing.registered = keeper.is_registered();
            standing.error = error;
        }
    }

    async fn step(&self, step: LeaseStep, card: &AgentCard) -> (LeaseReply, Option<String>) {
        let none = MessageFlags::NONE;
        match step {
            LeaseStep::Register => {
                match self.ask::<RegisteredBody>(MessageKind::AgentRegister, card, none).await {
                    Ok(reply) if reply.success => (LeaseReply::Done, None),
                    Ok(reply) => (LeaseReply::Failed, Some(reply.message)),
                    Err(error) => (LeaseReply::Failed, Some(error)),
                }
            }
            LeaseStep::Heartbeat => {
                let body = HeartbeatBody { agent_id: card.id.clone() };
                let kind = MessageKind::AgentHeartbeat;
                match self.ask::<HeartbeatReplyBody>(kind, &body, none).await {
                    Ok(reply) if reply.needs_register => {
                        let error = Some("the registry does not know the agent".to_owned());
                        (LeaseReply::NeedsRegister, error)
                    }
                    Ok(reply) if reply.success => (LeaseReply::Done, None),
                    Ok(reply) => (LeaseReply::Failed, reply.message),
                    Err(error) => (LeaseReply::Failed, Some(error)),
                }
            }
        }
    }

    /// One request. All of them may be handled twice.
    async fn ask<T: DeserializeOwned>(
        &self,
        kind: MessageKind,
        document: &impl Serialize,
        flags: MessageFlags,
    ) -> Result<T, String> {
        let mut body = PeerBody::json(document).map_err(|error| error.to_string())?;
        body.flags = flags;
        let deadline = Some(self.call_time);
        let call = PeerCall { kind, body, deadline, idempotent: true };
        let reply: PeerMessage = self.client.request(call).await.map_err(|error| {
            let why = self.client.last_error().filter(|_| !self.client.is_connected());
            why.map_or(error.to_string(), |why| format!("{error}: {why}"))
        })?;
        reply.json().map_err(|error| error.to_string())
    }
}
