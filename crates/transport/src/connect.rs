//! How a client gets a channel.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::address::{PeerAddress, PeerWay};
use crate::error::{IdentityError, PeerConnectError};
use crate::handshake::ChannelProof;
use crate::identity::{CertificateFingerprint, name_of};
use crate::name::PeerName;
use crate::pipe::Channel;

/// The label of keying material.
pub(crate) const LABEL: &[u8] = b"EXPORTER-offshoot-peer";

/// What a client needs to reach its server.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) address: PeerAddress,
    /// The name in the server's certificate.
    pub(crate) server_name: String,
    /// None for plain TCP.
    pub(crate) tls: Option<Arc<ClientConfig>>,
    pub(crate) pins: std::collections::BTreeMap<CertificateFingerprint, PeerName>,
}

impl Connector {
    pub(crate) async fn connect(&self) -> Result<Channel, PeerConnectError> {
        let broken = |error| self.broken(error);
        let places = (self.address.host.as_str(), self.address.port);
        let places: Vec<SocketAddr> =
            tokio::net::lookup_host(places).await.map_err(broken)?.collect();
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for place in places {
            match self.connect_to(place).await {
                Ok(channel) => return Ok(channel),
                Err(PeerConnectError::Io { error, .. }) => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(self.broken(last))
    }

    async fn connect_to(&self, place: SocketAddr) -> Result<Channel, PeerConnectError> {
        let broken = |error| self.broken(error);
        match (self.address.way, &self.tls) {
            (PeerWay::Plain, _) => {
                only_loopback(place)?;
                let stream = TcpStream::connect(place).await.map_err(broken)?;
                stream.set_nodelay(true).map_err(broken)?;
                let name = Some(PeerName::parse("localhost")?);
                let proof = ChannelProof { binding: None, name };
                Ok(Channel { bytes: Box::new(stream), proof })
            }
            (PeerWay::Tls, Some(tls)) => {
                let stream = TcpStream::connect(place).await.map_err(broken)?;
                stream.set_nodelay(true).map_err(broken)?;
                let name = ServerName::try_from(self.server_name.clone())
                    .map_err(|_error| IdentityError::Address(self.server_name.clone()))?;
                let stream = TlsConnector::from(tls.clone()).connect(name, stream).await;
                let stream = stream.map_err(broken)?;
                let (_, connection) = stream.get_ref();
                let name = self.server(connection.peer_certificates().unwrap_or_default())?;
                let binding = connection.export_keying_material([0; 32], LABEL, None);
                let binding = Some(binding.map_err(|error| self.broken(io::Error::other(error)))?);
                let proof = ChannelProof { binding, name: Some(name) };
                Ok(Channel { bytes: Box::new(stream), proof })
            }
            #[cfg(feature = "quic")]
            (PeerWay::Quic, Some(tls)) => crate::quic::connect(self, place, tls.clone()).await,
            #[cfg(not(feature = "quic"))]
            (PeerWay::Quic, _) => Err(IdentityError::NoQuic.into()),
            (_, None) => Err(IdentityError::Missing("TLS needs trust in the server").into()),
        }
    }

    /// The proven name of the server: beside its pin, or the one that it was verified for.
    pub(crate) fn server(
        &self,
        certificates: &[rustls::pki_types::CertificateDer<'_>],
    ) -> Result<PeerName, IdentityError> {
        let first = certificates.first().map(CertificateFingerprint::of);
        match first.and_then(|first| self.pins.get(&first)) {
            Some(_) => name_of(certificates, &self.pins),
            None => PeerName::parse(&host_name(&self.server_name)),
        }
    }

    /// Who did not trust whom is told from a line that is cut.
    pub(crate) fn broken(&self, error: io::Error) -> PeerConnectError {
        let address = self.address.to_string();
        match tls_reason(&error) {
            Some(reason) => PeerConnectError::Tls { address, reason },
            None => PeerConnectError::Io { address, error },
        }
    }
}

/// Names are in lower case, and IPv6 addresses have colons.
fn host_name(host: &str) -> String {
    match host.contains(':') {
        true => format!("ip6-{}", host.replace(':', "-")),
        false => host.to_ascii_lowercase(),
    }
}

/// Plain TCP stays on this machine.
pub(crate) fn only_loopback(place: SocketAddr) -> Result<(), IdentityError> {
    match place.ip().is_loopback() {
        true => Ok(()),
        false => Err(IdentityError::PlainOffLoopback(place)),
    }
}

/// What TLS says, if it was TLS.
fn tls_reason(error: &io::Error) -> Option<String> {
    let inner = error.get_ref()?;
    if let Some(tls) = inner.downcast_ref::<rustls::Error>() {
        return Some(tls.to_string());
    }
    #[cfg(feature = "quic")]
    if let Some(reason) = crate::quic::tls_reason(inner) {
        return Some(reason);
    }
    None
}
