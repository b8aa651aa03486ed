//! Who is registered, without I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use offshoot_mxp::{AgentCard, DiscoveredBody, HeartbeatReplyBody, RegisteredBody};
use offshoot_transport::PeerName;

/// Limits of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryLimits {
    /// Agents in all.
    pub agents: usize,
    /// Agents of one name.
    pub agents_of_one: usize,
    /// Bytes of an id or a name.
    pub id: usize,
    /// Bytes of an address.
    pub address: usize,
    /// Capabilities of one agent.
    pub capabilities: usize,
    /// Bytes of one capability.
    pub capability: usize,
    /// Bytes of a card as JSON.
    pub card: usize,
    /// Agents in one answer.
    pub listed: usize,
    /// Bytes of these.
    pub listed_bytes: usize,
    /// How long a registration lives without a heartbeat.
    pub lease: Duration,
}

impl Default for RegistryLimits {
    fn default() -> Self {
        Self {
            agents: 10_000,
            agents_of_one: 256,
            id: 256,
            address: 512,
            capabilities: 64,
            capability: 128,
            card: 16 << 10,
            listed: 1000,
            listed_bytes: 1 << 20,
            lease: Duration::from_secs(30),
        }
    }
}

/// What has to be in the log before an answer is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum RegistryRecord {
    /// An agent is registered, or its card is replaced.
    Registered {
        /// The agent.
        card: AgentCard,
        /// Until then, in milliseconds since 1970.
        until: u64,
    },
    /// A lease is longer.
    Renewed {
        /// The agent.
        agent_id: String,
        /// Until then, in milliseconds since 1970.
        until: u64,
    },
    /// An agent is gone.
    Removed {
        /// The agent.
        agent_id: String,
    },
}

#[derive(Clone, Debug)]
struct Entry {
    card: AgentCard,
    until: u64,
    bytes: usize,
}

/// Who is registered. It changes by records alone: ask what a request would do, write the record, apply it, and answer.
///
/// ```
/// use offshoot_registry::{AgentCard, RegistryLimits, RegistryState};
/// use offshoot_transport::PeerName;
///
/// let mut state = RegistryState::new(RegistryLimits::default());
/// let card = AgentCard {
///     id: "planner".to_owned(),
///     name: "Planner".to_owned(),
///     capabilities: vec!["plan".to_owned()],
///     address: "tls://planner.example:7000".to_owned(),
///     metadata: Default::default(),
/// };
/// let (reply, record) = state.register(1000, &PeerName::parse("planner")?, card);
/// state.apply(record.as_ref().expect("its name is proven"));
/// assert!(reply.success);
/// assert_eq!(state.discover(2000, "plan").count, 1);
/// assert_eq!(state.discover(40_000, "plan").count, 0);
/// # Ok::<(), offshoot_transport::IdentityError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RegistryState {
    limits: RegistryLimits,
    agents: BTreeMap<String, Entry>,
    by_capability: BTreeMap<String, BTreeSet<String>>,
    by_owner: BTreeMap<String, usize>,
    by_end: BTreeSet<(u64, String)>,
}

impl RegistryState {
    /// Nobody is registered.
    pub fn new(limits: RegistryLimits) -> Self {
        Self {
            limits,
            agents: BTreeMap::new(),
            by_capability: BTreeMap::new(),
            by_owner: BTreeMap::new(),
            by_end: BTreeSet::new(),
        }
    }

    /// Its limits.
    pub fn limits(&self) -> &RegistryLimits {
        &self.limits
    }

    /// What a registration is answered, and the record that it needs.
    pub fn register(
        &mut self,
        now: u64,
        peer: &PeerName,
        card: AgentCard,
    ) -> (RegisteredBody, Option<RegistryRecord>) {
        self.expire(now);
        let agent_id: String = card.id.chars().take(self.limits.id).collect();
        if let Err(message) = self.check(peer, &card) {
            return (RegisteredBody { success: false, agent_id, message }, None);
        }
        let message = match self.agents.contains_key(&card.id) {
            true => "replaced",
            false => "registered",
        };
        let reply = RegisteredBody { success: true, agent_id, message: message.to_owned() };
        (reply, Some(RegistryRecord::Registered { card, until: self.lease(now) }))
    }

    /// What a heartbeat is answered, and the record that it needs. The last one ends the registration.
    pub fn heartbeat(
        &mut self,
        now: u64,
        peer: &PeerName,
        agent_id: &str,
        last: bool,
    ) -> (HeartbeatReplyBody, Option<RegistryRecord>) {
        self.expire(now);
        let known = self.agents.contains_key(agent_id);
        let mut reply = HeartbeatReplyBody {
            success: true,
            needs_register: false,
            agent_id: agent_id.chars().take(self.limits.id).collect(),
            timestamp: now,
            message: None,
        };
        let owned = || agent_id.to_owned();
        if !owns(peer, agent_id) {
            reply.success = false;
            reply.message = Some(forbidden(peer));
            return (reply, None);
        }
        match (known, last) {
            (true, true) => (reply, Some(RegistryRecord::Removed { agent_id: owned() })),
            (true, false) => {
                let until = self.lease(now);
                (reply, Some(RegistryRecord::Renewed { agent_id: owned(), until }))
            }
            (false, true) => (reply, None),
            (false, false) => {
                (reply.success, reply.needs_register) = (false, true);
                (reply, None)
            }
        }
    }

    /// Who has a capability.
    pub fn discover(&mut self, now: u64, capability: &str) -> DiscoveredBody {
        self.expire(now);
        let ids = self.by_capability.get(capability).into_iter().flatten();
        let found: Vec<&Entry> = ids.filter_map(|id| self.agents.get(id)).collect();
        let mut bytes = 0;
        let fits = |entry: &&&Entry| {
            bytes += entry.bytes;
            bytes <= self.limits.listed_bytes
        };
        let listed = found.iter().take(self.limits.listed).take_while(fits);
        let agents = listed.map(|entry| entry.card.clone()).collect();
        let capability = capability.chars().take(self.limits.capability).collect();
        DiscoveredBody { capability, agents, count: found.len() }
    }

    /// Does what a record says, which is in the log.
    pub fn apply(&mut self, record: &RegistryRecord) {
        match record {
            RegistryRecord::Registered { card, until } => {
                self.remove(&card.id);
                let bytes = size(card);
                let entry = Entry { card: card.clone(), until: *until, bytes };
                for capability in &card.capabilities {
                    let ids = self.by_capability.entry(capability.clone()).or_default();
                    ids.insert(card.id.clone());
                }
                *self.by_owner.entry(owner(&card.id).to_owned()).or_default() += 1;
                self.by_end.insert((*until, card.id.clone()));
                self.agents.insert(card.id.clone(), entry);
            }
            RegistryRecord::Renewed { agent_id, until } => {
                if let Some(entry) = self.agents.get_mut(agent_id) {
                    self.by_end.remove(&(entry.until, agent_id.clone()));
                    entry.until = *until;
                    self.by_end.insert((*until, agent_id.clone()));
                }
            }
            RegistryRecord::Removed { agent_id } => self.remove(agent_id),
        }
    }

    /// Forgets whose lease is over.
    pub fn expire(&mut self, now: u64) {
        while let Some((until, _)) = self.by_end.first()
            && *until <= now
            && let Some((_, id)) = self.by_end.pop_first()
        {
            self.remove(&id);
        }
    }

    /// After a start: no lease is longer than a new one.
    pub fn clamp(&mut self, now: u64) {
        let most = self.lease(now);
        let long = self.agents.iter().filter(|(_, entry)| entry.until > most);
        let long: Vec<String> = long.map(|(id, _)| id.clone()).collect();
        for agent_id in long {
            self.apply(&RegistryRecord::Renewed { agent_id, until: most });
        }
    }

    /// How many are registered.
    pub fn len(&self) -> usize {
        self.agents.len()
    }

    /// Whether nobody is.
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// All of it as records.
    pub fn records(&self) -> impl Iterator<Item = RegistryRecord> {
        self.agents.values().map(|entry| {
            let Entry { card, until, .. } = entry;
            RegistryRecord::Registered { card: card.clone(), until: *until }
        })
    }

    fn lease(&self, now: u64) -> u64 {
        let lease = u64::try_from(self.limits.lease.as_millis()).unwrap_or(u64::MAX);
        now.saturating_add(lease)
    }

    fn check(&self, peer: &PeerName, card: &AgentCard) -> Result<(), String> {
        let limits = &self.limits;
        if !owns(peer, &card.id) {
            return Err(forbidden(peer));
        }
        within("id", card.id.len(), limits.id)?;
        is_id(&card.id)?;
        within("name", card.name.len(), limits.id)?;
        within("address", card.address.len(), limits.address)?;
        within("capabilities", card.capabilities.len(), limits.capabilities)?;
        for capability in &card.capabilities {
            within("capability", capability.len(), limits.capability)?;
        }
        within("card", size(card), limits.card)?;
        if self.agents.contains_key(&card.id) {
            return Ok(());
        }
        let own = self.by_owner.get(peer.as_str()).copied().unwrap_or_default();
        if own >= limits.agents_of_one {
            return Err(format!("full: {peer} has {own} agents, as many as one name may have"));
        }
        if self.agents.len() >= limits.agents {
            return Err(format!("full: there are {} agents already", limits.agents));
        }
        Ok(())
    }

    fn remove(&mut self, id: &str) {
        let Some(entry) = self.agents.remove(id) else { return };
        self.by_end.remove(&(entry.until, entry.card.id.clone()));
        for capability in &entry.card.capabilities {
            if let Some(ids) = self.by_capability.get_mut(capability) {
                ids.remove(id);
                if ids.is_empty() {
                    self.by_capability.remove(capability);
                }
            }
        }
        if let Some(count) = self.by_owner.get_mut(owner(id)) {
            *count -= 1;
            if *count == 0 {
                self.by_owner.remove(owner(id));
            }
        }
    }
}

/// Whose id it is: what stands before the first slash.
fn owner(id: &str) -> &str {
    id.split_once('/').map_or(id, |(owner, _)| owner)
}

fn owns(peer: &PeerName, id: &str) -> bool {
    owner(id) == peer.as_str()
}

fn forbidden(peer: &PeerName) -> String {
    format!("forbidden: {peer} may register {peer} and ids that begin with {peer}/")
}

fn is_id(id: &str) -> Result<(), String> {
    let is_part = |part: &str| PeerName::parse(part).is_ok();
    match id.split('/').all(is_part) {
        true => Ok(()),
        false => Err("invalid: an id is a name, and any number of / and a name".to_owned()),
    }
}

fn within(what: &str, found: usize, most: usize) -> Result<(), String> {
    match found <= most {
        true => Ok(()),
        false => Err(format!("invalid: {what} has {found}, and at most {most} are allowed")),
    }
}

/// What a card takes as JSON. One that cannot be written takes more than any limit.
fn size(card: &AgentCard) -> usize {
    serde_json::to_vec(card).map_or(usize::MAX / 2, |bytes| bytes.len())
}
