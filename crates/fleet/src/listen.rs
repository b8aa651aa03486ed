//! Secrets and certificates: who an agent is to others, and whom it trusts.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use offshoot_registry::AgentRegistry;
use offshoot_transport::{
    CertificateDer, PeerAddress, PeerClientOptions, PeerIdentity, PeerListener,
    PeerListenerOptions, PeerName, PeerServer, PeerToken, PeerTrust, PeerWay, PrivateKeyDer,
    TokenTable,
};
use rustls::pki_types::pem::PemObject;

use crate::definition::{ListenDefinition, TokenRows};
use crate::error::FleetError;

/// How many random bytes a secret has.
const LENGTH: usize = 32;

/// What agents of one user share on one machine.
#[derive(Clone, Debug)]
pub struct FleetSecret(PeerToken);

impl FleetSecret {
    /// Reads the secret in a file, or makes both. Nobody but its owner may read it.
    pub fn open(path: &Path) -> Result<Self, FleetError> {
        let failed = |why: std::io::Error| FleetError::file(path, why);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        match fs::read(path) {
            Ok(bytes) => Self::checked(path, &bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make(path).map_err(failed)?;
                Self::checked(path, &fs::read(path).map_err(failed)?)
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn checked(path: &Path, bytes: &[u8]) -> Result<Self, FleetError> {
        let mode = fs::metadata(path).map_err(|why| FleetError::file(path, why))?.permissions();
        if mode.mode() & 0o077 != 0 {
            let why = format!("others can read it; `chmod 600 {}`", path.display());
            return Err(FleetError::file(path, why));
        }
        Ok(Self(PeerToken::new(bytes)?))
    }
}

/// Makes a secret that is there whole or not at all, whoever makes it at the same time.
fn make(path: &Path) -> std::io::Result<()> {
    let mut bytes = [0; LENGTH];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let draft = path.with_extension(format!("{}", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// How an agent or a registry listens.
pub(crate) fn listener(
    listen: &ListenDefinition,
    secret: Option<&FleetSecret>,
) -> Result<PeerListenerOptions, FleetError> {
    let address: PeerAddress = listen.address.parse()?;
    let mut options = PeerListenerOptions::new(address);
    options.allow_plain = options.address.way == PeerWay::Plain;
    options.identity = identity(listen)?;
    options.trust = trust(listen.authority.as_deref())?;
    if let Some(path) = &listen.tokens {
        options.tokens = tokens(path)?;
    } else if let (PeerWay::Plain, Some(secret)) = (options.address.way, secret) {
        options.tokens = TokenTable::default().with_secret(secret.0.clone());
    }
    Ok(options)
}

/// How an agent, or somebody else of this name, connects.
pub(crate) fn client(
    address: PeerAddress,
    name: &PeerName,
    authority: Option<&Path>,
    own: Option<&ListenDefinition>,
    secret: Option<&FleetSecret>,
) -> Result<PeerClientOptions, FleetError> {
    let mut options = PeerClientOptions::new(address);
    if options.address.way == PeerWay::Plain {
        options.allow_plain = true;
        options.token = secret.map(|secret| (name.clone(), secret.0.derive(name)));
        return Ok(options);
    }
    let own_authority = own.and_then(|own| own.authority.as_deref());
    options.trust = trust(authority.or(own_authority))?;
    options.identity = own.map(identity).transpose()?.flatten();
    Ok(options)
}

fn identity(listen: &ListenDefinition) -> Result<Option<PeerIdentity>, FleetError> {
    let (Some(certificate), Some(key)) = (&listen.certificate, &listen.key) else {
        return Ok(None);
    };
    let mode = fs::metadata(key).map_err(|why| FleetError::file(key, why))?.permissions().mode();
    if mode & 0o077 != 0 {
        let why = format!("others can read the key; `chmod 600 {}`", key.display());
        return Err(FleetError::file(key, why));
    }
    let chain = certificates(certificate)?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|why| FleetError::file(key, why))?;
    Ok(Some(PeerIdentity { chain, key }))
}

fn trust(authority: Option<&Path>) -> Result<PeerTrust, FleetError> {
    let authorities = authority.map(certificates).transpose()?.unwrap_or_default();
    Ok(PeerTrust { authorities, ..PeerTrust::default() })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, FleetError> {
    let failed = |why: rustls::pki_types::pem::Error| FleetError::file(path, why);
    let read = CertificateDer::pem_file_iter(path).map_err(failed)?;
    let all = read.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    match all.is_empty() {
        true => Err(FleetError::file(path, "there is no certificate in it")),
        false => Ok(all),
    }
}

/// A table of names and tokens.
fn tokens(path: &PathBuf) -> Result<TokenTable, FleetError> {
    let failed = |why: &dyn ToString| FleetError::file(path, why.to_string());
    let mode = fs::metadata(path).map_err(|why| failed(&why))?.permissions().mode();
    if mode & 0o077 != 0 {
        let why = format!("others can read it; `chmod 600 {}`", path.display());
        return Err(FleetError::file(path, why));
    }
    let text = fs::read_to_string(path).map_err(|why| failed(&why))?;
    // An error of the parser would show the line with the token.
    let rows: TokenRows =
        toml::from_str(&text).map_err(|_| failed(&"not a table of names and tokens"))?;
    let mut table = TokenTable::default();
    for (name, token) in rows {
        table.insert(PeerName::parse(&name)?, PeerToken::new(token.as_bytes())?);
    }
    match table.is_empty() {
        true => Err(failed(&"there is no token in it")),
        false => Ok(table),
    }
}

/// Serves a registry.
pub async fn registry_listener(
    registry: AgentRegistry,
    listen: &ListenDefinition,
    secret: Option<&FleetSecret>,
) -> Result<PeerServer, FleetError> {
    let mut options = listener(listen, secret)?;
    options.limits = registry.peer_limits();
    Ok(PeerListener::bind(options).await?.serve(registry))
}
