//! TLS to servers, whose certificates are checked.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::protocol::{HTTP, provider};
use crate::error::EgressError;
use crate::host::Host;
use crate::wire::Duplex;

/// Connects to servers by TLS.
pub(crate) struct Client {
    connector: TlsConnector,
}

impl Client {
    /// Trusts the given certificates, or else those of the system.
    pub(crate) fn new(roots: Option<&[Vec<u8>]>) -> Result<Self, EgressError> {
        let mut store = RootCertStore::empty();
        let mut problem = "none were found".to_owned();
        match roots {
            Some(roots) => {
                store.add_parsable_certificates(roots.iter().cloned().map(CertificateDer::from));
            }
            None => {
                let found = rustls_native_certs::load_native_certs();
                if let Some(error) = found.errors.first() {
                    problem = error.to_string();
                }
                store.add_parsable_certificates(found.certs);
            }
        }
        if store.is_empty() {
            return Err(EgressError::NoRoots(problem));
        }
        let mut config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|error| EgressError::Certificates(error.to_string()))?
            .with_root_certificates(store)
            .with_no_client_auth();
        config.alpn_protocols = vec![HTTP.to_vec()];
        Ok(Self { connector: TlsConnector::from(Arc::new(config)) })
    }

    /// Greets the server of a host on a stream that leads to it.
    pub(crate) async fn connect(&self, host: &Host, stream: Duplex) -> io::Result<Duplex> {
        let name = match host {
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(io::Error::other)?,
            Host::Address(IpAddr::V4(address)) => ServerName::IpAddress((*address).into()),
            Host::Address(IpAddr::V6(address)) => ServerName::IpAddress((*address).into()),
        };
        Ok(Duplex::of(self.connector.connect(name, stream).await?))
    }
}
