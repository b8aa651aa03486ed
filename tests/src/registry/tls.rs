//! TLS for servers, with an authority that nobody trusts who was not told of it.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What a server needs to prove who it is.
#[derive(Debug)]
pub(super) struct Certified {
    /// The certificate of whoever signed that of the server, as PEM.
    pub(super) authority: String,
    pub(super) config: Arc<ServerConfig>,
}

impl Certified {
    /// For a name or an address, and for `localhost`: node takes a server without a name for that one, if it asks by a proxy.
    pub(super) fn new(host: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // A name of its own: who signs under the name of the server is taken for the server.
        params.distinguished_name.push(DnType::CommonName, "authority of a test");
        let signing = KeyPair::generate().expect("a key");
        let authority = params.self_signed(&signing).expect("a certificate").pem();
        let issuer = Issuer::new(params, signing);
        let names = vec![host.to_owned(), "localhost".to_owned()];
        let mut params = CertificateParams::new(names).expect("names");
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &issuer).expect("a certificate");
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate and its key");
        Self { authority, config: Arc::new(config) }
    }
}

/// Speaks TLS on a connection for whoever answers on it.
pub(super) fn accept(
    config: Arc<ServerConfig>,
    stream: TcpStream,
    answer: impl FnOnce(&mut StreamOwned<ServerConnection, TcpStream>),
) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).expect("a server"), stream);
    answer(&mut stream);
    stream.conn.send_close_notify();
    // The client may be gone already.
    drop(stream.flush());
}
