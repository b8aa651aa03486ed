//! The client by TLS, to a proxy before a server.

use std::net::SocketAddr;
use std::sync::Arc;

use offshoot_a2a::{A2aClient, A2aClientOptions, A2aReach, A2aState};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::bench::{Bench, TOKEN, options, quick, sent};

/// A proxy with a certificate for localhost, and what trusts it alone.
async fn proxy(to: impl Fn() -> SocketAddr + Send + 'static) -> (u16, Arc<ClientConfig>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate: CertificateDer<'static> = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = || Arc::new(rustls::crypto::ring::default_provider());
    let server = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(server));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, to) = (acceptor.clone(), to());
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut server = TcpStream::connect(to).await.unwrap();
                drop(tokio::io::copy_bidirectional(&mut stream, &mut server).await);
            });
        }
    });
    (port, Arc::new(client))
}

#[tokio::test]
async fn certificates_are_checked() {
    let server: Arc<std::sync::OnceLock<SocketAddr>> = Arc::default();
    let known = Arc::clone(&server);
    let (port, tls) = proxy(move || *known.get().unwrap()).await;
    let mut proxied = options();
    proxied.public_url = Some(format!("https://localhost:{port}"));
    proxied.hosts = vec!["localhost".to_owned()];
    let bench = Bench::with(proxied).await;
    server.set(bench.address).unwrap();
    let url = format!("https://localhost:{port}");
    let trusting = A2aClientOptions { tls: Some(Arc::clone(&tls)), ..quick(TOKEN) };
    let client = A2aClient::connect(&url, trusting.clone()).await.unwrap();
    assert_eq!(sent(&client, "echo").await.status.state, A2aState::Completed);
    // Another name, and another authority.
    let other = format!("https://127.0.0.1:{port}");
    assert!(A2aClient::connect(&other, trusting.clone()).await.is_err());
    let (_, strange) = proxy(|| unreachable!()).await;
    let strange = A2aClientOptions { tls: Some(strange), ..quick(TOKEN) };
    assert!(A2aClient::connect(&url, strange).await.is_err());
    let public = A2aClientOptions { policy: Arc::new(A2aReach::Public), ..trusting };
    assert!(A2aClient::connect(&url, public).await.is_err());
}
