//! Agents that serve other agents: the kernel, connections, the registry, governance and Offshoot's own agent joined.
//!
//! An [`AgentDefinition`] is read from a file, and an [`AgentService`] runs it: it registers, takes calls of other agents as durable tasks, does
//! them in workspaces, asks governance before risky steps, and goes on after a crash. `docs/design/fleet.md` has the format and the invariants.

mod asking;
mod calls;
mod client;
mod control;
mod courier;
mod definition;
mod error;
mod governed;
mod hooks;
mod listen;
mod progress;
mod reply;
mod request;
mod rules;
mod service;
mod shared;
mod tell;
mod work;

pub use client::{FleetClient, FleetClientOptions};
pub use control::{AgentQuestion, AgentStatus, AgentTask};
pub use definition::{
    AgentDefinition, AgentJob, BudgetDefinition, CoderWork, GovernanceDefinition, LimitDefinition,
    ListenDefinition, RegistryDefinition, WorkDefinition,
};
pub use error::FleetError;
pub use listen::{FleetSecret, registry_listener};
pub use offshoot_kernel::LifeState;
pub use offshoot_mxp::{CallBody, SpokenMessage, ToolRequest};
pub use offshoot_registry::{
    AgentCard, AgentRegistry, DiscoveredAgent, RegistryDiscovery, RegistryLimits, RegistryStanding,
};
pub use offshoot_transport::{PeerAddress, PeerName, PeerServer};
pub use progress::FleetProgress;
pub use reply::{AgentReply, SpokenReply};
pub use rules::check_rules;
pub use service::{AgentService, AgentServiceOptions};
