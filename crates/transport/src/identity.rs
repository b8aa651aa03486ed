//! Certificates: the own one, and those that are trusted.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ring::digest;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::control::PROTOCOL;
use crate::error::IdentityError;
use crate::hex;
use crate::name::PeerName;
use crate::verify::{ClientVerifier, ServerVerifier};

/// The SHA-256 of a certificate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CertificateFingerprint([u8; 32]);

impl CertificateFingerprint {
    /// That of a certificate in DER.
    pub fn of(certificate: &CertificateDer<'_>) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest::digest(&digest::SHA256, certificate).as_ref());
        Self(bytes)
    }

    /// Reads 64 hexadecimal digits.
    pub fn parse(digits: &str) -> Result<Self, IdentityError> {
        let wrong = || IdentityError::Fingerprint(digits.chars().take(80).collect());
        hex::decode(digits).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for CertificateFingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for CertificateFingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(&self.0))
    }
}

/// A certificate of this side, with its key.
pub struct PeerIdentity {
    /// The certificate, and those between it and its authority.
    pub chain: Vec<CertificateDer<'static>>,
    /// Its key.
    pub key: PrivateKeyDer<'static>,
}

impl Clone for PeerIdentity {
    fn clone(&self) -> Self {
        Self { chain: self.chain.clone(), key: self.key.clone_key() }
    }
}

impl fmt::Debug for PeerIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fingerprint = self.chain.first().map(CertificateFingerprint::of);
        write!(formatter, "PeerIdentity({fingerprint:?})")
    }
}

/// Whose certificates are trusted. Nobody's, at first.
#[derive(Clone, Debug, Default)]
pub struct PeerTrust {
    /// Certificates of authorities.
    pub authorities: Vec<CertificateDer<'static>>,
    /// Single certificates, and who has them.
    pub pins: BTreeMap<CertificateFingerprint, PeerName>,
}

impl PeerTrust {
    /// Whether nobody is trusted.
    pub fn is_empty(&self) -> bool {
        self.authorities.is_empty() && self.pins.is_empty()
    }

    fn roots(&self) -> Result<RootCertStore, IdentityError> {
        let mut roots = RootCertStore::empty();
        for authority in &self.authorities {
            roots.add(authority.clone()).map_err(unusable)?;
        }
        Ok(roots)
    }
}

fn unusable(error: impl fmt::Display) -> IdentityError {
    IdentityError::Certificate(error.to_string())
}

/// TLS of a client. Without a certificate of its own it has to have a token.
pub(crate) fn client_config(
    identity: Option<&PeerIdentity>,
    trust: &PeerTrust,
) -> Result<Arc<ClientConfig>, IdentityError> {
    if trust.is_empty() {
        let hint = "a client has to trust an authority or a pinned certificate of the server";
        return Err(IdentityError::Missing(hint));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = ServerVerifier::new(trust.roots()?, trust.pins.clone(), &provider);
    let verifier = Arc::new(verifier.map_err(unusable)?);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(unusable)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match identity {
        Some(PeerIdentity { chain, key }) => {
            builder.with_client_auth_cert(chain.clone(), key.clone_key()).map_err(unusable)?
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![PROTOCOL.as_bytes().to_vec()];
    // The handshake of the session proves the other side anew each time.
    config.resumption = rustls::client::Resumption::disabled();
    Ok(Arc::new(config))
}

/// TLS of a server. A client may come without a certificate if there are tokens.
pub(crate) fn server_config(
    identity: &PeerIdentity,
    trust: &PeerTrust,
    has_tokens: bool,
) -> Result<Arc<ServerConfig>, IdentityError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(unusable)?;
    if trust.is_empty() && !has_tokens {
        let hint = "a server has to trust an authority or pinned certificates, or to have tokens";
        return Err(IdentityError::Missing(hint));
    }
    let builder = match trust.is_empty() {
        true => builder.with_no_client_auth(),
        false => {
            let pins = trust.pins.clone();
            let verifier = ClientVerifier::new(trust.roots()?, pins, !has_tokens, &provider);
            builder.with_client_cert_verifier(Arc::new(verifier.map_err(unusable)?))
        }
    };
    let PeerIdentity { chain, key } = identity;
    let config = builder.with_single_cert(chain.clone(), key.clone_key());
    let mut config = config.map_err(unusable)?;
    config.alpn_protocols = vec![PROTOCOL.as_bytes().to_vec()];
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// The name that a certificate proves, once TLS has verified it.
pub(crate) fn name_of(
    certificates: &[CertificateDer<'_>],
    pins: &BTreeMap<CertificateFingerprint, PeerName>,
) -> Result<PeerName, IdentityError> {
    let first = certificates.first().ok_or(IdentityError::Missing("there is no certificate"))?;
    if let Some(name) = pins.get(&CertificateFingerprint::of(first)) {
        return Ok(name.clone());
    }
    let certificate = webpki::EndEntityCert::try_from(first).map_err(unusable)?;
    let mut names = certificate.valid_dns_names();
    match (names.next(), names.next()) {
        (Some(name), None) => PeerName::parse(name),
        (None, _) => Err(unusable("it has no DNS name")),
        (Some(_), Some(_)) => Err(unusable("it has more than one DNS name")),
    }
}
