//! What TLS asks about certificates.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore,
    SignatureScheme,
};
use webpki::{EndEntityCert, KeyUsage};

use crate::identity::{CertificateFingerprint, name_of};
use crate::name::PeerName;

type Pins = BTreeMap<CertificateFingerprint, PeerName>;

/// Whether a certificate is pinned. It has to be valid at this time, and nobody has to have signed it.
fn is_pinned(
    pins: &Pins,
    certificate: &CertificateDer<'_>,
    algorithms: &WebPkiSupportedAlgorithms,
    now: UnixTime,
    usage: KeyUsage,
) -> Result<bool, Error> {
    if !pins.contains_key(&CertificateFingerprint::of(certificate)) {
        return Ok(false);
    }
    let encoding = |_error| Error::InvalidCertificate(CertificateError::BadEncoding);
    let certificate = EndEntityCert::try_from(certificate).map_err(encoding)?;
    // Validity and usage are checked before a path is looked for, which does not exist.
    let checked =
        certificate.verify_for_usage(algorithms.all, &[], &[], now, usage, None, None).map(|_| ());
    match checked {
        Ok(()) | Err(webpki::Error::UnknownIssuer) => Ok(true),
        Err(webpki::Error::CertExpired { .. }) => {
            Err(Error::InvalidCertificate(CertificateError::Expired))
        }
        Err(webpki::Error::CertNotValidYet { .. }) => {
            Err(Error::InvalidCertificate(CertificateError::NotValidYet))
        }
        Err(_) => Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)),
    }
}

/// Verifies servers: by pin, or by authority and name.
#[derive(Debug)]
pub(crate) struct ServerVerifier {
    pins: Pins,
    authorities: Option<Arc<WebPkiServerVerifier>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerVerifier {
    pub(crate) fn new(
        roots: RootCertStore,
        pins: Pins,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, rustls::server::VerifierBuilderError> {
        let algorithms = provider.signature_verification_algorithms;
        let authorities = match roots.is_empty() {
            true => None,
            false => {
                let roots = Arc::new(roots);
                Some(WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build()?)
            }
        };
        Ok(Self { pins, authorities, algorithms })
    }
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let usage = KeyUsage::server_auth();
        if is_pinned(&self.pins, end_entity, &self.algorithms, now, usage)? {
            return Ok(ServerCertVerified::assertion());
        }
        match &self.authorities {
            Some(authorities) => authorities.verify_server_cert(
                end_entity,
                intermediates,
                server_name,
                ocsp_response,
                now,
            ),
            None => Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Verifies clients: by pin, or by authority; and that the certificate says one name.
#[derive(Debug)]
pub(crate) struct ClientVerifier {
    pins: Pins,
    authorities: Option<Arc<dyn ClientCertVerifier>>,
    algorithms: WebPkiSupportedAlgorithms,
    mandatory: bool,
}

impl ClientVerifier {
    pub(crate) fn new(
        roots: RootCertStore,
        pins: Pins,
        mandatory: bool,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, rustls::server::VerifierBuilderError> {
        let algorithms = provider.signature_verification_algorithms;
        let authorities = match roots.is_empty() {
            true => None,
            false => {
                let roots = Arc::new(roots);
                Some(WebPkiClientVerifier::builder_with_provider(roots, provider.clone()).build()?)
            }
        };
        Ok(Self { pins, authorities, algorithms, mandatory })
    }
}

impl ClientCertVerifier for ClientVerifier {
    fn client_auth_mandatory(&self) -> bool {
        self.mandatory
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        // Clients have one certificate, and pinned ones have no authority.
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let usage = KeyUsage::client_auth();
        if is_pinned(&self.pins, end_entity, &self.algorithms, now, usage)? {
            return Ok(ClientCertVerified::assertion());
        }
        let Some(authorities) = &self.authorities else {
            return Err(Error::InvalidCertificate(CertificateError::UnknownIssuer));
        };
        let verified = authorities.verify_client_cert(end_entity, intermediates, now)?;
        let chain = [end_entity.clone()];
        let no_name = |_error| Error::InvalidCertificate(CertificateError::NotValidForName);
        name_of(&chain, &self.pins).map_err(no_name)?;
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
