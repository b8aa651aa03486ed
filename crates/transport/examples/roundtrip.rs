//! How fast calls and messages are, beside what carries them. Each figure is a ratio to something measured in the same run.
//!
//! `cargo run --release -p offshoot-transport --example roundtrip`

#![expect(clippy::print_stdout, reason = "figures are for whoever runs it")]
#![expect(clippy::unwrap_used, reason = "without its sockets there is nothing to measure")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use offshoot_mxp::{AgentMessage, OVERHEAD};
use offshoot_transport::{
    CertificateDer, FailureBody, MessageKind, NoHandler, PeerAddress, PeerBody, PeerClient,
    PeerClientOptions, PeerConnection, PeerHandler, PeerIdentity, PeerListener,
    PeerListenerOptions, PeerMessage, PrivateKeyDer,
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The payload of a call.
const PAYLOAD: usize = 64;
/// Calls in one round.
const CALLS: usize = 500;
/// Rounds of each, taking turns.
const ROUNDS: usize = 15;
/// Calls at one time, where many are made.
const MANY: usize = 64;

struct Echo;

impl PeerHandler for Echo {
    async fn call(
        &self,
        _: &PeerConnection,
        request: PeerMessage,
    ) -> Result<PeerBody, FailureBody> {
        Ok(request.payload.into())
    }

    async fn event(&self, _: &PeerConnection, _: PeerMessage) -> Result<(), FailureBody> {
        Ok(())
    }
}

#[derive(Clone)]
struct Certificates {
    authority: CertificateDer<'static>,
    server: PeerIdentity,
    client: PeerIdentity,
}

fn certificates() -> Certificates {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap().der().clone();
    let issuer = Issuer::new(params, key);
    let sign = |name: &str| {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let chain = vec![params.signed_by(&key, &issuer).unwrap().der().clone()];
        PeerIdentity { chain, key: PrivateKeyDer::Pkcs8(key.serialize_der().into()) }
    };
    Certificates { authority, server: sign("localhost"), client: sign("asks") }
}

/// Both configurations of a bare echo, with the same algorithms and certificates.
fn bare_tls(certificates: &Certificates) -> (Arc<rustls::ServerConfig>, Arc<rustls::ClientConfig>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = &[&rustls::version::TLS13];
    let server = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificates.server.chain.clone(), certificates.server.key.clone_key());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificates.authority.clone()).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let (mut server, mut client) = (server.unwrap(), client);
    server.alpn_protocols = vec![b"echo".to_vec()];
    client.alpn_protocols = vec![b"echo".to_vec()];
    (Arc::new(server), Arc::new(client))
}

/// A server on a thread of its own; gives its port.
fn on_thread<F: Future<Output = ()>>(
    serve: impl FnOnce(std::sync::mpsc::Sender<u16>) -> F + Send + 'static,
) -> u16 {
    let (tell, port) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(serve(tell));
    });
    port.recv().unwrap()
}

async fn echo(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut bytes = [0; PAYLOAD + OVERHEAD];
    while stream.read_exact(&mut bytes).await.is_ok() {
        stream.write_all(&bytes).await.unwrap();
        stream.flush().await.unwrap();
    }
}

async fn bare_rounds(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Duration {
    let mut bytes = [7; PAYLOAD + OVERHEAD];
    let began = Instant::now();
    for _ in 0..CALLS {
        stream.write_all(&bytes).await.unwrap();
        stream.flush().await.unwrap();
        stream.read_exact(&mut bytes).await.unwrap();
    }
    began.elapsed()
}

async fn call_rounds(client: &PeerClient) -> Duration {
    let payload = Bytes::from_static(&[7; PAYLOAD]);
    let began = Instant::now();
    for _ in 0..CALLS {
        let time = Duration::from_secs(10);
        black_box(client.call(MessageKind::Call, payload.clone(), time).await.unwrap());
    }
    began.elapsed()
}

async fn peers(scheme: &'static str, certificates: &Certificates) -> PeerClient {
    let address: PeerAddress = format!("{scheme}://localhost:0").parse().unwrap();
    let mut options = PeerListenerOptions::new(address.clone());
    options.identity = Some(certificates.server.clone());
    options.trust.authorities.push(certificates.authority.clone());
    let port = on_thread(move |tell| async move {
        let server = PeerListener::bind(options).await.unwrap().serve(Echo);
        tell.send(server.address().port).unwrap();
        std::future::pending().await
    });
    let mut options = PeerClientOptions::new(PeerAddress { port, ..address });
    options.identity = Some(certificates.client.clone());
    options.trust.authorities.push(certificates.authority.clone());
    PeerClient::connect(options, NoHandler).await.unwrap()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

async fn compare(way: &str, bare: &mut (impl AsyncRead + AsyncWrite + Unpin), client: &PeerClient) {
    let (mut bare_times, mut call_times) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (bare_time, call_time) = (bare_rounds(bare).await, call_rounds(client).await);
        // The first round warms up.
        if round > 0 {
            bare_times.push(bare_time / CALLS as u32);
            call_times.push(call_time / CALLS as u32);
        }
    }
    let (bare_time, call_time) = (median(bare_times), median(call_times));
    let ratio = call_time.as_secs_f64() / bare_time.as_secs_f64();
    println!("{way}: a call {call_time:.1?}, a bare echo {bare_time:.1?}, ratio {ratio:.2}");
    let total = 40 * CALLS;
    let began = Instant::now();
    let callers = (0..MANY).map(|_| async {
        let payload = Bytes::from_static(&[7; PAYLOAD]);
        for _ in 0..total / MANY {
            let time = Duration::from_secs(10);
            client.call(MessageKind::Call, payload.clone(), time).await.unwrap();
        }
    });
    futures::future::join_all(callers).await;
    let calls = (total / MANY * MANY) as f64 / began.elapsed().as_secs_f64();
    println!(
        "{way}: {calls:.0} calls a second, {MANY} at a time; {:.1} x one at a time",
        calls * call_time.as_secs_f64()
    );
    let began = Instant::now();
    let senders = (0..MANY).map(|_| async {
        for _ in 0..total / MANY {
            client.send(Bytes::from_static(&[7; PAYLOAD]), true).await.unwrap();
        }
    });
    futures::future::join_all(senders).await;
    let events = (total / MANY * MANY) as f64 / began.elapsed().as_secs_f64();
    println!("{way}: {events:.0} acknowledged events a second, {MANY} at a time");
}

async fn over_tls(certificates: &Certificates) {
    let (server, client) = bare_tls(certificates);
    let port = on_thread(move |tell| async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        tell.send(listener.local_addr().unwrap().port()).unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        echo(tokio_rustls::TlsAcceptor::from(server).accept(stream).await.unwrap()).await;
    });
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let connector = tokio_rustls::TlsConnector::from(client);
    let mut bare = connector.connect(name, stream).await.unwrap();
    compare("tls", &mut bare, &peers("tls", certificates).await).await;
}

#[cfg(feature = "quic")]
async fn over_quic(certificates: &Certificates) {
    use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
    let (server, client) = bare_tls(certificates);
    let port = on_thread(move |tell| async move {
        let crypto = Arc::new(QuicServerConfig::try_from(server).unwrap());
        let config = quinn::ServerConfig::with_crypto(crypto);
        let any = ([127, 0, 0, 1], 0).into();
        let endpoint = quinn::Endpoint::server(config, any).unwrap();
        tell.send(endpoint.local_addr().unwrap().port()).unwrap();
        let connection = endpoint.accept().await.unwrap().await.unwrap();
        let (send, receive) = connection.accept_bi().await.unwrap();
        echo(tokio::io::join(receive, send)).await;
    });
    let endpoint = quinn::Endpoint::client(([127, 0, 0, 1], 0).into()).unwrap();
    let crypto = Arc::new(QuicClientConfig::try_from(client).unwrap());
    let config = quinn::ClientConfig::new(crypto);
    let place = ([127, 0, 0, 1], port).into();
    let connection = endpoint.connect_with(config, place, "localhost").unwrap().await.unwrap();
    let (send, receive) = connection.open_bi().await.unwrap();
    let mut bare = tokio::io::join(receive, send);
    compare("quic", &mut bare, &peers("quic", certificates).await).await;
}

/// Writing and reading a message, beside copying its payload.
fn codec() {
    for length in [1 << 10, 64 << 10, 1 << 20] {
        let payload = vec![7; length];
        let times = (256 << 20) / length;
        let rate = |began: Instant| (length * times) as f64 / began.elapsed().as_secs_f64() / 1e9;
        let mut rates = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..5 {
            let began = Instant::now();
            for _ in 0..times {
                let mut copy = BytesMut::with_capacity(length);
                copy.extend_from_slice(black_box(&payload));
                black_box(copy.freeze());
            }
            rates[0].push(rate(began));
            let began = Instant::now();
            for _ in 0..times {
                let message = AgentMessage::new(MessageKind::Call, 1, 2, black_box(&payload));
                black_box(message.to_bytes().unwrap());
            }
            rates[1].push(rate(began));
            let message = AgentMessage::new(MessageKind::Call, 1, 2, &payload).to_bytes().unwrap();
            let began = Instant::now();
            for _ in 0..times {
                black_box(AgentMessage::parse(black_box(&message)).unwrap());
            }
            rates[2].push(rate(began));
        }
        let [copied, written, read] = rates.map(|mut rates: Vec<f64>| {
            rates.sort_by(f64::total_cmp);
            rates[2]
        });
        println!(
            "codec, {length} bytes: writing {written:.1} GB/s ({:.2} x a copy), reading {read:.1} GB/s ({:.2} x a copy of {copied:.1} GB/s)",
            written / copied,
            read / copied,
        );
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let certificates = certificates();
    codec();
    runtime.block_on(over_tls(&certificates));
    #[cfg(feature = "quic")]
    runtime.block_on(over_quic(&certificates));
}
