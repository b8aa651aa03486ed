//! Clients of several registries, of which some are down, stale, or hostile.

use std::time::Duration;

use offshoot_registry::{AgentRegistry, AgentRegistryError, RegistryLimits};
use offshoot_transport::{
    FailureBody, MessageKind, NoHandler, PeerBody, PeerClient, PeerConnection, PeerHandler,
    PeerListener, PeerListenerOptions, PeerMessage, PeerToken, TokenTable,
};

use crate::fixture::{SOON, card, client, client_within, name, peer, serve, until};

fn memory() -> AgentRegistry {
    let lease = Duration::from_secs(2);
    AgentRegistry::in_memory(RegistryLimits { lease, ..RegistryLimits::default() })
}

#[tokio::test]
async fn an_agent_registers_with_all_and_leaves_all() {
    let (one, two) = (memory(), memory());
    let (first, second) = (serve(&one, 0).await, serve(&two, 0).await);
    let alpha = client("alpha", &[first.address().port, second.address().port]);
    alpha.register(card("alpha", &["plan"]));
    until("two registrations", || alpha.status().iter().all(|it| it.registered)).await;
    let beta = client("beta", &[first.address().port, second.address().port]);
    let found = beta.discover("plan").await.unwrap();
    assert!(found.is_whole(), "{found:?}");
    assert_eq!((found.agents.len(), found.agents[0].registries.len()), (1, 2));
    assert!(beta.discover("nothing").await.unwrap().agents.is_empty());
    // Heartbeats keep it there, beyond its lease.
    tokio::time::sleep(Duration::from_millis(2300)).await;
    assert_eq!((one.len(), two.len()), (1, 1));
    assert!(alpha.leave().await.is_empty());
    assert_eq!((one.len(), two.len()), (0, 0));
}

#[tokio::test]
async fn what_is_down_or_stale_is_told() {
    let (one, two) = (memory(), memory());
    let (first, second) = (serve(&one, 0).await, serve(&two, 0).await);
    let time = Duration::from_millis(1500);
    let ports = [first.address().port, second.address().port];
    let alpha = client_within("alpha", &ports, time);
    alpha.register(card("alpha", &["plan"]));
    until("two registrations", || alpha.status().iter().all(|it| it.registered)).await;
    let beta = client_within("beta", &ports, time);
    // The second one has never heard of an agent of the first.
    let gamma = client("gamma", &ports[..1]);
    gamma.register(card("gamma", &["plan"]));
    until("a registration", || gamma.status()[0].registered).await;
    let split = beta.discover("plan").await.unwrap();
    assert_eq!(split.agents.len(), 2);
    let told: Vec<&str> = split.disagreements.iter().map(|it| it.agent_id.as_str()).collect();
    assert_eq!(told, ["gamma"]);
    assert_eq!(split.disagreements[0].cards[1].1, None);
    drop(second);
    let half = beta.discover("plan").await.unwrap();
    assert_eq!((half.agents.len(), half.silent.len()), (2, 1));
    assert!(half.silent[0].registry.ends_with(&ports[1].to_string()) && !half.is_whole());
    until("a failure", || !alpha.status()[1].registered).await;
    assert!(alpha.status()[0].registered && alpha.status()[1].error.is_some());
    // A new one, which knows nobody: the agent comes by itself.
    let three = memory();
    let second = serve(&three, ports[1]).await;
    until("a registration", || alpha.status()[1].registered && three.len() == 1).await;
    drop((first, second));
    let nobody = beta.discover("plan").await.unwrap_err();
    let AgentRegistryError::Silent(silent) = nobody else { panic!("{nobody}") };
    assert_eq!(silent.len(), 2);
    assert_eq!(alpha.leave().await.len(), 2);
}

#[tokio::test]
async fn whoever_is_forgotten_registers_again() {
    let (one, late) = (memory(), std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0)));
    let clock = late.clone();
    let one = one.with_clock(move || clock.load(std::sync::atomic::Ordering::SeqCst));
    let server = serve(&one, 0).await;
    let alpha = client("alpha", &[server.address().port]);
    alpha.register(card("alpha", &["plan"]));
    until("a registration", || one.len() == 1).await;
    // A jump of the clock ends all leases.
    late.store(1_000_000, std::sync::atomic::Ordering::SeqCst);
    until("another one", || one.len() == 1 && alpha.status()[0].registered).await;
}

#[tokio::test]
async fn a_refusal_is_told() {
    let one = memory();
    let server = serve(&one, 0).await;
    let alpha = client("alpha", &[server.address().port]);
    alpha.register(card("beta", &["plan"]));
    until("a refusal", || alpha.status()[0].error.is_some()).await;
    assert!(alpha.status()[0].error.as_ref().unwrap().starts_with("forbidden"));
    assert!(one.is_empty() && !alpha.status()[0].registered);
}

#[tokio::test]
async fn hostile_peers_change_nothing_of_others() {
    let one = memory();
    let server = serve(&one, 0).await;
    let alpha = client("alpha", &[server.address().port]);
    alpha.register(card("alpha", &["plan"]));
    until("a registration", || one.len() == 1).await;
    let evil = PeerClient::connect(peer("beta", server.address().port), NoHandler).await.unwrap();
    let mut last = PeerBody::from("{\"agent_id\":\"alpha\"}");
    last.flags = offshoot_transport::MessageFlags::FINAL;
    let reply = evil.call(MessageKind::AgentHeartbeat, last, SOON).await.unwrap();
    assert!(String::from_utf8_lossy(&reply.payload).contains("forbidden"));
    let stolen = PeerBody::json(&card("alpha", &["plan"])).unwrap();
    evil.call(MessageKind::AgentRegister, stolen, SOON).await.unwrap();
    for number in 0..300 {
        let body = PeerBody::json(&card(&format!("beta/{number}"), &["x"])).unwrap();
        evil.call(MessageKind::AgentRegister, body, SOON).await.unwrap();
    }
    assert_eq!(one.len(), 257, "no more than one name may have");
    for body in ["[", "{}", "null", "{\"capability\":7}"] {
        for kind in [
            MessageKind::AgentRegister,
            MessageKind::AgentHeartbeat,
            MessageKind::AgentDiscover,
            MessageKind::Call,
        ] {
            evil.call(kind, body, SOON).await.unwrap_err();
        }
    }
    let long = vec![b' '; 100_000];
    assert!(evil.call(MessageKind::AgentRegister, long, SOON).await.is_err());
    evil.send("an event", true).await.unwrap_err();
    evil.open_stream("a stream").await.unwrap_err();
    let found = alpha.discover("plan").await.unwrap();
    assert_eq!(found.agents.len(), 1);
    assert_eq!(found.agents[0].card, card("alpha", &["plan"]));
}

/// A registry that answers what it likes.
struct Liar(&'static str);

impl PeerHandler for Liar {
    async fn call(&self, _: &PeerConnection, _: PeerMessage) -> Result<PeerBody, FailureBody> {
        Ok(self.0.into())
    }
}

#[tokio::test]
async fn a_hostile_registry_is_told_from_one_that_answers() {
    let one = memory();
    let server = serve(&one, 0).await;
    for answer in ["", "[]", "{\"capability\":\"plan\",\"agents\":[{}],\"count\":1}"] {
        let mut options = PeerListenerOptions::new("tcp://127.0.0.1:0".parse().unwrap());
        options.allow_plain = true;
        let mut tokens = TokenTable::default();
        tokens.insert(name("alpha"), PeerToken::new(b"a token of the tests").unwrap());
        options.tokens = tokens;
        let liar = PeerListener::bind(options).await.unwrap().serve(Liar(answer));
        let alpha = client("alpha", &[liar.address().port, server.address().port]);
        let found = alpha.discover("plan").await.unwrap();
        assert_eq!((found.silent.len(), found.agents.len()), (1, 0), "{answer}");
    }
}
