//! Cards, registries and clients.

use std::time::{Duration, Instant};

use offshoot_registry::{AgentCard, AgentRegistry, RegistryClient, RegistryClientOptions};
use offshoot_transport::{
    PeerClientOptions, PeerListener, PeerListenerOptions, PeerName, PeerServer, PeerToken,
    TokenTable,
};

pub(crate) const SOON: Duration = Duration::from_secs(20);
const TOKEN: &[u8] = b"a token of the tests";

pub(crate) fn name(text: &str) -> PeerName {
    PeerName::parse(text).unwrap()
}

pub(crate) fn card(id: &str, capabilities: &[&str]) -> AgentCard {
    AgentCard {
        id: id.to_owned(),
        name: format!("The agent {id}"),
        capabilities: capabilities.iter().map(|it| (*it).to_owned()).collect(),
        address: "tls://agent.example:7000".to_owned(),
        metadata: Default::default(),
    }
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < SOON, "{what} did not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Serves a registry; on a port that was taken before, or any.
pub(crate) async fn serve(registry: &AgentRegistry, port: u16) -> PeerServer {
    let address = format!("tcp://127.0.0.1:{port}").parse().unwrap();
    let mut options = PeerListenerOptions::new(address);
    options.allow_plain = true;
    options.limits = registry.peer_limits();
    let mut tokens = TokenTable::default();
    for each in ["alpha", "beta", "gamma"] {
        tokens.insert(name(each), PeerToken::new(TOKEN).unwrap());
    }
    options.tokens = tokens;
    let began = Instant::now();
    loop {
        match PeerListener::bind(options.clone()).await {
            Ok(listener) => return listener.serve(registry.clone()),
            // The one before may not have let go of the port.
            Err(error) => assert!(began.elapsed() < SOON, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) fn peer(who: &str, port: u16) -> PeerClientOptions {
    let address = format!("tcp://127.0.0.1:{port}").parse().unwrap();
    let mut options = PeerClientOptions::new(address);
    options.allow_plain = true;
    options.token = Some((name(who), PeerToken::new(TOKEN).unwrap()));
    options.backoff = (Duration::from_millis(5), Duration::from_millis(20));
    options.seed = Some(7);
    options
}

pub(crate) fn client(who: &str, ports: &[u16]) -> RegistryClient {
    client_within(who, ports, Duration::from_secs(10))
}

/// Whoever is not there is waited for so long.
pub(crate) fn client_within(who: &str, ports: &[u16], time: Duration) -> RegistryClient {
    let registries = ports.iter().map(|port| peer(who, *port)).collect();
    let mut options = RegistryClientOptions::new(registries);
    options.heartbeat = Duration::from_millis(50);
    options.call_time = time;
    RegistryClient::start(options).unwrap()
}
