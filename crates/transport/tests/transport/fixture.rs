//! Certificates, handlers, and a proxy that cuts connections.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use offshoot_transport::{
    CertificateDer, FailureBody, PeerAddress, PeerBody, PeerClientOptions, PeerConnection,
    PeerHandler, PeerIdentity, PeerListenerOptions, PeerMessage, PeerName, PeerStream, PeerToken,
    PrivateKeyDer, TokenTable,
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const SOON: Duration = Duration::from_secs(20);

pub(crate) fn name(text: &str) -> PeerName {
    PeerName::parse(text).unwrap()
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < SOON, "{what} did not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// An authority that signs for peers.
pub(crate) struct Authority {
    pub(crate) certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    pub(crate) fn sign(&self, names: &[&str]) -> PeerIdentity {
        self.sign_until(names, 2100)
    }

    pub(crate) fn sign_until(&self, names: &[&str], year: i32) -> PeerIdentity {
        let (params, key) = (params(names, year), KeyPair::generate().unwrap());
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        identity(certificate.der().clone(), &key)
    }
}

/// A certificate that nobody else signed.
pub(crate) fn alone(names: &[&str], year: i32) -> PeerIdentity {
    let key = KeyPair::generate().unwrap();
    let certificate = params(names, year).self_signed(&key).unwrap();
    identity(certificate.der().clone(), &key)
}

fn params(names: &[&str], year: i32) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = date_time_ymd(year, 1, 1);
    params
}

fn identity(certificate: CertificateDer<'static>, key: &KeyPair) -> PeerIdentity {
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    PeerIdentity { chain: vec![certificate], key }
}

pub(crate) const TOKEN: &[u8] = b"a token of the tests";

pub(crate) fn tokens(names: &[&str]) -> TokenTable {
    let mut tokens = TokenTable::default();
    for each in names {
        tokens.insert(name(each), PeerToken::new(TOKEN).unwrap());
    }
    tokens
}

/// A listener and a client that trust each other by certificates of one authority.
pub(crate) fn certified(scheme: &str) -> (PeerListenerOptions, PeerClientOptions) {
    let authority = Authority::new();
    let address: PeerAddress = format!("{scheme}://localhost:0").parse().unwrap();
    let mut listener = PeerListenerOptions::new(address.clone());
    listener.identity = Some(authority.sign(&["localhost"]));
    listener.trust.authorities.push(authority.certificate.clone());
    let mut client = PeerClientOptions::new(address);
    client.identity = Some(authority.sign(&["alpha"]));
    client.trust.authorities.push(authority.certificate);
    quick(&mut client);
    (listener, client)
}

/// A listener and a client on plain TCP, with a token.
pub(crate) fn plain() -> (PeerListenerOptions, PeerClientOptions) {
    let address: PeerAddress = "tcp://127.0.0.1:0".parse().unwrap();
    let mut listener = PeerListenerOptions::new(address.clone());
    (listener.allow_plain, listener.tokens) = (true, tokens(&["alpha", "beta"]));
    let mut client = PeerClientOptions::new(address);
    client.allow_plain = true;
    client.token = Some((name("alpha"), PeerToken::new(TOKEN).unwrap()));
    quick(&mut client);
    (listener, client)
}

fn quick(client: &mut PeerClientOptions) {
    client.backoff = (Duration::from_millis(5), Duration::from_millis(20));
    client.seed = Some(7);
}

/// Counts, answers and echoes.
#[derive(Clone, Default)]
pub(crate) struct Bench {
    pub(crate) events: Arc<Mutex<Vec<String>>>,
    pub(crate) calls: Arc<AtomicUsize>,
    pub(crate) dropped: Arc<AtomicUsize>,
    pub(crate) hold: Arc<tokio::sync::Notify>,
}

impl Bench {
    pub(crate) fn events(&self) -> Vec<String> {
        self.events.lock().unwrap().clone()
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    pub(crate) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }
}

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn failed(code: &str) -> FailureBody {
    FailureBody { error: "as asked".to_owned(), code: code.to_owned() }
}

impl PeerHandler for Bench {
    async fn call(
        &self,
        peer: &PeerConnection,
        request: PeerMessage,
    ) -> Result<PeerBody, FailureBody> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        match &request.payload[..] {
            b"who" => Ok(peer.name().unwrap().as_str().as_bytes().to_vec().into()),
            b"fail" => Err(failed("odd")),
            b"panic" => panic!("a handler that panics, on purpose"),
            b"hold" => {
                let _dropped = Dropped(self.dropped.clone());
                std::future::pending().await
            }
            b"wait" => {
                self.hold.notified().await;
                Ok("waited".into())
            }
            b"back" => {
                let kind = offshoot_transport::MessageKind::Call;
                let answer = peer.call(kind, "who", SOON).await.map_err(|_| failed("back"))?;
                Ok(answer.payload.into())
            }
            _ => Ok(request.payload.into()),
        }
    }

    async fn event(&self, _: &PeerConnection, event: PeerMessage) -> Result<(), FailureBody> {
        let text = String::from_utf8(event.payload.to_vec()).unwrap();
        if text == "hold" {
            self.hold.notified().await;
        }
        self.events.lock().unwrap().push(text.clone());
        if text == "fail" { Err(failed("odd")) } else { Ok(()) }
    }

    async fn stream(
        &self,
        _: &PeerConnection,
        open: PeerMessage,
        mut stream: PeerStream,
    ) -> Result<(), FailureBody> {
        match &open.payload[..] {
            b"fail" => return Err(failed("odd")),
            b"hold" => self.hold.notified().await,
            b"pour" => {
                while stream.write(vec![7; 10_000]).await.is_ok() {}
                return Ok(());
            }
            _ => {}
        }
        while let Some(piece) = stream.read().await.map_err(|_| failed("read"))? {
            stream.write(piece).await.map_err(|_| failed("write"))?;
        }
        stream.finish().await.map_err(|_| failed("finish"))
    }
}

/// Stands between client and server, and cuts what goes through it.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    lines: Arc<Mutex<Vec<tokio::task::JoinHandle<()>>>>,
    accepting: tokio::task::JoinHandle<()>,
}

impl Proxy {
    /// Each connection is cut after so many bytes of the client, if that is not zero.
    pub(crate) async fn start_slow(to: u16, bytes: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let lines: Arc<Mutex<Vec<tokio::task::JoinHandle<()>>>> = Arc::default();
        let kept = lines.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((from, _)) = listener.accept().await {
                let line = tokio::spawn(async move {
                    let Ok(to) = TcpStream::connect(("127.0.0.1", to)).await else { return };
                    let (mut from_read, mut from_write) = from.into_split();
                    let (mut to_read, mut to_write) = to.into_split();
                    let back = tokio::io::copy(&mut to_read, &mut from_write);
                    let most = if bytes == 0 { u64::MAX } else { bytes };
                    let mut limited = tokio::io::AsyncReadExt::take(&mut from_read, most);
                    let there = tokio::io::copy(&mut limited, &mut to_write);
                    tokio::select! { _ = back => {}, _ = there => {} }
                });
                kept.lock().unwrap().push(line);
            }
        });
        Self { port, lines, accepting }
    }

    /// Cuts all connections that there are.
    pub(crate) fn cut(&self) {
        for line in self.lines.lock().unwrap().drain(..) {
            line.abort();
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}
