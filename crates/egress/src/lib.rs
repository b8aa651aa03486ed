//! The allow-listing proxy that is the only way out of the network namespace of a command.
//!
//! [`Egress::start`] takes sockets that lie in that namespace and accepts on them from outside. A client reaches it as a proxy
//! (HTTP, CONNECT, SOCKS5), or without knowing: a made-up name server answers with made-up addresses, and listeners at the
//! allowed ports take whatever connects to those. Names are resolved here alone, once a connection, and the address
//! that was checked is the one that is used. The page `docs/design/egress.md` has the whole of it.

mod credentials;
mod dns;
mod egress;
mod error;
mod fetch;
#[cfg(test)]
mod fuzz;
mod host;
mod http;
mod limits;
mod lookup;
mod made_up;
mod opaque;
mod ranges;
mod record;
mod rules;
mod socks;
mod state;
mod tls;
mod tunnel;
mod url;
mod walls;
mod wire;

pub use credentials::{Credential, Credentials, Secret};
pub use egress::{Egress, EgressOptions, EgressSockets};
pub use error::EgressError;
pub use fetch::{Page, PageError, PageRequest, fetch_page};
pub use host::{Host, HostParseError};
pub use limits::EgressLimits;
pub use lookup::{NameLookup, SystemLookup};
pub use ranges::{Cidr, CidrError};
pub use record::{
    Connection, ConnectionListener, Disagreement, EgressReport, Refusal, RefusedHost, Route,
};
pub use rules::{DEFAULT_PORTS, NetGroup, NetRule, NetRules, RuleError, Target, groups};
pub use tls::Inspection;
pub use walls::EgressWalls;
