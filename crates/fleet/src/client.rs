//! Calling agents by their name.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use offshoot_mxp::CallBody;
use offshoot_registry::{
    AgentCard, RegistryClient, RegistryClientOptions, RegistryDiscovery, RegistryStanding,
};
use offshoot_transport::{
    MessageKind, NoHandler, PeerAddress, PeerBody, PeerCall, PeerClient, PeerName, PeerStream,
    PeerStreamError,
};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::Mutex;

use crate::definition::{AgentDefinition, ListenDefinition, RegistryDefinition};
use crate::error::FleetError;
use crate::listen::{self, FleetSecret};

/// A capability that every agent registers with.
pub(crate) const ANY: &str = "agent";

/// A capability by which an agent is found by its name.
pub(crate) fn by_name(agent: &str) -> String {
    format!("{ANY}:{agent}")
}

/// How agents are found and called.
#[derive(Clone, Debug)]
pub struct FleetClientOptions {
    /// Who calls.
    pub name: String,
    /// Where agents are found.
    pub registries: Vec<RegistryDefinition>,
    /// The own certificate and whom it trusts, for other addresses than plain ones.
    pub listen: Option<ListenDefinition>,
    /// What the agents of this user share.
    pub secret: Option<FleetSecret>,
}

/// Finds agents by registries, and calls them.
#[derive(Debug)]
pub struct FleetClient {
    name: PeerName,
    options: FleetClientOptions,
    registry: Arc<RegistryClient>,
    /// Connections by the agent and its address.
    open: Mutex<BTreeMap<(String, String), Arc<PeerClient>>>,
}

impl FleetClientOptions {
    pub(crate) fn of(agent: &AgentDefinition, secret: Option<FleetSecret>) -> Self {
        Self {
            name: agent.name.clone(),
            registries: agent.registries.clone(),
            listen: Some(agent.listen.clone()),
            secret,
        }
    }
}

impl FleetClient {
    /// Starts to connect to the registries.
    pub fn start(options: FleetClientOptions) -> Result<Self, FleetError> {
        let name = PeerName::parse(&options.name)?;
        let mut registries = Vec::new();
        for registry in &options.registries {
            let address: PeerAddress = registry.address.parse()?;
            let authority = registry.authority.as_deref();
            let (own, secret) = (options.listen.as_ref(), options.secret.as_ref());
            registries.push(listen::client(address, &name, authority, own, secret)?);
        }
        let registry = RegistryClient::start(RegistryClientOptions::new(registries))?;
        Ok(Self { name, options, registry: Arc::new(registry), open: Mutex::default() })
    }

    /// Keeps an agent registered.
    pub fn register(&self, card: AgentCard) {
        self.registry.register(card);
    }

    /// How each registry stands to that agent.
    pub fn standing(&self) -> Vec<RegistryStanding> {
        self.registry.status()
    }

    /// Takes the agent out of the registries.
    pub async fn leave(&self) {
        // Where one does not answer, the lease runs out.
        drop(self.registry.leave().await);
    }

    /// Agents with a capability; all of them where none is named.
    pub async fn discover(
        &self,
        capability: Option<&str>,
    ) -> Result<RegistryDiscovery, FleetError> {
        Ok(self.registry.discover(capability.unwrap_or(ANY)).await?)
    }

    /// Calls an agent. It may be called again with the same key.
    pub async fn call<T: DeserializeOwned>(
        &self,
        agent: &str,
        call: &CallBody,
        deadline: Duration,
    ) -> Result<T, FleetError> {
        let wrong = |why: String| FleetError::Answer { name: agent.to_owned(), why };
        let client = self.connect(agent).await?;
        let body = PeerBody::json(call).map_err(|error| wrong(error.to_string()))?;
        let idempotent = call.key.is_some();
        let call = PeerCall { kind: MessageKind::Call, body, deadline: Some(deadline), idempotent };
        let answer = client.request(call).await?;
        answer.json().map_err(|error| wrong(error.to_string()))
    }

    /// Watches an agent: lines of JSON, as an operator gets them.
    pub async fn tail(&self, agent: &str) -> Result<(Arc<PeerClient>, PeerStream), FleetError> {
        let wrong = |why: String| FleetError::Answer { name: agent.to_owned(), why };
        let client = self.connect(agent).await?;
        let open = PeerBody::json(&json!({ "tail": true }));
        let open = open.map_err(|error| wrong(error.to_string()))?;
        let stream = client.open_stream(open).await;
        let stream = stream.map_err(|error: PeerStreamError| wrong(error.to_string()))?;
        Ok((client, stream))
    }

    /// A connection to an agent, where the registries say that it is now.
    pub(crate) async fn connect(&self, agent: &str) -> Result<Arc<PeerClient>, FleetError> {
        let found = self.registry.discover(&by_name(agent)).await?;
        let Some(found_agent) = found.agents.into_iter().find(|it| it.card.id == agent) else {
            let silent = found.silent.into_iter().map(|silent| silent.registry).collect();
            return Err(FleetError::Unknown { name: agent.to_owned(), silent });
        };
        let address = found_agent.card.address;
        let mut open = self.open.lock().await;
        // One whose agent moved is of no use any more.
        open.retain(|(name, at), _| name != agent || *at == address);
        let key = (agent.to_owned(), address);
        if let Some(client) = open.get(&key) {
            return Ok(Arc::clone(client));
        }
        let place: PeerAddress = key.1.parse()?;
        let (own, secret) = (self.options.listen.as_ref(), self.options.secret.as_ref());
        let authority = self.options.registries.iter().find_map(|it| it.authority.as_deref());
        let mut options = listen::client(place, &self.name, authority, own, secret)?;
        // The certificate of an agent has its name: no other agent can stand in its place.
        options.server_name = Some(agent.to_owned()).filter(|_| options.token.is_none());
        let client = Arc::new(PeerClient::connect(options, NoHandler).await?);
        open.insert(key, Arc::clone(&client));
        Ok(client)
    }
}
