//! Which TLS connections are looked into, and by whose certificate.

use std::sync::Arc;

use rustls::ServerConfig;

use super::authority::Authority;
use crate::error::EgressError;
use crate::host::Host;
use crate::rules::NetRules;

/// Hosts whose TLS the proxy looks into, and the authority that commands have to trust for that. Its key is in memory alone.
#[derive(Debug)]
pub struct Inspection {
    authority: Authority,
    hosts: NetRules,
}

impl Inspection {
    /// Makes an authority for these hosts: at the ports that they name, or at any.
    pub fn new(hosts: NetRules) -> Result<Self, EgressError> {
        Ok(Self { authority: Authority::new()?, hosts })
    }

    /// The certificate that the command has to trust, as PEM.
    pub fn certificate(&self) -> &str {
        self.authority.certificate()
    }

    /// Whether connections to a host are looked into.
    pub(crate) fn covers(&self, host: &Host, port: u16) -> bool {
        self.hosts.about(host, Some(port)).next().is_some()
    }

    /// How to be the server of a host.
    pub(crate) fn server(&self, host: &Host) -> Result<Arc<ServerConfig>, EgressError> {
        self.authority.server(host)
    }
}
