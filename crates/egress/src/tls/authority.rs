//! A certificate authority that lives as long as one proxy, and the certificates that it makes.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::protocol::{HTTP, provider};
use crate::error::EgressError;
use crate::host::Host;

/// How many hosts keep their certificate.
const KEPT: usize = 256;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes a certificate for any host. Its key is in memory alone.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
    /// All certificates share it: making a key takes longer than signing.
    key: KeyPair,
    made: Mutex<HashMap<Host, Arc<ServerConfig>>>,
}

impl Authority {
    pub(super) fn new() -> Result<Self, EgressError> {
        let mut params = params("Offshoot network proxy");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let signing = KeyPair::generate().map_err(failed)?;
        let certificate = params.self_signed(&signing).map_err(failed)?.pem();
        let key = KeyPair::generate().map_err(failed)?;
        Ok(Self { issuer: Issuer::new(params, signing), certificate, key, made: Mutex::default() })
    }

    /// The certificate that a client has to trust, as PEM.
    pub(super) fn certificate(&self) -> &str {
        &self.certificate
    }

    /// How to be the server of a host.
    pub(super) fn server(&self, host: &Host) -> Result<Arc<ServerConfig>, EgressError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = made.get(host) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.make(host)?);
        if made.len() >= KEPT {
            made.clear();
        }
        made.insert(host.clone(), Arc::clone(&config));
        Ok(config)
    }

    fn make(&self, host: &Host) -> Result<ServerConfig, EgressError> {
        let mut params = params("Offshoot network proxy: server");
        let name = match host {
            Host::Name(name) => SanType::DnsName(name.as_str().try_into().map_err(failed)?),
            Host::Address(address) => SanType::IpAddress(*address),
        };
        params.subject_alt_names = vec![name];
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&self.key, &self.issuer).map_err(failed)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .map_err(failed)?;
        config.alpn_protocols = vec![HTTP.to_vec()];
        Ok(config)
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authority(..)")
    }
}

fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.remove(DnType::CommonName);
    params.distinguished_name.push(DnType::CommonName, name);
    // A day before now, since clocks differ; no command runs for a month.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let epoch = date_time_ymd(1970, 1, 1);
    params.not_before = epoch + now.saturating_sub(DAY);
    params.not_after = epoch + now + 30 * DAY;
    params
}

fn failed(error: impl fmt::Display) -> EgressError {
    EgressError::Certificates(error.to_string())
}
