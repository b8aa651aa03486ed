//! The certificate of the proxy where programs look for such, if it looks into TLS.

use std::path::{Path, PathBuf};

use offshoot_host::read_regular;
use offshoot_sandbox::WrittenFile;

use super::super::sight::Viewer;
use crate::error::{Result, ServiceError};

/// The proxy's own certificate, in a directory that every command has for itself.
const OWN: &str = "/run/offshoot/proxy.pem";
/// The same with those that this machine trusts.
const ALL: &str = "/run/offshoot/certificates.pem";
/// Variables of programs that trust a file in place of what the machine trusts.
const REPLACING: [&str; 8] = [
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "PIP_CERT",
    "AWS_CA_BUNDLE",
    // A file that its settings name would replace what node trusts.
    "npm_config_cafile",
];
/// Variables of programs that trust a file beside what they trust by themselves.
const ADDING: [&str; 2] = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"];
/// Where systems have the certificates that they trust, in one file.
const SYSTEM: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/ssl/cert.pem",
];
/// Anything larger is no list of certificates.
const LARGEST: u64 = 8 << 20;

/// The files that a command finds.
pub(super) fn files(certificate: &str, viewer: &Viewer) -> Result<Vec<WrittenFile>> {
    let named = viewer.variable("SSL_CERT_FILE").map(PathBuf::from);
    let system = match named {
        Some(named) => Some(named),
        None => SYSTEM.iter().map(PathBuf::from).find(|path| path.exists()),
    };
    let trusted = system.map(|path| {
        let problem =
            |error| format!("cannot read the certificates in {}: {error}", path.display());
        read_regular(&path, LARGEST).map_err(|error| ServiceError::Request(problem(error)))
    });
    let mut all = trusted.transpose()?.unwrap_or_default();
    all.push(b'\n');
    all.extend(certificate.as_bytes());
    let file = |path: &str, content| WrittenFile {
        path: Path::new(path).to_owned(),
        content,
        modified: None,
    };
    Ok(vec![file(OWN, certificate.as_bytes().to_vec()), file(ALL, all)])
}

/// The variables that name them.
pub(super) fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    let replacing = REPLACING.into_iter().map(|name| (name, ALL));
    replacing.chain(ADDING.into_iter().map(|name| (name, OWN)))
}
