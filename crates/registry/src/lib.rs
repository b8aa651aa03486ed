//! The registry of agents: who is there and what they can do, with leases, server and client.
//!
//! An [`AgentRegistry`] is the handler of a `PeerListener`. A [`RegistryClient`] keeps an agent registered with several registries, and asks all
//! of them. `docs/design/registry.md` says what is on the wire and on disk, and who may register what.

mod client;
mod error;
mod keeper;
mod log;
mod merge;
mod registry;
mod state;

pub use client::{RegistryClient, RegistryClientOptions, RegistryStanding};
pub use error::{AgentRegistryError, SilentRegistry};
pub use keeper::{LeaseKeeper, LeaseReply, LeaseStep};
pub use log::RegistryLog;
pub use merge::{DiscoveredAgent, RegistryAnswer, RegistryDisagreement, RegistryDiscovery};
pub use offshoot_mxp::AgentCard;
pub use registry::AgentRegistry;
pub use state::{RegistryLimits, RegistryRecord, RegistryState};
