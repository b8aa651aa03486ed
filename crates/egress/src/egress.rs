//! The proxy itself: sockets in, a report out.

use std::fmt;
use std::io;
use std::net;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};

use crate::credentials::Credentials;
use crate::dns;
use crate::error::EgressError;
use crate::host::Host;
use crate::http::{Mode, Session};
use crate::limits::EgressLimits;
use crate::lookup::{NameLookup, SystemLookup};
use crate::made_up::MadeUp;
use crate::opaque::{self, Way};
use crate::ranges::Cidr;
use crate::record::{ConnectionListener, EgressReport, Ledger, Route};
use crate::rules::NetRules;
use crate::socks;
use crate::state::State;
use crate::tls::{Client, Inspection};
use crate::walls::EgressWalls;
use crate::wire::Duplex;

/// How many names are looked up at once.
const LOOKUPS: usize = 16;

/// Sockets in the network namespace of a command. Whoever holds them accepts from outside.
#[derive(Debug, Default)]
pub struct EgressSockets {
    /// For clients that know proxies: HTTP and SOCKS5 at one port.
    pub proxy: Option<net::TcpListener>,
    /// For clients that know none: one at each of the [ports](NetRules::ports), where every address is local. The address
    /// that a client connected to is the server that it means.
    pub direct: Vec<net::TcpListener>,
    /// For questions to the name server.
    pub names: Option<net::UdpSocket>,
    /// The same by TCP.
    pub names_tcp: Option<net::TcpListener>,
}

/// What a proxy is to do.
#[derive(Clone)]
pub struct EgressOptions {
    /// What is allowed.
    pub rules: NetRules,
    /// What is added to requests.
    pub credentials: Credentials,
    /// What it may cost.
    pub limits: EgressLimits,
    /// Whose TLS is looked into, by a certificate authority that the command is made to trust.
    pub inspect: Option<Arc<Inspection>>,
    /// The certificates (DER) that servers are checked against where the proxy speaks TLS with them; those of the system if
    /// none are given.
    pub roots: Option<Vec<Vec<u8>>>,
    /// The checks beside the allow-list.
    pub walls: EgressWalls,
    /// How names are resolved.
    pub lookup: Arc<dyn NameLookup>,
    /// Where made-up addresses are taken from: a range of IPv4 that leads to the `direct` sockets. 198.18.0.0/15 if nothing
    /// else is said.
    pub made_up: Cidr,
    /// Told of each connection when it ends.
    pub listener: Option<ConnectionListener>,
}

impl EgressOptions {
    /// Rules, and for all else what is usual.
    pub fn new(rules: NetRules) -> Self {
        Self {
            rules,
            credentials: Credentials::default(),
            limits: EgressLimits::default(),
            inspect: None,
            roots: None,
            walls: EgressWalls::default(),
            lookup: Arc::new(SystemLookup),
            made_up: Cidr::BENCHMARKS,
            listener: None,
        }
    }
}

impl fmt::Debug for EgressOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EgressOptions")
            .field("rules", &self.rules)
            .field("credentials", &self.credentials)
            .field("limits", &self.limits)
            .field("inspect", &self.inspect)
            .field("walls", &self.walls)
            .finish_non_exhaustive()
    }
}

/// A proxy that runs, on a thread of its own.
///
/// ```
/// use std::net::TcpListener;
///
/// use offshoot_egress::{Egress, EgressOptions, EgressSockets, NetRules};
///
/// let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
/// let sockets = EgressSockets { proxy: Some(proxy), ..EgressSockets::default() };
/// let rules = NetRules::parse("registries,github").unwrap();
/// let egress = Egress::start(sockets, EgressOptions::new(rules)).unwrap();
/// let report = egress.finish();
/// assert!(report.connections.is_empty());
/// ```
pub struct Egress {
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Egress {
    /// Starts to serve the sockets. When this returns, connections are accepted.
    pub fn start(sockets: EgressSockets, options: EgressOptions) -> Result<Self, EgressError> {
        let state = Arc::new(state(options, false)?);
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(LOOKUPS)
            .thread_name("egress-lookup")
            .build()
            .map_err(EgressError::Runtime)?;
        spawn_all(&runtime, sockets, &state)?;
        let (stop, stopped) = oneshot::channel::<()>();
        let run = move || {
            // Whether it was asked to stop or nobody is left to ask makes no difference.
            drop(runtime.block_on(stopped));
            // All connections end here. A name that is still looked up is nobody's any more.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("egress".to_owned()).spawn(run);
        let thread = thread.map_err(EgressError::Runtime)?;
        Ok(Self { state, stop: Some(stop), thread: Some(thread) })
    }

    /// What happened so far.
    pub fn report(&self) -> EgressReport {
        self.state.ledger.report()
    }

    /// Ends all connections and says what happened.
    pub fn finish(mut self) -> EgressReport {
        self.end();
        self.report()
    }

    fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has ended as well; what it recorded is there.
            drop(thread.join());
        }
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress").field("rules", &self.state.rules).finish_non_exhaustive()
    }
}

/// What connections share; `speaks_tls` where TLS is spoken with servers whatever the rules say.
pub(crate) fn state(options: EgressOptions, speaks_tls: bool) -> Result<State, EgressError> {
    let EgressOptions { rules, credentials, limits, inspect, walls, lookup, listener, .. } =
        options;
    let speaks_tls = speaks_tls || inspect.is_some() || rules.iter().any(|rule| rule.upgrade);
    let client = speaks_tls.then(|| Client::new(options.roots.as_deref())).transpose()?;
    let ledger = Ledger::new(limits.recorded, listener);
    let made_up = MadeUp::new(options.made_up, limits.names);
    Ok(State { rules, credentials, limits, ledger, made_up, lookup, walls, inspect, client })
}

fn spawn_all(
    runtime: &Runtime,
    sockets: EgressSockets,
    state: &Arc<State>,
) -> Result<(), EgressError> {
    let _inside = runtime.enter();
    let listener = |socket: net::TcpListener, what| {
        let usable = || -> io::Result<TcpListener> {
            socket.set_nonblocking(true)?;
            TcpListener::from_std(socket)
        };
        usable().map_err(|error| EgressError::Socket { what, error })
    };
    let room = Arc::new(Semaphore::new(state.limits.connections));
    if let Some(socket) = sockets.proxy {
        let socket = listener(socket, "socket")?;
        runtime.spawn(accept(socket, Arc::clone(state), Arc::clone(&room), serve_proxy));
    }
    for socket in sockets.direct {
        let socket = listener(socket, "socket of a port")?;
        runtime.spawn(accept(socket, Arc::clone(state), Arc::clone(&room), serve_direct));
    }
    if let Some(socket) = sockets.names_tcp {
        let socket = listener(socket, "socket for names by TCP")?;
        runtime.spawn(dns::serve_connections(socket, Arc::clone(state)));
    }
    if let Some(socket) = sockets.names {
        let usable = || -> io::Result<UdpSocket> {
            socket.set_nonblocking(true)?;
            UdpSocket::from_std(socket)
        };
        let what = "socket for names";
        let socket = usable().map_err(|error| EgressError::Socket { what, error })?;
        runtime.spawn(dns::serve_packets(socket, Arc::clone(state)));
    }
    Ok(())
}

/// Accepts connections while there is room; those beyond wait in the backlog.
async fn accept<F>(
    listener: TcpListener,
    state: Arc<State>,
    room: Arc<Semaphore>,
    serve: fn(Arc<State>, TcpStream) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        let Ok((client, _)) = listener.accept().await else {
            // Mostly too many open files: some will be closed.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            // Small messages wait for nothing; without it they are only slower.
            drop(client.set_nodelay(true));
            serve(state, client).await;
            drop(place);
        });
    }
}

/// A client that knows proxies; its first byte says which kind.
async fn serve_proxy(state: Arc<State>, client: TcpStream) {
    let mut client = Duplex::from(client);
    match client.read.fill_within(state.limits.head_time).await {
        Ok(true) => {}
        Ok(false) | Err(_) => return,
    }
    if client.read.ahead().first() == Some(&socks::VERSION) {
        return socks::serve(state, client).await;
    }
    let session = Session { state, client, mode: Mode::Proxy, route: Route::Http, dialled: None };
    session.serve().await;
}

/// A client that knows nothing: the address that it connected to is what it means.
async fn serve_direct(state: Arc<State>, client: TcpStream) {
    let Ok(meant) = client.local_addr() else { return };
    let port = meant.port();
    let host = state.meant_at(Host::from(meant.ip()), port);
    let mut record = state.ledger.open(Route::Direct, Some(host.clone()), port);
    match state.dial(&host, port, &mut record).await {
        Ok(server) => {
            let way = Way { host, port, route: Route::Direct };
            opaque::serve(state, Duplex::from(client), server, way, record).await;
        }
        Err(refusal) => record.refuse(refusal),
    }
}
